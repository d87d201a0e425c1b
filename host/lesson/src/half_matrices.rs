//! References for products of 16×16 matrices in f16: inputs, sums in f64, and
//! bounds for the error of a tensor core's sum.
//!
//! # Tolerances
//!
//! Inputs are within [−1, 1], so their products are exact in f32 and at most
//! 1, and a sum of n of them is at most n. Hardware adds the products of
//! a group and the previous sum, each truncated by less than one unit 24 bits
//! (or more) below the largest of them, and rounds the group's sum to f32 (error
//! below 2⁻²³ of it). With n products in groups of g, in any order:
//!
//! error < (n / g) · ((g + 1) · n · 2⁻²⁴ + n · 2⁻²³) = (n / g) · (g + 3) · n · 2⁻²⁴
//!
//! which is largest for the smallest group, g = 8 (compute capability 8.x):
//! [`f32_sum_error`]. A result in f16 adds half a unit in its last place, at most
//! that of the largest possible sum ([`f16_rounding`]); a sum *in* f16 does so for
//! every group.

use crate::inputs::uniform;
use half::f16;

/// Side of the matrices.
pub const SIDE: usize = 16;
/// Elements of a matrix.
pub const MATRIX: usize = SIDE * SIDE;

/// `len` numbers in [−1, 1] that are f16, fixed by `seed`.
pub fn uniform_f16(seed: u64, len: usize) -> Vec<f16> {
    uniform(seed, len).into_iter().map(f16::from_f32).collect()
}

/// The same numbers in f64.
pub fn widened(elements: &[f16]) -> Vec<f64> {
    elements.iter().map(|x| x.to_f64()).collect()
}

/// A 16×16 matrix within an array: element `(row, column)` is at
/// `first + row · pitch + column`.
#[derive(Clone, Copy)]
pub struct View<'m> {
    elements: &'m [f64],
    first: usize,
    pitch: usize,
}

impl<'m> View<'m> {
    /// The matrix whose first element is `first`.
    pub fn new(elements: &'m [f64], first: usize, pitch: usize) -> Self {
        Self {
            elements,
            first,
            pitch,
        }
    }

    /// One element.
    pub fn at(self, row: usize, column: usize) -> f64 {
        self.elements[self.first + row * self.pitch + column]
    }
}

/// A·B.
pub fn product(a: View<'_>, b: View<'_>) -> [f64; MATRIX] {
    sums(|row, column, k| a.at(row, k) * b.at(k, column))
}

/// A·Bᵀ.
pub fn product_transposed(a: View<'_>, b: View<'_>) -> [f64; MATRIX] {
    sums(|row, column, k| a.at(row, k) * b.at(column, k))
}

/// Σₖ term(row, column, k), exact: products of f16 have 22 bits, and 16 of them
/// between 2⁻⁴⁸ and 1 fit into f64, except for the very smallest.
fn sums(term: impl Fn(usize, usize, usize) -> f64) -> [f64; MATRIX] {
    std::array::from_fn(|index| {
        let (row, column) = (index / SIDE, index % SIDE);
        (0..SIDE).map(|k| term(row, column, k)).sum()
    })
}

/// Bound on the error of a tensor core's f32 sum of `n` products, none larger
/// than 1.
pub const fn f32_sum_error(n: u32) -> f64 {
    const GROUP: u32 = 8;
    const UNIT: f64 = 1.0 / (1 << 24) as f64;
    (n.div_ceil(GROUP) * (GROUP + 3) * n) as f64 * UNIT
}

/// Half a unit in the last place of an f16 no larger than `largest`, a power of
/// two.
pub const fn f16_rounding(largest: u32) -> f64 {
    assert!(largest.is_power_of_two());
    // 11 significant bits: below 2ᵉ the last one is worth 2ᵉ⁻¹¹.
    largest as f64 / (1 << 12) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_sim::numeric::mma::{Accumulator, Factor, Model, dot, unpack};

    #[test]
    fn products_are_those_of_matrices() {
        let a = widened(&uniform_f16(1, MATRIX));
        let b = widened(&uniform_f16(2, MATRIX));
        let (va, vb) = (View::new(&a, 0, SIDE), View::new(&b, 0, SIDE));
        let c = product(va, vb);
        let expected: f64 = (0..SIDE).map(|k| va.at(3, k) * vb.at(k, 5)).sum();
        assert_eq!(c[3 * SIDE + 5], expected);
        let b_transposed: Vec<f64> = (0..MATRIX).map(|i| b[i % SIDE * SIDE + i / SIDE]).collect();
        assert_eq!(c, product_transposed(va, View::new(&b_transposed, 0, SIDE)));
    }

    /// The bound holds for both models of the hardware, and is not too loose.
    #[test]
    fn sums_stay_within_the_bound() {
        let mut worst: f64 = 0.0;
        for seed in 0..200 {
            let a = uniform_f16(2 * seed, SIDE);
            let b = uniform_f16(2 * seed + 1, SIDE);
            let exact: f64 = a.iter().zip(&b).map(|(a, b)| a.to_f64() * b.to_f64()).sum();
            for model in [Model::AMPERE, Model::HOPPER] {
                let parts = |x: &[f16]| -> Vec<_> {
                    x.iter().map(|x| unpack(Factor::F16, x.to_bits())).collect()
                };
                let bits = dot(
                    model,
                    Factor::F16,
                    Accumulator::F32,
                    &parts(&a),
                    &parts(&b),
                    0,
                );
                worst = worst.max((f64::from(f32::from_bits(bits)) - exact).abs());
            }
        }
        assert!(worst < f32_sum_error(16), "{worst:e}");
        assert!(worst > f32_sum_error(16) / 1000.0, "{worst:e}");
    }
}
