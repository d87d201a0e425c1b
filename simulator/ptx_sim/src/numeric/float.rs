//! Floating-point arithmetic in `f16`, `bf16`, `f32` and `f64`.
//!
//! One trait, [`Float`], and functions over it. Rounding to nearest runs on
//! the host's instructions, the other modes in `soft`.
//!
//! **NaN.** A NaN result, of `neg` and `abs` too, is canonical: `0x7fffffff`
//! for `f32`, `0x7fff` for `f16` and `bf16`; for `f64` NVIDIA hardware keeps
//! sign and payload of a NaN operand and makes it quiet. `copysign` and moves
//! keep a NaN's bits.
//!
//! ****`.ftz`** turns subnormal operands and results into zeros: [`mul_ftz`] and similar;
//! for other functions [`flush`] on operands and result does. **`.sat`** is [`saturate`] on
//! the result, **`.relu`** is [`relu`].

use super::Rounding;
use super::soft::{self, Format};
use crate::lanes::Lane;

/// A floating-point type of PTX.
pub trait Float: Copy {
    /// Its format.
    const FORMAT: Format;

    /// Its bits, zero-extended.
    fn bits(self) -> u64;

    /// The number with these bits; the rest of the word is ignored.
    fn of_bits(bits: u64) -> Self;

    /// `a + b`, to nearest.
    fn add_nearest(self, other: Self) -> Self;

    /// `a * b`, to nearest.
    fn mul_nearest(self, other: Self) -> Self;

    /// `a * b + c`, rounded once, to nearest.
    fn fma_nearest(self, factor: Self, addend: Self) -> Self;

    /// `a + b`, not to nearest.
    #[inline]
    fn add_directed(self, other: Self, rounding: Rounding) -> Self {
        let bits = soft::add(Self::FORMAT, self.bits(), other.bits(), rounding);
        checked(&[other, self], bits)
    }

    /// `a * b`, not to nearest.
    #[inline]
    fn mul_directed(self, other: Self, rounding: Rounding) -> Self {
        let bits = soft::mul(Self::FORMAT, self.bits(), other.bits(), rounding);
        checked(&[other, self], bits)
    }

    /// `a * b + c`, rounded once, not to nearest.
    #[inline]
    fn fma_directed(self, factor: Self, addend: Self, rounding: Rounding) -> Self {
        let (a, b, c) = (self.bits(), factor.bits(), addend.bits());
        let bits = soft::fma(Self::FORMAT, a, b, c, rounding);
        checked(&[factor, addend, self], bits)
    }

    /// `a / b`, to nearest.
    #[inline]
    fn div_nearest(self, divisor: Self) -> Self {
        let bits = soft::div(
            Self::FORMAT,
            self.bits(),
            divisor.bits(),
            Rounding::NearestEven,
        );
        checked(&[self, divisor], bits)
    }

    /// The square root, to nearest.
    #[inline]
    fn sqrt_nearest(self) -> Self {
        checked(
            &[self],
            soft::sqrt(Self::FORMAT, self.bits(), Rounding::NearestEven),
        )
    }

    /// The NaN that an operation on these operands gives, the one that comes
    /// first where several are NaN: of `a`, `b`, `c` hardware prefers `b`,
    /// then `c`.
    #[inline]
    fn nan_result(_operands: &[Self]) -> Self {
        Self::of_bits(Self::FORMAT.canonical_nan)
    }

    /// Whether it is a NaN.
    #[inline]
    fn is_not_a_number(self) -> bool {
        self.magnitude() > Self::FORMAT.infinity()
    }

    /// Its bits without the sign.
    #[inline]
    fn magnitude(self) -> u64 {
        self.bits() & (Self::FORMAT.sign_mask() - 1)
    }

    /// Whether its sign bit is set.
    #[inline]
    fn has_sign(self) -> bool {
        self.bits() & Self::FORMAT.sign_mask() != 0
    }
}

impl Float for f32 {
    const FORMAT: Format = soft::F32;

    #[inline]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }

