//! Barriers only while several warps add: a warp alone gets it right in the usual order.
//!
//! fails: race: in the previous round

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds 256 elements for each block, `sums` one.
#[kernel]
pub unsafe fn block_sums(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; 256];
    let t = thread::thread_idx_x();
    let own = line.add(t as usize);
    *own = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    let mut stride = 128;
    while stride > 0 {
        if t < stride {
            *own += *own.add(stride as usize);
        }
        if stride > 16 {
            thread::sync_threads();
        }
        stride /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = *own;
    }
}
