//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Each round moves on by one block, so blocks redo each other's elements.
///
/// fails: race: by the number of its threads
#[kernel]
pub unsafe fn block_stride(x: *mut f32, factor: f32, n: u32) {
    let mut i = thread::index_1d();
    while i < n {
        *x.add(i as usize) *= factor;
        i += thread::block_dim_x();
    }
}

/// Each round assumes blocks of one size, which not all launches have.
///
/// fails: race: as many as this launch has
#[kernel]
pub unsafe fn fixed_block(x: *mut f32, factor: f32, n: u32) {
    let n_threads = thread::grid_dim_x() * 64;
    let mut i = thread::index_1d();
    while i < n {
        *x.add(i as usize) *= factor;
        i += n_threads;
    }
}

/// Each round moves on by a fixed number of threads, which is right for some launches only.
///
/// fails: race: as many as this launch has
#[kernel]
pub unsafe fn fixed_step(x: *mut f32, factor: f32, n: u32) {
    let mut i = thread::index_1d();
    while i < n {
        *x.add(i as usize) *= factor;
        i += 256;
    }
}

/// Each thread has a contiguous share: correct, but the lanes are far apart.
///
/// fails: count: a share apart
#[kernel]
pub unsafe fn shares(x: *mut f32, factor: f32, n: u32) {
    let n_threads = thread::grid_dim_x() * thread::block_dim_x();
    let share = n.div_ceil(n_threads);
    let first = thread::index_1d() * share;
    let mut i = first;
    while i < n && i < first + share {
        *x.add(i as usize) *= factor;
        i += 1;
    }
}
