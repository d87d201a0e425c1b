//! Inputs, and the expected product.
//!
//! # The checks of a product
//!
//! Each product is checked three times, on different numbers.
//!
//! - *Exactly.* Factors that are multiples of 1/16 in [−1, 1), or −1, 0 and 1 for large
//!   products: every partial sum is a whole multiple of 1/256 below 2¹⁶, and a tensor core
//!   rounds none of them, in whatever order it adds. Only the result is rounded, once, to
//!   the type of C: every element must be bit-equal to the true one, rounded. Small products
//!   are computed element by element. In large ones every row of C is checked by a product
//!   with a vector x of random whole numbers, C·x = alpha·A·(B·x) + beta·(C·x), exact in
//!   `f64`: a row with a wrong element passes by chance once in 2¹⁶. This requires that C is not
//!   rounded: most factors are 0 there, so that sums stay below 2⁸, which bf16 can represent.
//! - *With alpha and beta*, on the same numbers, and an old C of whole numbers: powers of two,
//!   so that nothing else is rounded.
//! - *Within rounding.* Factors of a normal distribution, the ones that are timed, against
//!   sums in `f64`: all elements of small products, some rows of large ones. A tensor core
//!   adds products in groups of at least 8, truncated by less than 2⁻²⁴ of the largest: as
//!   [`half_matrices`](lesson::half_matrices) explains, the error of the sum is less than
//!   k/8 · 11 · 2⁻²⁴ · Σ|a·b|. Half a unit in the last place of C's type is added to that.

use super::elements::{Number, rounding};
use lesson::references::{add_row_times_matrix, matrix_times_vector, row_times_columns};
use lesson::{CaseError, Trial, inputs};
use rayon::prelude::*;
use std::ops::Range;

/// Products up to this many multiply-adds are compared element by element.
const ALL_ELEMENTS: u64 = 1 << 26;
/// Number of rows of larger ones that are.
const SOME_ROWS: usize = 16;

/// C = alpha·A·B + beta·C.
pub use gpu_kernels::gemm::mma::matrices::Scale;

/// With factors for both, powers of two.
pub const SCALED: Scale = Scale {
    alpha: 0.5,
    beta: -2.0,
};

/// A, m rows of k, and B, n rows of k; elements are numbers of the factors' type.
pub struct Factors {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Length of the sums.
    pub k: usize,
    /// A, row by row.
    pub a: Vec<f32>,
    /// B, column by column.
    pub b: Vec<f32>,
    /// Whether sums are exact.
    is_exact: bool,
}

/// An expected element of C, before rounding, and the bound on the error of the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// The exact value.
    pub value: f64,
    /// Bound on the error of a tensor core's sum.
    pub bound: f64,
}

/// The old C, whole numbers from −4 to 4.
pub fn old(index: usize) -> f32 {
    let scattered = (index as u32).wrapping_mul(0x9E37_79B1) >> 16;
    (scattered % 9) as f32 - 4.0
}

impl Factors {
    fn new([m, n, k]: [u32; 3], is_exact: bool, make: impl Fn(u64, usize) -> Vec<f32>) -> Self {
        let [m, n, k] = [m, n, k].map(|side| side as usize);
        let (a, b) = (make(0xA, m * k), make(0xB, n * k));
        Self {
            m,
            n,
            k,
            a,
            b,
            is_exact,
        }
    }

    /// Factors whose sums are exact.
    pub fn exact(dims: [u32; 3]) -> Self {
        let sixteenth = |bits: u32| (bits % 32) as f32 / 16.0 - 1.0;
        if n_products(dims) > ALL_ELEMENTS {
            return Self::sparse(dims);
        }
        Self::new(dims, true, |seed, len| inputs::random(seed, len, sixteenth))
    }

    /// The same from −1, 0 and 1: of every eight, one is 1 and one is −1.
    pub fn sparse(dims: [u32; 3]) -> Self {
        let sparse = |bits: u32| match bits % 8 {
            0 => -1.0,
            1 => 1.0,
            _ => 0.0,
        };
        Self::new(dims, true, |seed, len| inputs::random(seed, len, sparse))
    }

    /// Numbers of a normal distribution, rounded to `T`.
    pub fn normal<T: Number>(dims: [u32; 3]) -> Self {
        Self::new(dims, false, |seed, len| {
            inputs::normal(seed, len, |x| T::nearest(x).value())
        })
    }

    fn is_small(&self) -> bool {
        n_products([self.m, self.n, self.k].map(|side| side as u32)) <= ALL_ELEMENTS
    }

