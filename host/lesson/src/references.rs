//! References that go through every element of large inputs. They are in this crate because it is
//! compiled with optimization, and the lessons are not.

use crate::inputs::distinct_at;
use crate::verify::{Mismatch, Tolerance, Verified, compare};
use rayon::prelude::*;

/// The index in the transpose, both matrices row-major, of element `index` of a matrix of
/// `n_columns` rows of `n_rows`.
fn index_in_transpose(index: usize, n_rows: usize, n_columns: usize) -> usize {
    let (column, row) = (index / n_rows, index % n_rows);
    row * n_columns + column
}

/// Compares `got` with the transpose of `n_rows` rows of `n_columns` values, which are those of
/// [`distinct`](crate::inputs::distinct) from number `first` on. Stores neither matrix.
pub fn compare_with_transpose(
    got: &[f32],
    [n_rows, n_columns]: [usize; 2],
    first: usize,
    tolerance: Tolerance,
) -> Result<Verified, Mismatch> {
    let expected = |index| distinct_at(first + index_in_transpose(index, n_rows, n_columns));
    compare(got, expected, tolerance).map_err(|mismatch| mismatch.in_matrix(n_rows))
}

/// `n` times `value`, added one after another in `f32`.
pub fn repeated_sum_f32(value: f32, n: u32) -> f32 {
    (0..n).fold(0.0, |sum, _| sum + value)
}

/// `n` times `value`, added one after another in `f64`.
pub fn repeated_sum_f64(value: f64, n: u32) -> f64 {
    (0..n).fold(0.0, |sum, _| sum + value)
}

/// An exact sum of products, and the sum of their magnitudes, which bounds errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Σ a·b.
    pub value: f64,
    /// Σ |a·b|.
    pub magnitude: f64,
}

impl Sum {
    fn add(&mut self, a: f32, b: f32) {
        // 24 bits times 24 bits: exact.
        let product = f64::from(a) * f64::from(b);
        self.value += product;
        self.magnitude += product.abs();
    }
}

/// The product of a row and a matrix, row-major with `n_columns` columns.
pub fn row_times_matrix(row: &[f32], matrix: &[f32], n_columns: usize) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); n_columns];
    for (&a, b) in row.iter().zip(matrix.chunks_exact(n_columns)) {
        for (sum, &b) in sums.iter_mut().zip(b) {
            sum.add(a, b);
        }
    }
    sums
}

/// The scalar products of a row and each column of a matrix, which are stored one after another.
pub fn row_times_columns(row: &[f32], columns: &[f32]) -> Vec<Sum> {
    let columns = columns.par_chunks_exact(row.len());
    columns.map(|column| dot(row, column)).collect()
}

fn dot(a: &[f32], b: &[f32]) -> Sum {
    let mut sum = Sum::default();
    for (&a, &b) in a.iter().zip(b) {
        sum.add(a, b);
    }
    sum
}

/// The product of a row-major matrix and a vector, as long as its rows.
pub fn matrix_times_vector(matrix: &[f32], vector: &[f64]) -> Vec<f64> {
    let rows = matrix.par_chunks_exact(vector.len());
    rows.map(|row| {
        let products = row.iter().zip(vector).map(|(&e, &v)| f64::from(e) * v);
        products.sum()
    })
    .collect()
}

/// The product of a row, as long as the matrix has rows, and a row-major matrix whose rows are
/// `sums.len()` long, added to `sums`.
pub fn add_row_times_matrix(sums: &mut [f64], row: &[f64], matrix: &[f32]) {
    for (&factor, values) in row.iter().zip(matrix.chunks_exact(sums.len())) {
        for (sum, &value) in sums.iter_mut().zip(values) {
            *sum += f64::from(value) * factor;
        }
    }
}

/// Whether two atoms at a distance of `(dx, dy)` are near, decided to the last bit like
/// kernels that add the squares by one fused operation.
pub fn are_near(dx: f32, dy: f32, cutoff_squared: f32) -> bool {
    // The fused operation is slow unless the compiler knows that the processor has
    // it. Most pairs are far apart and decided without it.
    let roughly = dx * dx + dy * dy;
    if roughly > cutoff_squared * 1.001 {
        return false;
    }
    dx.mul_add(dx, dy * dy) < cutoff_squared
}

