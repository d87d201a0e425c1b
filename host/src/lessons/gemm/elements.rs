//! The element types of factors and results.

use half::{bf16, f16};
use lesson::verify::Element;
use lockstep::engine::MatrixType;

/// An element of a matrix.
pub trait Number: Element {
    /// cuBLASLt's name for it.
    const TYPE: MatrixType;
    /// Significant bits, with the one that is not stored.
    const SIGNIFICANT_BITS: i32;
    /// The smallest distance of two numbers, near 0.
    const LEAST_STEP: f64;
    /// The nearest one; ties to even.
    fn nearest(value: f32) -> Self;
    /// Its value.
    fn value(self) -> f32;
}

impl Number for f16 {
    const TYPE: MatrixType = MatrixType::F16;
    const SIGNIFICANT_BITS: i32 = 11;
    const LEAST_STEP: f64 = 1.0 / (1 << 24) as f64;

    fn nearest(value: f32) -> Self {
        Self::from_f32(value)
    }

    fn value(self) -> f32 {
        self.to_f32()
    }
}

impl Number for bf16 {
    const TYPE: MatrixType = MatrixType::Bf16;
    const SIGNIFICANT_BITS: i32 = 8;
    const LEAST_STEP: f64 = f32::MIN_POSITIVE as f64 / (1 << 7) as f64;

    fn nearest(value: f32) -> Self {
        Self::from_f32(value)
    }

    fn value(self) -> f32 {
        self.to_f32()
    }
}

impl Number for f32 {
    const TYPE: MatrixType = MatrixType::F32;
    const SIGNIFICANT_BITS: i32 = 24;
    const LEAST_STEP: f64 = f32::MIN_POSITIVE as f64 / (1 << 23) as f64;

    fn nearest(value: f32) -> Self {
        value
    }

    fn value(self) -> f32 {
        self
    }
}

/// The largest rounding error of a number no larger than `largest`: half a unit in the
/// last place.
pub fn rounding<T: Number>(largest: f64) -> f64 {
    (largest * 2.0_f64.powi(-T::SIGNIFICANT_BITS)).max(T::LEAST_STEP / 2.0)
}

#[cfg(test)]
mod tests {
    use super::{Number, rounding};
    use half::{bf16, f16};

    fn rounding_bounds<T: Number>() {
        let mut worst: f64 = 0.0;
        for i in 0..4000 {
            // Over many powers of two, between representable numbers and at ties.
            let value = 1.1_f32.powi(i % 120 - 60) * (1.0 + i as f32 / 4096.0);
            let error = f64::from(T::nearest(value).value()) - f64::from(value);
            let bound = rounding::<T>(f64::from(value));
            assert!(error.abs() <= bound, "{value}: {error:e} beyond {bound:e}");
            worst = worst.max(error.abs() / bound);
        }
        assert!(worst > 0.9 || T::SIGNIFICANT_BITS == 24, "{worst}");
    }

    #[test]
    fn rounding_stays_within_its_bound() {
        rounding_bounds::<f16>();
        rounding_bounds::<bf16>();
        rounding_bounds::<f32>();
    }
}