    /// A row of C.
    pub fn row(&self, row: usize, scale: Scale) -> Vec<Sum> {
        let (alpha, beta) = (f64::from(scale.alpha), f64::from(scale.beta));
        let a_row = &self.a[row * self.k..][..self.k];
        let sums = row_times_columns(a_row, &self.b).into_iter().enumerate();
        sums.map(|(column, sum)| {
            let before = match scale.beta {
                0.0 => 0.0,
                _ => beta * f64::from(old(row * self.n + column)),
            };
            let bound = match self.is_exact {
                true => 0.0,
                false => sum_error(self.k, sum.magnitude),
            };
            Sum {
                value: alpha * sum.value + before,
                bound: alpha.abs() * bound,
            }
        })
        .collect()
    }

    /// The rows that are compared element by element.
    pub fn checked_rows(&self) -> Vec<usize> {
        if self.is_small() {
            return (0..self.m).collect();
        }
        // Spread over all rows, including the first and the last.
        let n_rows = SOME_ROWS.min(self.m);
        (0..n_rows)
            .map(|i| i * (self.m - 1) / (n_rows - 1).max(1))
            .collect()
    }

    /// Compares C, whose rows are `pitch` apart, with the expected product.
    pub fn check<T: Number>(
        &self,
        trial: &mut Trial<'_>,
        c: &[T],
        pitch: usize,
        scale: Scale,
    ) -> Result<(), CaseError> {
        if self.is_exact && !self.is_small() {
            self.check_by_vector(c, pitch, scale)?;
        }
        for row in self.checked_rows() {
            let got = &c[row * pitch..][..self.n];
            for (column, (&got, sum)) in got.iter().zip(self.row(row, scale)).enumerate() {
                let (expected, bound) = self.expected::<T>(sum);
                let verdict = trial.verdict_within(got.to_f64(), expected, bound);
                verdict.map_err(|error| error.in_matrix([row, column], pitch))?;
            }
        }
        Ok(())
    }

    /// The expected value of an element, and the bound on its error.
    fn expected<T: Number>(&self, Sum { value, bound }: Sum) -> (f64, f64) {
        if self.is_exact {
            return (f64::from(T::nearest(value as f32).value()), 0.0);
        }
        (value, bound + rounding::<T>(value.abs() + bound))
    }

    /// Checks every row of C: C·x = alpha·A·(B·x) + beta·(C·x).
    fn check_by_vector<T: Number>(
        &self,
        c: &[T],
        pitch: usize,
        scale: Scale,
    ) -> Result<(), CaseError> {
        /// Keeps sums of k·n products below 2⁵³.
        const LARGEST: u32 = 1 << 15;
        let x = inputs::random(0xC, self.n, |bits| {
            f64::from(bits % (2 * LARGEST + 1)) - f64::from(LARGEST)
        });
        let products = matrix_times_vector(&self.a, &self.b_times(&x));
        let (alpha, beta) = (f64::from(scale.alpha), f64::from(scale.beta));
        let wrong = (0..self.m).into_par_iter().find_map_first(|row| {
            let dot = |elements: &mut dyn Iterator<Item = f64>, vector: &[f64]| -> f64 {
                elements.zip(vector).map(|(e, &v)| e * v).sum()
            };
            let before = match scale.beta {
                0.0 => 0.0,
                _ => {
                    let indices = row * self.n..(row + 1) * self.n;
                    beta * dot(&mut indices.map(|index| f64::from(old(index))), &x)
                }
            };
            let expected = alpha * products[row] + before;
            let got_row = &c[row * pitch..][..self.n];
            let got = dot(&mut got_row.iter().map(|c| c.to_f64()), &x);
            // Written so that a NaN is wrong.
            (!(got - expected).eq(&0.0)).then_some((row, got, expected))
        });
        match wrong {
            None => Ok(()),
            Some((row, got, expected)) => {
                let targets = self.row(row, scale).into_iter();
                let targets = targets.map(|sum| self.expected::<T>(sum).0);
                let mut elements = c[row * pitch..].iter().zip(targets).enumerate();
                let wrong = elements.find(|&(_, (got, target))| got.to_f64() != target);
                Err(match wrong {
                    Some((column, (got, target))) => {
                        let error = format!("expected {target}, got {}", got.to_f64());
                        CaseError::wrong(error).in_matrix([row, column], pitch)
                    }
                    None => CaseError::wrong(format!(
                        "row {row} is wrong: its product with a vector of whole numbers is {got} and should be {expected}"
                    )),
                })
            }
        }
    }

