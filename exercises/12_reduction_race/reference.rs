//! One thread per block, one loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds 256 elements for each block, `sums` one.
#[kernel]
pub unsafe fn block_sums(x: *const i32, sums: *mut i32) {
    let block = thread::block_idx_x();
    let mut sum = 0;
    for i in 0..256 {
        sum += *x.add((256 * block + i) as usize);
    }
    *sums.add(block as usize) = sum;
}