/// The atoms from `first` on that are near the atom at `(x, y)`, in ascending order.
pub fn near_ones(
    [xs, ys]: [&[f32]; 2],
    first: usize,
    [x, y]: [f32; 2],
    cutoff_squared: f32,
) -> Vec<u32> {
    let others = (first..).zip(xs[first..].iter().zip(&ys[first..]));
    others
        .filter(|(_, (other_x, other_y))| are_near(*other_x - x, *other_y - y, cutoff_squared))
        .map(|(other, _)| other as u32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        Sum, add_row_times_matrix, are_near, compare_with_transpose, index_in_transpose,
        matrix_times_vector, near_ones, repeated_sum_f32, repeated_sum_f64, row_times_columns,
        row_times_matrix,
    };
    use crate::inputs::distinct;
    use crate::verify::Tolerance;

    #[test]
    fn columns_become_rows() {
        // 2×3 in, 3×2 out: rows (0 1 2), (3 4 5) become (0 3), (1 4), (2 5).
        let turned: Vec<_> = (0..6).map(|i| index_in_transpose(i, 2, 3)).collect();
        assert_eq!(turned, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn a_transpose_passes_and_its_input_does_not() {
        let values = distinct(10);
        let (input, first) = (&values[4..], 4);
        let turned = [0, 3, 1, 4, 2, 5].map(|index| input[index]);
        let compare = |got: &[f32]| compare_with_transpose(got, [2, 3], first, Tolerance::Exact);
        assert!(compare(&turned).is_ok());
        let wrong = compare(input).expect_err("the input");
        assert_eq!((wrong.index, wrong.n_wrong, wrong.columns), (1, 4, Some(2)));
    }

    #[test]
    fn repeated_sums_round_as_their_types_do() {
        assert_eq!(repeated_sum_f32(1.0, 1 << 24), 16_777_216.0);
        // From 2²⁴ on, adding 1 to an f32 changes nothing.
        assert_eq!(repeated_sum_f32(1.0, (1 << 24) + 5), 16_777_216.0);
        assert_eq!(repeated_sum_f64(1.0, (1 << 24) + 5), 16_777_221.0);
    }

    #[test]
    fn products_are_those_of_matrices() {
        let matrix = [1.0, -2.0, 3.0, 4.0, -5.0, 6.0];
        let sum = |value, magnitude| Sum { value, magnitude };
        assert_eq!(
            row_times_columns(&[1.0, 2.0, 3.0], &matrix),
            [sum(6.0, 14.0), sum(12.0, 32.0)]
        );
        assert_eq!(
            row_times_matrix(&[2.0, 1.0], &matrix, 3),
            [sum(6.0, 6.0), sum(-9.0, 9.0), sum(12.0, 12.0)]
        );
        assert_eq!(matrix_times_vector(&matrix, &[1.0, 1.0, 2.0]), [5.0, 11.0]);
        let mut sums = [1.0; 3];
        add_row_times_matrix(&mut sums, &[2.0, 1.0], &matrix);
        assert_eq!(sums, [7.0, -8.0, 13.0]);
    }

    #[test]
    fn the_rough_test_turns_nothing_near_away() {
        for i in 0..10_000u32 {
            let angle = i as f32 * 0.001;
            let (dx, dy) = (1.9 * angle.cos(), 1.9 * angle.sin());
            assert_eq!(are_near(dx, dy, 3.61), dx.mul_add(dx, dy * dy) < 3.61);
        }
        assert!(!are_near(f32::NAN, 0.0, 1.0));
    }

    #[test]
    fn only_atoms_from_the_first_on_are_near() {
        let (xs, ys) = ([0.0, 1.0, 3.0, 1.0], [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(near_ones([&xs, &ys], 1, [0.0, 0.0], 1.5), [1]);
        assert_eq!(near_ones([&xs, &ys], 0, [0.5, 0.5], 1.5), [0, 1, 3]);
    }
}
