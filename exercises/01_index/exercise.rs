//! # Which element is mine?
//!
//! `out[row][column] = matrix[row][column] + bias[column]`, with a thread for each element.
//! The threads come in blocks of 32×8, and enough blocks to cover the matrix:
//!
//! ```text
//!              columns →   0 … 31        32 … 63       64 … 95       96 … 127
//!   rows  0 …  7         block (0, 0)  block (1, 0)  block (2, 0)  block (3, 0)
//!   rows  8 … 15         block (0, 1)  block (1, 1)  …
//! ```
//!
//! The matrix is stored row by row. A thread finds its place by functions: `thread::thread_idx_x()`,
//! `thread::block_idx_x()`, `thread::block_dim_x()`, and the same with `y`.
//!
//! **Predict:** the matrix has 21 rows and 100 columns. Which element does thread (5, 2) of block
//! (3, 1) have? And thread (4, 0) of block (3, 0)?
//!
//! **Change** the two lines marked with an arrow.

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
    let row = 0; // ←
    let column = 0; // ←
    if row < n_rows && column < n_columns {
        let place = (row * n_columns + column) as usize;
        *out.add(place) = *matrix.add(place) + *bias.add(column as usize);
    }
}
