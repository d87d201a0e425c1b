//! Each round moves on by one block, so blocks redo each other's elements.
//!
//! fails: race: by the number of its threads

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements.
#[kernel]
pub unsafe fn scale(x: *mut f32, factor: f32, n: u32) {
    let mut i = thread::index_1d();
    while i < n {
        *x.add(i as usize) *= factor;
        i += thread::block_dim_x();
    }
}
