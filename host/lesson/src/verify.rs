//! Comparison of a kernel's output with its reference, every element.
//!
//! A NaN never passes: the test is `!(error <= tolerance)`. Poison
//! ([`lockstep::engine::buffer::POISON`]) that a kernel did not overwrite is reported as
//! such.

use cuda_std::launch::DeviceCopy;
use half::{bf16, f16};
use rayon::prelude::*;
use std::fmt;
use std::sync::OnceLock;

/// The tolerance of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Bit-equal.
    Exact,
    /// |got − expected| at most this.
    Absolute(f64),
    /// |got − expected| at most this times |expected|.
    Relative(f64),
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => write!(f, "exact"),
            Self::Absolute(bound) => write!(f, "±{bound:e}"),
            Self::Relative(bound) => write!(f, "±{bound:e} relative"),
        }
    }
}

/// A type that outputs are made of.
pub trait Element: DeviceCopy + fmt::Debug + Send + Sync {
    /// Its value, for the size of an error.
    fn to_f64(self) -> f64;
    /// Whether it is the same value bit by bit.
    fn same_bits(self, other: Self) -> bool;
    /// Whether every byte is poison.
    fn is_poison(self) -> bool;
    /// Compares as many elements, of which the first is number `first_index`. Implemented for each
    /// type, so that it is compiled in this optimized crate.
    fn compare_part(
        first_index: usize,
        got: &[Self],
        expected: &[Self],
        tolerance: Tolerance,
    ) -> Found<Self>;
}

macro_rules! element {
    ($($t:ty, $to_f64:expr;)*) => { $(
        impl Element for $t {
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }
            fn same_bits(self, other: Self) -> bool {
                self.to_le_bytes() == other.to_le_bytes()
            }
            fn is_poison(self) -> bool {
                self.to_le_bytes().iter().all(|&byte| byte == lockstep::engine::buffer::POISON)
            }
            fn compare_part(
                first_index: usize,
                got: &[Self],
                expected: &[Self],
                tolerance: Tolerance,
            ) -> Found<Self> {
                compare_part(first_index, got, expected, tolerance)
            }
        }
    )* };
}
element! {
    u8, f64::from; i8, f64::from; u16, f64::from; i16, f64::from;
    u32, f64::from; i32, f64::from; f32, f64::from; f64, |value| value;
    u64, |value| value as f64; i64, |value| value as f64;
    f16, f16::to_f64; bf16, bf16::to_f64;
}

/// A comparison without errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verified {
    /// Elements compared: all of them.
    pub n_checked: usize,
    /// Largest difference.
    pub max_abs_error: f64,
}

impl Verified {
    /// That many elements, all of them exact.
    pub const fn exact(n_checked: usize) -> Self {
        Self {
            n_checked,
            max_abs_error: 0.0,
        }
    }
}

/// A comparison with errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// First wrong element.
    pub index: usize,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub got: String,
    /// The number of wrong elements.
    pub n_wrong: usize,
    /// The number of compared elements.
    pub n_checked: usize,
    /// The number of wrong elements that the kernel never wrote.
    pub n_unwritten: usize,
    /// Largest difference, NaN if there is one.
    pub max_abs_error: f64,
    /// Row length, if the output is a matrix.
    pub columns: Option<usize>,
    /// The number of elements that were read from the device before the first compared one.
    pub n_before: usize,
}

impl Mismatch {
    /// The same, with the index given as row and column of a matrix with
    /// `columns` columns.
    pub fn in_matrix(self, columns: usize) -> Self {
        Self {
            columns: Some(columns),
            ..self
        }
    }

    /// The same, of a part of what was read from the device, `n_before` elements after its beginning.
    pub fn after(self, n_before: usize) -> Self {
        Self { n_before, ..self }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} elements are wrong; first ",
            self.n_wrong, self.n_checked
        )?;
        match self.columns {
            Some(columns) => {
                write!(
                    f,
                    "at row {}, column {}",
                    self.index / columns,
                    self.index % columns
                )?;
            }
            None => write!(f, "at index {}", self.index)?,
        }
        write!(f, ": expected {}, got {}", self.expected, self.got)?;
        if self.n_unwritten != 0 {
            write!(f, " ({} were never written)", self.n_unwritten)?;
        }
        Ok(())
    }
}

/// The result of comparing a part of an output.
pub struct Found<T> {
    /// The first wrong element: its index, the expected value, the actual value.
    first: Option<(usize, T, T)>,
    n_wrong: usize,
    n_unwritten: usize,
    max_abs_error: f64,
}

impl<T> Found<T> {
    const NOTHING: Self = Self {
        first: None,
        n_wrong: 0,
        n_unwritten: 0,
        max_abs_error: 0.0,
    };

    /// Combined with the result for the part after it.
    fn and(self, next: Self) -> Self {
        Self {
            first: self.first.or(next.first),
            n_wrong: self.n_wrong + next.n_wrong,
            n_unwritten: self.n_unwritten + next.n_unwritten,
            max_abs_error: larger(self.max_abs_error, next.max_abs_error),
        }
    }
}

/// The larger one, or NaN if one is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Compares every element of `got` with `expected(index)`.
pub fn compare<T: Element>(
    got: &[T],
    expected: impl Fn(usize) -> T + Sync,
    tolerance: Tolerance,
) -> Result<Verified, Mismatch> {
    compare_by_parts(got, &|first_index, got| {
        let indices = first_index..first_index + got.len();
        let expected: Vec<T> = indices.map(&expected).collect();
        T::compare_part(first_index, got, &expected, tolerance)
    })
}

