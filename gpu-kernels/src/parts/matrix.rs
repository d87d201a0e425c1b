//! Elements of row-major matrices.

/// Index of element `(row, column)` of a matrix whose rows are `n_columns` long.
#[inline(always)]
pub const fn element(row: u32, column: u32, n_columns: u32) -> usize {
    (row * n_columns + column) as usize
}

/// Element `(row, column)` of a matrix, or 0 where it has none.
///
/// # Safety
///
/// `matrix` holds `n_rows * n_columns` elements.
#[inline(always)]
pub unsafe fn load_or_zero(
    matrix: *const f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
) -> f32 {
    if row < n_rows && column < n_columns {
        *matrix.add(element(row, column, n_columns))
    } else {
        0.0
    }
}
