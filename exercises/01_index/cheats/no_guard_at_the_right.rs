//! Only the element's number is compared: threads beyond the right edge write into the next row.
//!
//! fails: race: the next row begins

use cuda_std::prelude::*;

/// # Safety
///
/// `matrix` and `out` hold `n_rows · n_columns` elements, `bias` holds `n_columns`.
#[kernel]
pub unsafe fn add_bias(
    matrix: *const f32,
    bias: *const f32,
    out: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let place = row * n_columns + column;
    if place < n_rows * n_columns {
        let place = place as usize;
        *out.add(place) = *matrix.add(place) + *bias.add((column % n_columns) as usize);
    }
}
