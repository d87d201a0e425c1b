//! One thread does everything.
//!
//! fails: count: none needs a loop

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
    if thread::first() {
        for row in 0..n_rows {
            for column in 0..n_columns {
                let place = (row * n_columns + column) as usize;
                *out.add(place) = *matrix.add(place) + *bias.add(column as usize);
            }
        }
    }
}
