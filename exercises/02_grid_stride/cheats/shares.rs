//! Each thread has a contiguous share: correct, but the lanes are far apart.
//!
//! fails: count: a share apart

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements.
#[kernel]
pub unsafe fn scale(x: *mut f32, factor: f32, n: u32) {
    let n_threads = thread::grid_dim_x() * thread::block_dim_x();
    let share = n.div_ceil(n_threads);
    let first = thread::index_1d() * share;
    let mut i = first;
    while i < n && i < first + share {
        *x.add(i as usize) *= factor;
        i += 1;
    }
}
