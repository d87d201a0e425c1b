//! Volatile accesses instead of the barrier: no race, but no order either.
//!
//! fails: result: They order nothing between threads

use cuda_std::prelude::*;

/// Threads per block, and elements that a block adds up.
const BLOCK: u32 = 256;

/// # Safety
///
/// `x` holds 256 elements for each block, `sums` one.
#[kernel]
pub unsafe fn block_sums(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; BLOCK as usize];
    let t = thread::thread_idx_x();
    let own = line.add(t as usize);
    *own = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    let mut stride = BLOCK / 2;
    while stride > 0 {
        if t < stride {
            let other = own.add(stride as usize).read_volatile();
            own.write_volatile(own.read_volatile() + other);
        }
        stride /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = *own;
    }
}