    #[inline]
    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }

    #[inline]
    fn add_nearest(self, other: Self) -> Self {
        canonical_f32(self + other)
    }

    #[inline]
    fn mul_nearest(self, other: Self) -> Self {
        canonical_f32(self * other)
    }

    #[inline]
    fn fma_nearest(self, factor: Self, addend: Self) -> Self {
        // The product of two f32 is exact in f64. The sum is rounded to odd
        // there, which makes the second rounding correct.
        let sum = add_to_odd(f64::from(self) * f64::from(factor), f64::from(addend));
        canonical_f32(sum as f32)
    }

    #[inline]
    fn add_directed(self, other: Self, rounding: Rounding) -> Self {
        let sum = sum_directed(f64::from(self), f64::from(other), rounding);
        narrow_directed(sum, rounding)
    }

    #[inline]
    fn mul_directed(self, other: Self, rounding: Rounding) -> Self {
        narrow_directed(f64::from(self) * f64::from(other), rounding)
    }

    #[inline]
    fn fma_directed(self, factor: Self, addend: Self, rounding: Rounding) -> Self {
        let product = f64::from(self) * f64::from(factor);
        narrow_directed(sum_directed(product, f64::from(addend), rounding), rounding)
    }

    #[inline]
    fn div_nearest(self, divisor: Self) -> Self {
        canonical_f32(self / divisor)
    }

    #[inline]
    fn sqrt_nearest(self) -> Self {
        canonical_f32(self.sqrt())
    }
}

/// An `f32` on a machine that multiplies and adds in one instruction: `fma` is that instruction
/// in code compiled for it; in other code it is slow, as it calls the C library.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct FusedF32(pub f32);

// SAFETY: A plain number, valid for every bit pattern.
unsafe impl Lane for FusedF32 {}

impl Float for FusedF32 {
    const FORMAT: Format = soft::F32;

    #[inline]
    fn bits(self) -> u64 {
        self.0.bits()
    }

    #[inline]
    fn of_bits(bits: u64) -> Self {
        Self(f32::of_bits(bits))
    }

    #[inline]
    fn add_nearest(self, other: Self) -> Self {
        Self(self.0.add_nearest(other.0))
    }

    #[inline]
    fn mul_nearest(self, other: Self) -> Self {
        Self(self.0.mul_nearest(other.0))
    }

    #[inline]
    fn fma_nearest(self, factor: Self, addend: Self) -> Self {
        Self(canonical_f32(self.0.mul_add(factor.0, addend.0)))
    }

    #[inline]
    fn fma_directed(self, factor: Self, addend: Self, rounding: Rounding) -> Self {
        Self(self.0.fma_directed(factor.0, addend.0, rounding))
    }
}

impl Float for f64 {
    const FORMAT: Format = soft::F64;

    #[inline]
    fn bits(self) -> u64 {
        self.to_bits()
    }

    #[inline]
    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }

    #[inline]
    fn add_nearest(self, other: Self) -> Self {
        number_or_nan(self + other, &[other, self])
    }

    #[inline]
    fn mul_nearest(self, other: Self) -> Self {
        number_or_nan(self * other, &[other, self])
    }

    #[inline]
    fn fma_nearest(self, factor: Self, addend: Self) -> Self {
        number_or_nan(self.mul_add(factor, addend), &[factor, addend, self])
    }

    #[inline]
    fn div_nearest(self, divisor: Self) -> Self {
        number_or_nan(self / divisor, &[self, divisor])
    }

    #[inline]
    fn sqrt_nearest(self) -> Self {
        number_or_nan(self.sqrt(), &[self])
    }

    /// The first NaN among the operands, made quiet; a fresh one if there is
    /// none.
    #[inline]
    fn nan_result(operands: &[Self]) -> Self {
        const QUIET: u64 = 1 << 51;
        let first = operands.iter().find(|operand| operand.is_not_a_number());
        let bits = first.map_or(Self::FORMAT.canonical_nan, |nan| nan.to_bits() | QUIET);
        Self::from_bits(bits)
    }
}

/// A result, or in its place the NaN that the operands give.
#[inline(always)]
fn number_or_nan(result: f64, operands: &[f64]) -> f64 {
    if result.is_not_a_number() {
        f64::nan_result(operands)
    } else {
        result
    }
}

/// The NaN that hardware gives in place of any NaN.
///
/// Compares bits: to the compiler all NaNs are equivalent, and it would remove a choice
/// between them.
#[inline]
pub fn canonical_f32(value: f32) -> f32 {
    let bits = value.to_bits();
    let is_nan = (bits & 0x7fff_ffff) as i32 > 0x7f80_0000;
    f32::from_bits(if is_nan {
        soft::F32.canonical_nan as u32
    } else {
        bits
    })
}

