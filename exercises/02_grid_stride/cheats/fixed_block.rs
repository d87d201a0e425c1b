//! Each round assumes blocks of one size, which not all launches have.
//!
//! fails: race: as many as this launch has

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements.
#[kernel]
pub unsafe fn scale(x: *mut f32, factor: f32, n: u32) {
    let n_threads = thread::grid_dim_x() * 64;
    let mut i = thread::index_1d();
    while i < n {
        *x.add(i as usize) *= factor;
        i += n_threads;
    }
}
