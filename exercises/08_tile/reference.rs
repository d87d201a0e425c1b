//! One thread, two loops.

use cuda_std::prelude::*;

/// # Safety
///
/// `input` holds `n_rows` rows of `n_columns`, `output` `n_columns` rows of `n_rows`.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    for row in 0..n_rows {
        for column in 0..n_columns {
            let value = *input.add((row * n_columns + column) as usize);
            *output.add((column * n_rows + row) as usize) = value;
        }
    }
}