/// Declares [`add_to_odd`] for a type of so many bits.
macro_rules! add_to_odd {
    ($(#[$doc:meta])* $name:ident, $float:ty, $n_bits:literal) => {
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(a: $float, b: $float) -> $float {
            let sum = a + b;
            // Knuth's error term, exact: `a + b = sum + error`.
            let b_part = sum - a;
            let error = (a - (sum - b_part)) + (b - b_part);
            let bits = sum.to_bits();
            let is_inexact = error.abs() > 0.0;
            let is_even = bits & 1 == 0;
            // Away from zero where the error has the sum's sign, else towards it.
            let is_away = (error.to_bits() ^ bits) >> ($n_bits - 1) == 0;
            let neighbour = if is_away {
                bits.wrapping_add(1)
            } else {
                bits.wrapping_sub(1)
            };
            <$float>::from_bits(if is_inexact && is_even {
                neighbour
            } else {
                bits
            })
        }
    };
}

add_to_odd! {
    /// `a + b` rounded to odd: towards zero, with the lowest bit set where that
    /// cut something off. Exact sums and infinities are unchanged.
    ///
    /// Not for operands whose sum overflows or that are not exact multiples of the
    /// smallest f64; products and sums of narrower formats never are.
    add_to_odd, f64, 64
}
add_to_odd! {
    /// The same in `f32`, for products and sums of `f16`.
    add_to_odd_f32, f32, 32
}

/// [`add_to_odd`], with the sign that a sum of zero has with this rounding.
#[inline]
fn sum_directed(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = add_to_odd(a, b);
    let is_of_positive_zeros = a.to_bits() | b.to_bits() == 0;
    if sum == 0.0 && rounding == Rounding::Down && !is_of_positive_zeros {
        -0.0
    } else {
        sum
    }
}

/// To `f32`, not to nearest: a number that is exact, or rounded to odd.
#[inline]
fn narrow_directed(value: f64, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    let (back, bits) = (f64::from(nearest), nearest.to_bits());
    let (is_above, is_below) = (back > value, back < value);
    let is_negative = (bits as i32) < 0;
    // Which of the two must go, and whether it is the larger in magnitude.
    let (is_wrong, is_larger) = match rounding {
        Rounding::Down => (is_above, !is_negative),
        Rounding::Up => (is_below, is_negative),
        Rounding::Zero if is_negative => (is_below, true),
        Rounding::Zero => (is_above, true),
        Rounding::NearestEven | Rounding::NearestAway => (false, false),
    };
    let neighbour = if is_larger {
        bits.wrapping_sub(1)
    } else {
        bits.wrapping_add(1)
    };
    canonical_f32(f32::from_bits(if is_wrong { neighbour } else { bits }))
}

/// `add`
#[inline]
pub fn add<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::NearestEven => a.add_nearest(b),
        _ => a.add_directed(b, rounding),
    }
}

/// `sub`
#[inline]
pub fn sub<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    // A NaN keeps its own sign: `neg` leaves it.
    add(a, neg(b), rounding)
}

/// `mul`
#[inline]
pub fn mul<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::NearestEven => a.mul_nearest(b),
        _ => a.mul_directed(b, rounding),
    }
}

/// `fma`, and `mad` of floating point: rounded once.
#[inline]
pub fn fma<F: Float>(a: F, b: F, c: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::NearestEven => a.fma_nearest(b, c),
        _ => a.fma_directed(b, c, rounding),
    }
}

/// `div` with a rounding mode: correctly rounded.
#[inline]
pub fn div<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::NearestEven => a.div_nearest(b),
        _ => checked(&[a, b], soft::div(F::FORMAT, a.bits(), b.bits(), rounding)),
    }
}

/// `rcp` with a rounding mode: correctly rounded.
#[inline]
pub fn rcp<F: Float>(a: F, rounding: Rounding) -> F {
    div(F::of_bits(F::FORMAT.one()), a, rounding)
}

/// `sqrt` with a rounding mode: correctly rounded.
#[inline]
pub fn sqrt<F: Float>(a: F, rounding: Rounding) -> F {
    match rounding {
        Rounding::NearestEven => a.sqrt_nearest(),
        _ => checked(&[a], soft::sqrt(F::FORMAT, a.bits(), rounding)),
    }
}