/// Compares every element of `got` with that of `expected`.
///
/// # Panics
///
/// If the lengths differ.
pub fn compare_slices<T: Element>(
    got: &[T],
    expected: &[T],
    tolerance: Tolerance,
) -> Result<Verified, Mismatch> {
    assert_eq!(got.len(), expected.len(), "as many references as results");
    compare_by_parts(got, &|first_index, got| {
        let expected = &expected[first_index..][..got.len()];
        T::compare_part(first_index, got, expected, tolerance)
    })
}

/// Compares a part of an output, from the element with this index on.
type ComparePart<'c, T> = dyn Fn(usize, &[T]) -> Found<T> + Sync + 'c;

/// Compares the parts in parallel, without which gigabytes take seconds.
fn compare_by_parts<T: Element>(
    got: &[T],
    compare_part: &ComparePart<'_, T>,
) -> Result<Verified, Mismatch> {
    const PART: usize = 1 << 16;
    let parts: Vec<OnceLock<Found<T>>> = got.chunks(PART).map(|_| OnceLock::new()).collect();
    for_each_index(parts.len(), &|part| {
        let first_index = part * PART;
        let end = got.len().min(first_index + PART);
        parts[part].get_or_init(|| compare_part(first_index, &got[first_index..end]));
    });
    let found = parts.into_iter().filter_map(OnceLock::into_inner);
    let found = found.fold(Found::NOTHING, Found::and);
    match found.first {
        None => Ok(Verified {
            n_checked: got.len(),
            max_abs_error: found.max_abs_error,
        }),
        Some((index, expected, wrong)) => Err(Mismatch {
            index,
            expected: format!("{expected:?}"),
            got: format!("{wrong:?}"),
            n_wrong: found.n_wrong,
            n_checked: got.len(),
            n_unwritten: found.n_unwritten,
            max_abs_error: found.max_abs_error,
            columns: None,
            n_before: 0,
        }),
    }
}

/// Calls `act` with each index below `n`, in parallel. Not generic, so that the code that
/// distributes the work over threads is compiled once for all types.
fn for_each_index(n: usize, act: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(act);
}

fn compare_part<T: Element>(
    first_index: usize,
    got: &[T],
    expected: &[T],
    tolerance: Tolerance,
) -> Found<T> {
    let mut found = Found::NOTHING;
    for (index, (&got, &expected)) in (first_index..).zip(got.iter().zip(expected)) {
        if got.same_bits(expected) {
            continue;
        }
        let error = (got.to_f64() - expected.to_f64()).abs();
        found.max_abs_error = larger(found.max_abs_error, error);
        let bound = match tolerance {
            Tolerance::Exact => f64::NEG_INFINITY,
            Tolerance::Absolute(bound) => bound,
            Tolerance::Relative(bound) => bound * expected.to_f64().abs(),
        };
        // Written so that a NaN, which compares false with everything, is wrong.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        if !(error <= bound) {
            found.n_wrong += 1;
            found.n_unwritten += usize::from(got.is_poison());
            found.first.get_or_insert((index, expected, got));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Tolerance, compare};

    #[test]
    fn equal_passes() {
        let verified = compare(&[1.0f32, 2.0], |i| (i + 1) as f32, Tolerance::Exact);
        assert_eq!(verified.expect("equal").max_abs_error, 0.0);
    }

    #[test]
    fn nan_never_passes() {
        for tolerance in [
            Tolerance::Exact,
            Tolerance::Absolute(1e9),
            Tolerance::Relative(1e9),
        ] {
            let wrong = compare(&[0.0f32, f32::NAN], |_| 0.0, tolerance).expect_err("NaN");
            assert_eq!((wrong.index, wrong.n_wrong), (1, 1));
            assert!(wrong.max_abs_error.is_nan());
        }
    }

    #[test]
    fn a_reference_of_nan_needs_the_same_nan() {
        assert!(compare(&[1.0f32], |_| f32::NAN, Tolerance::Absolute(1e9)).is_err());
        assert!(compare(&[f32::NAN], |_| f32::NAN, Tolerance::Exact).is_ok());
    }

    #[test]
    fn parts_are_put_together_in_order() {
        let mut values = vec![1.0f32; 200_000];
        values[150_000] = f32::NAN;
        values[70_000] = 3.0;
        values[199_999] = 2.0;
        let wrong = compare(&values, |_| 1.0, Tolerance::Absolute(0.5)).expect_err("three");
        assert_eq!((wrong.index, wrong.n_wrong), (70_000, 3));
        assert!(wrong.max_abs_error.is_nan());
        assert_eq!(wrong.n_checked, 200_000);
    }

    #[test]
    fn minus_zero_is_not_exactly_zero() {
        assert!(compare(&[-0.0f32], |_| 0.0, Tolerance::Exact).is_err());
        assert!(compare(&[-0.0f32], |_| 0.0, Tolerance::Absolute(0.0)).is_ok());
    }

    #[test]
    fn poison_is_named() {
        let poison = f32::from_le_bytes([0xFF; 4]);
        let wrong = compare(&[1.0, poison, 5.0], |_| 1.0, Tolerance::Exact).expect_err("poison");
        assert_eq!((wrong.n_wrong, wrong.n_unwritten), (2, 1));
        assert_eq!(
            wrong.in_matrix(1).to_string(),
            "2 of 3 elements are wrong; first at row 1, column 0: expected 1.0, got NaN (1 were never written)"
        );
    }

    #[test]
    fn bounds_are_inclusive() {
        assert!(compare(&[1.5f64], |_| 1.0, Tolerance::Absolute(0.5)).is_ok());
        assert!(compare(&[1.5f64], |_| 1.0, Tolerance::Absolute(0.49)).is_err());
        assert!(compare(&[150.0f64], |_| 100.0, Tolerance::Relative(0.5)).is_ok());
        assert!(compare(&[151.0f64], |_| 100.0, Tolerance::Relative(0.5)).is_err());
    }
}
