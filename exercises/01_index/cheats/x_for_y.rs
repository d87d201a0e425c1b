//! x and y have changed places.
//!
//! fails: result: Which of x and y counts the columns

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
    let row = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let column = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    if row < n_rows && column < n_columns {
        let place = (row * n_columns + column) as usize;
        *out.add(place) = *matrix.add(place) + *bias.add(column as usize);
    }
}