/// The result with these bits, or the NaN that the operands give.
#[inline]
fn checked<F: Float>(operands: &[F], bits: u64) -> F {
    let result = F::of_bits(bits);
    if result.is_not_a_number() {
        F::nan_result(operands)
    } else {
        result
    }
}

/// `neg`: flips the sign of a number; a NaN is treated as by arithmetic.
#[inline]
pub fn neg<F: Float>(a: F) -> F {
    if a.is_not_a_number() {
        return F::nan_result(&[a]);
    }
    F::of_bits(a.bits() ^ F::FORMAT.sign_mask())
}

/// `abs`: clears the sign of a number; a NaN is treated as by arithmetic.
#[inline]
pub fn abs<F: Float>(a: F) -> F {
    if a.is_not_a_number() {
        return F::nan_result(&[a]);
    }
    F::of_bits(a.magnitude())
}

/// `copysign`: the sign of `a` with the magnitude of `b`, in PTX's order of
/// operands.
#[inline]
pub fn copysign<F: Float>(a: F, b: F) -> F {
    F::of_bits(a.bits() & F::FORMAT.sign_mask() | b.magnitude())
}

/// `.ftz`: a subnormal becomes a zero of the same sign.
#[inline]
pub fn flush<F: Float>(a: F) -> F {
    let is_subnormal = a.magnitude() < F::FORMAT.smallest_normal();
    if is_subnormal {
        F::of_bits(a.bits() & F::FORMAT.sign_mask())
    } else {
        a
    }
}

/// `add.ftz`. A subnormal sum is exact, so its rounding does not matter.
#[inline]
pub fn add_ftz<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    flush(add(flush(a), flush(b), rounding))
}

/// `sub.ftz`, as [`add_ftz`].
#[inline]
pub fn sub_ftz<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    flush(sub(flush(a), flush(b), rounding))
}

/// `mul.ftz`. Hardware rounds as if exponents had no lower end, then flushes:
/// a product just below the smallest normal number is mostly flushed where
/// rounding to a subnormal would have made it normal.
#[inline]
pub fn mul_ftz<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    let (a, b) = (flush(a), flush(b));
    let product = mul(a, b, rounding);
    flush_result(product, || {
        soft::mul_ftz(F::FORMAT, a.bits(), b.bits(), rounding)
    })
}

/// `fma.ftz`, as [`mul_ftz`].
#[inline]
pub fn fma_ftz<F: Float>(a: F, b: F, c: F, rounding: Rounding) -> F {
    let (a, b, c) = (flush(a), flush(b), flush(c));
    let sum = fma(a, b, c, rounding);
    flush_result(sum, || {
        soft::fma_ftz(F::FORMAT, a.bits(), b.bits(), c.bits(), rounding)
    })
}

/// `div.ftz`, as [`mul_ftz`].
#[inline]
pub fn div_ftz<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    let (a, b) = (flush(a), flush(b));
    let quotient = div(a, b, rounding);
    flush_result(quotient, || {
        soft::div_ftz(F::FORMAT, a.bits(), b.bits(), rounding)
    })
}

/// `rcp.ftz`, as [`mul_ftz`].
#[inline]
pub fn rcp_ftz<F: Float>(a: F, rounding: Rounding) -> F {
    div_ftz(F::of_bits(F::FORMAT.one()), a, rounding)
}

/// `sqrt.ftz`
#[inline]
pub fn sqrt_ftz<F: Float>(a: F, rounding: Rounding) -> F {
    sqrt(flush(a), rounding)
}

/// Flushes `result`; at the smallest normal number `slowly` decides.
#[inline]
fn flush_result<F: Float>(result: F, slowly: impl FnOnce() -> u64) -> F {
    if result.magnitude() == F::FORMAT.smallest_normal() {
        return F::of_bits(slowly());
    }
    flush(result)
}

/// `.sat`: limited to 0 … 1; NaN and -0 become +0.
#[inline]
pub fn saturate<F: Float>(a: F) -> F {
    let bits = if a.has_sign() || a.is_not_a_number() {
        0
    } else {
        a.bits()
    };
    F::of_bits(bits.min(F::FORMAT.one()))
}

/// `.relu`: negative numbers become +0; a NaN becomes the canonical one.
#[inline]
pub fn relu<F: Float>(a: F) -> F {
    if a.is_not_a_number() {
        F::of_bits(F::FORMAT.canonical_nan)
    } else if a.has_sign() {
        F::of_bits(0)
    } else {
        a
    }
}
