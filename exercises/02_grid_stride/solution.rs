//! A grid-stride loop.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements.
#[kernel]
pub unsafe fn scale(x: *mut f32, factor: f32, n: u32) {
    let n_threads = thread::grid_dim_x() * thread::block_dim_x();
    let mut i = thread::index_1d();
    while i < n {
        *x.add(i as usize) *= factor;
        i += n_threads;
    }
}
