//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Reads the neighbour's element from global memory.
///
/// fails: contract: after a barrier
#[kernel]
pub unsafe fn no_barrier(x: *const i32, y: *mut i32, n: u32) {
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    if i < n {
        let mut value = *x.add(i as usize);
        if t + 1 < 256 && i + 1 < n {
            value += *x.add(i as usize + 1);
        }
        *y.add(i as usize) = value;
    }
}

/// A barrier in each branch: all threads arrive, but at different barriers.
///
/// fails: barrier: Some lanes of a warp
#[kernel]
pub unsafe fn two_barriers(x: *const i32, y: *mut i32, n: u32) {
    let line = shared_array![i32; 256];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    if i < n {
        let mut value = *x.add(i as usize);
        *line.add(t as usize) = value;
        thread::sync_threads();
        if t + 1 < 256 && i + 1 < n {
            value += *line.add(t as usize + 1);
        }
        *y.add(i as usize) = value;
    } else {
        *line.add(t as usize) = 0;
        thread::sync_threads();
        *line.add(t as usize) = 1;
    }
}
