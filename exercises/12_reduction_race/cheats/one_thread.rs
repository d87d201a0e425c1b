//! Thread 0 adds up the line.
//!
//! fails: count: Eight rounds are enough

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds 256 elements for each block, `sums` one.
#[kernel]
pub unsafe fn block_sums(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; 256];
    let t = thread::thread_idx_x();
    *line.add(t as usize) = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    if t == 0 {
        let mut sum = 0;
        for i in 0..256 {
            sum += core::ptr::read_volatile(line.add(i));
        }
        *sums.add(thread::block_idx_x() as usize) = sum;
    }
}
