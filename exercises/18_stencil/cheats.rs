//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// 256 threads load 256 elements of 262.
///
/// fails: unwritten: who loads the last six
#[kernel]
pub unsafe fn halo_never_loaded(x: *const i32, y: *mut i32, n: u32) {
    let tile = shared_array![i32; 262];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    let from = i.wrapping_sub(3);
    *tile.add(t as usize) = if from < n { *x.add(from as usize) } else { 0 };
    thread::sync_threads();
    if i < n {
        let mut sum = 0;
        for k in 0..7 {
            sum += *tile.add(t as usize + k);
        }
        *y.add(i as usize) = sum;
    }
}

/// Only the block's own elements are loaded; its neighbours' are left out of the sum.
///
/// fails: result: borders between two blocks
#[kernel]
pub unsafe fn no_halo(x: *const i32, y: *mut i32, n: u32) {
    let tile = shared_array![i32; 262];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    *tile.add(t as usize + 3) = if i < n { *x.add(i as usize) } else { 0 };
    if t < 3 {
        *tile.add(t as usize) = 0;
        *tile.add(t as usize + 259) = 0;
    }
    thread::sync_threads();
    if i < n {
        let mut sum = 0;
        for k in 0..7 {
            sum += *tile.add(t as usize + k);
        }
        *y.add(i as usize) = sum;
    }
}