    /// B·x, of length k: B's rows lie along k.
    fn b_times(&self, x: &[f64]) -> Vec<f64> {
        let of_rows = |rows: Range<usize>| {
            let mut sums = vec![0.0; self.k];
            let elements = rows.start * self.k..rows.end * self.k;
            add_row_times_matrix(&mut sums, &x[rows], &self.b[elements]);
            sums
        };
        const PART: usize = 256;
        let parts = (0..self.n).into_par_iter().step_by(PART);
        parts
            .map(|first| of_rows(first..self.n.min(first + PART)))
            .reduce(
                || vec![0.0; self.k],
                |mut sums, more| {
                    sums.iter_mut().zip(more).for_each(|(sum, one)| *sum += one);
                    sums
                },
            )
    }
}

fn n_products([m, n, k]: [u32; 3]) -> u64 {
    u64::from(m)
        .saturating_mul(u64::from(n))
        .saturating_mul(u64::from(k))
}

/// Bound on the error of a tensor core's sum of `k` products whose magnitudes
/// add up to `magnitudes`.
fn sum_error(k: usize, magnitudes: f64) -> f64 {
    const GROUP: usize = 8;
    const UNIT: f64 = 1.0 / (1 << 24) as f64;
    (k.div_ceil(GROUP) * (GROUP + 3)) as f64 * UNIT * magnitudes
}

#[cfg(test)]
mod tests {
    use super::{ALL_ELEMENTS, Factors, SCALED, Scale, n_products, old, sum_error};
    use half::f16;
    use lesson::half_matrices::f32_sum_error;

    fn product(factors: &Factors, scale: Scale) -> Vec<f32> {
        (0..factors.m)
            .flat_map(|row| factors.row(row, scale))
            .map(|sum| sum.value as f32)
            .collect()
    }

    /// Factors so large that rows are checked by a vector.
    fn large() -> Factors {
        let dims = [257, 1024, 264];
        assert!(n_products(dims) > ALL_ELEMENTS);
        Factors::exact(dims)
    }

    #[test]
    fn rows_are_those_of_the_product() {
        // (1 2) · (5 6; 7 8) = (19 22), B stored as its columns.
        let factors = Factors {
            m: 1,
            n: 2,
            k: 2,
            a: vec![1.0, 2.0],
            b: vec![5.0, 7.0, 6.0, 8.0],
            is_exact: true,
        };
        assert_eq!(product(&factors, Scale::PRODUCT), [19.0, 22.0]);
        let expected = [19.0 / 2.0 - 2.0 * old(0), 22.0 / 2.0 - 2.0 * old(1)];
        assert_eq!(product(&factors, SCALED), expected);
    }

    #[test]
    fn exact_factors_have_sums_that_nothing_rounds() {
        let factors = Factors::exact([4, 4, 4096]);
        for sum in product(&factors, SCALED) {
            assert_eq!(sum * 512.0, (sum * 512.0).round(), "{sum}");
        }
        let factors = large();
        for sum in (0..factors.m).flat_map(|row| factors.row(row, SCALED)) {
            let rounded = half::bf16::from_f32(sum.value as f32).to_f64();
            assert_eq!(rounded, sum.value, "bf16 has it");
        }
    }

    #[test]
    fn a_vector_finds_one_wrong_element() {
        let factors = large();
        for scale in [Scale::PRODUCT, SCALED] {
            let mut c = product(&factors, scale);
            assert!(factors.check_by_vector(&c, factors.n, scale).is_ok());
            c[7 * factors.n + 29] += 1.0;
            let error = factors.check_by_vector(&c, factors.n, scale);
            let error = error.expect_err("wrong").to_string();
            assert!(error.starts_with("row 7, column 29: expected "), "{error}");
            c[7 * factors.n + 29] = f32::NAN;
            assert!(factors.check_by_vector(&c, factors.n, scale).is_err());
        }
    }

    #[test]
    fn the_bound_is_that_of_small_matrices() {
        // There no product is larger than 1, so that they add up to at most their number.
        assert_eq!(sum_error(16, 16.0), f32_sum_error(16));
    }

    #[test]
    fn normal_factors_are_numbers_of_their_type() {
        let factors = Factors::normal::<f16>([8, 8, 100]);
        for &x in factors.a.iter().chain(&factors.b) {
            assert_eq!(f16::from_f32(x).to_f32(), x);
        }
    }
}
