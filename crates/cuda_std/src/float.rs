//! Float functions that `core` lacks, by the device's instructions or in portable
//! code.
//!
//! There are three kinds. The exact ones round correctly, as IEEE 754 requires (`sqrt`,
//! `mul_add`, `round`, …): one instruction, or a few. The well-bounded ones (`sin`, `exp`, …) are
//! those of the crate `libm`, compiled for the device: calls of some tens of
//! instructions. Both give the same bits on the host and on the device. Those with
//! `approx` in their name are one instruction of the special function unit, with
//! PTX's error bounds, given next to each; they run only on the device.
//!
//! The largest errors of the well-bounded functions seen by a test
//! (`tests/library-kernels/tests/all/math.rs`), in units of the last place of the exact
//! result; 0.5 is correct rounding. The test compares 5,000 results of `f64` with 192-bit
//! arithmetic, and 200,000 of `f32` with `f64`; it fails if the table differs from what it finds.
//!
//! | function | `f32` | `f64` |
//! |---|---|---|
//! | `sin` | 0.51 | 0.73 |
//! | `cos` | 0.51 | 0.76 |
//! | `tan` | 0.80 | 0.74 |
//! | `asin` | 0.73 | 0.71 |
//! | `acos` | 0.89 | 0.83 |
//! | `atan` | 0.74 | 0.67 |
//! | `atan2` | 1.43 | 1.11 |
//! | `exp` | 0.85 | 0.75 |
//! | `exp2` | 0.51 | 0.51 |
//! | `exp_m1` | 0.75 | 0.73 |
//! | `ln` | 0.80 | 0.70 |
//! | `ln_1p` | 0.78 | 0.77 |
//! | `log` | 2.38 | 1.85 |
//! | `log2` | 0.81 | 0.54 |
//! | `log10` | 0.80 | 0.58 |
//! | `sinh` | 1.67 | 1.39 |
//! | `cosh` | 1.26 | 1.08 |
//! | `tanh` | 2.12 | 1.82 |
//! | `asinh` | 1.50 | 1.01 |
//! | `acosh` | 2.01 | 1.56 |
//! | `atanh` | 1.59 | 1.42 |
//! | `cbrt` | 0.50 | 0.78 |
//! | `hypot` | 0.84 | 0.83 |
//! | `powf` | 0.84 | 0.80 |
//! | `powi` | 11.38 | 7.59 |
//!
//! That of `powi` is for exponents from −16 to 16, and grows with them. `sin_cos` gives the bits of
//! `sin` and `cos`.
//!
//! `sin`, `cos` and `tan` of `f32` compute in `f64`, which is slow on GPUs for
//! games.
//!
//! Local memory is used by
//!
//! - angles far from 0 (beyond 2²⁰ for `f64`, 2²⁸ for `f32`), which are reduced with arrays there;
//! - `f64` angles beyond π/4, 24 bytes, where a kernel has more than one such call;
//! - `exp_m1`, `sinh` and `tanh` of `f64`, which write 8 bytes that nobody reads;
//! - other functions, where the argument or the result is next to nothing, or the result too large: a
//!   word of that kind. `exp(0)` is such a case, which each row of a softmax has.
//!
//! `exp` and others read small tables, from global memory; the `_approx` functions read none.
//!
//! If a crate of the host program links `std`, `x.sin()` is `std`'s on the host; write
//! `GpuFloat::sin(x)` if the exact bits matter.
//!
//! Left out: correctly rounded transcendental functions.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::gpu_only;

macro_rules! float_trait {
    ($($(#[$doc:meta])* fn $name:ident(self $(, $arg:ident)*);)*) => {
        /// Float functions for kernels; the name is Rust-CUDA's, and so are those of the methods.
        pub trait GpuFloat: Copy {
            $(
                $(#[$doc])*
                fn $name(self $(, $arg: Self)*) -> Self;
            )*
            /// `self^n`, by `log₂ n` to `2 log₂ n` multiplications, which a constant `n` leaves
            /// without a loop; of a negative `n` the reciprocal of `self^-n`.
            fn powi(self, n: i32) -> Self;
            /// [`sin`](Self::sin) and [`cos`](Self::cos), at less than the cost of both.
            fn sin_cos(self) -> (Self, Self);
        }
    };
}
float_trait! {
    /// The square root, correctly rounded.
    fn sqrt(self);
    /// `self * a + b`, rounded once.
    fn mul_add(self, a, b);
    /// The largest whole number not above `self`.
    fn floor(self);
    /// The smallest whole number not below `self`.
    fn ceil(self);
    /// The whole part.
    fn trunc(self);
    /// What [`trunc`](Self::trunc) leaves.
    fn fract(self);
    /// The nearest whole number; ties go away from 0.
    fn round(self);
    /// The nearest whole number; ties go to the even one.
    fn round_ties_even(self);
    /// `1 / self`, correctly rounded.
    fn recip_exact(self);
    /// Without its sign.
    fn abs(self);
    /// 1 or −1 with the sign of `self`, also of a zero; NaN for NaN.
    fn signum(self);
    /// `self` with the sign of `sign`.
    fn copysign(self, sign);
    /// The whole number `n` for which `self - n * divisor` is
    /// [`rem_euclid`](Self::rem_euclid), as far as `self / divisor` can be rounded to one.
    fn div_euclid(self, divisor);
    /// The remainder of a division by `divisor`, from 0 to `|divisor|`: exact unless `self` is
    /// negative, and then rounded once. A loop over the bits of the quotient.
    ///
    /// (Not `self % divisor`, which the device computes by a rounded quotient.)
    fn rem_euclid(self, divisor);
    /// The sine of an angle in radians.
    fn sin(self);
    /// The cosine of an angle in radians.
    fn cos(self);
    /// The tangent of an angle in radians.
    fn tan(self);
    /// The angle from −π/2 to π/2 with this sine; NaN outside −1 to 1.
    fn asin(self);
    /// The angle from 0 to π with this cosine; NaN outside −1 to 1.
    fn acos(self);
    /// The angle from −π/2 to π/2 with this tangent.
    fn atan(self);
    /// The angle from −π to π at which the point `(x, self)` lies, seen from `(0, 0)`.
    fn atan2(self, x);
    /// `e^self`.
    fn exp(self);
    /// `2^self`.
    fn exp2(self);
    /// `e^self - 1`, also near 0.
    fn exp_m1(self);
    /// The natural logarithm; NaN for negative numbers.
    fn ln(self);
    /// The natural logarithm of `1 + self`, also near 0.
    fn ln_1p(self);
    /// The logarithm to this base, as the quotient of two natural ones.
    fn log(self, base);
    /// The logarithm to base 2; NaN for negative numbers.
    fn log2(self);
    /// The logarithm to base 10; NaN for negative numbers.
    fn log10(self);
    /// The hyperbolic sine.
    fn sinh(self);
    /// The hyperbolic cosine.
    fn cosh(self);
    /// The hyperbolic tangent.
    fn tanh(self);
    /// The number with this hyperbolic sine.
    fn asinh(self);
    /// The number from 0 on with this hyperbolic cosine; NaN below 1.
    fn acosh(self);
    /// The number with this hyperbolic tangent; NaN outside −1 to 1.
    fn atanh(self);
    /// The cube root.
    fn cbrt(self);
    /// `sqrt(self² + other²)`, without overflow on the way.
    fn hypot(self, other);
    /// `self^exponent`.
    fn powf(self, exponent);
}

/// The result of `instruction`, in a register.
#[cfg(target_arch = "nvptx64")]
macro_rules! in_one_instruction {
    ($instruction:literal, $register:ident, $($arg:expr),*) => {{
        let result;
        // SAFETY: only computes.
        unsafe {
            asm!(
                $instruction,
                out($register) result, $(in($register) $arg),*,
                options(pure, nomem, nostack)
            );
        }
        result
    }};
}

/// An instruction on the device, and on the host a function that rounds the same way.
macro_rules! exact {
    ($($name:ident = $instruction:literal, $register:ident, $host:expr;)*) => { $(
        #[inline(always)]
        fn $name(self) -> Self {
            #[cfg(target_arch = "nvptx64")]
            {
                in_one_instruction!($instruction, $register, self)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                $host(self)
            }
        }
    )* };
}

/// A function that the compiler knows, and can evaluate early or move.
macro_rules! multiply_add {
    ($intrinsic:ident, $host:path) => {
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            #[cfg(target_arch = "nvptx64")]
            {
                core::intrinsics::$intrinsic(self, a, b)
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                $host(self, a, b)
            }
        }
    };
}

/// The same portable code on both sides.
macro_rules! portable {
    ($($name:ident($($arg:ident),*) = $function:path;)*) => { $(
        #[inline]
        fn $name(self $(, $arg: Self)*) -> Self {
            $function(self $(, $arg)*)
        }
    )* };
}

/// What others are enough for, on both sides in the same steps.
macro_rules! composed {
    ($fmod:path, $sin_cos:path) => {
        #[inline(always)]
        fn abs(self) -> Self {
            self.abs()
        }
        #[inline(always)]
        fn signum(self) -> Self {
            self.signum()
        }
        #[inline(always)]
        fn copysign(self, sign: Self) -> Self {
            self.copysign(sign)
        }
        #[inline(always)]
        fn fract(self) -> Self {
            self - GpuFloat::trunc(self)
        }
        #[inline(always)]
        fn round(self) -> Self {
            // The number before 0.5, plus 0.5, would round to 1.
            let below_half = 0.5 - Self::EPSILON / 4.0;
            GpuFloat::trunc(self + below_half.copysign(self))
        }
        #[inline]
        fn div_euclid(self, divisor: Self) -> Self {
            let quotient = GpuFloat::trunc(self / divisor);
            if $fmod(self, divisor) < 0.0 {
                quotient - divisor.signum()
            } else {
                quotient
            }
        }
        #[inline]
        fn rem_euclid(self, divisor: Self) -> Self {
            let remainder = $fmod(self, divisor);
            if remainder < 0.0 {
                remainder + divisor.abs()
            } else {
                remainder
            }
        }
        #[inline]
        fn log(self, base: Self) -> Self {
            GpuFloat::ln(self) / GpuFloat::ln(base)
        }
        #[inline(always)]
        fn powi(self, n: i32) -> Self {
            let (mut rest, mut square, mut power) = (n.unsigned_abs(), self, 1.0);
            loop {
                if rest & 1 == 1 {
                    power *= square;
                }
                rest >>= 1;
                if rest == 0 {
                    break;
                }
                square *= square;
            }
            if n < 0 { 1.0 / power } else { power }
        }
        #[inline]
        fn sin_cos(self) -> (Self, Self) {
            $sin_cos(self)
        }
    };
}

impl GpuFloat for f32 {
    exact! {
        sqrt = "sqrt.rn.f32 {}, {};", reg32, libm::sqrtf;
        floor = "cvt.rmi.f32.f32 {}, {};", reg32, libm::floorf;
        ceil = "cvt.rpi.f32.f32 {}, {};", reg32, libm::ceilf;
        trunc = "cvt.rzi.f32.f32 {}, {};", reg32, libm::truncf;
        round_ties_even = "cvt.rni.f32.f32 {}, {};", reg32, libm::rintf;
        recip_exact = "rcp.rn.f32 {}, {};", reg32, |x| 1.0 / x;
    }
    multiply_add!(fmaf32, libm::fmaf);
    composed!(libm::fmodf, libm::sincosf);
    portable! {
        sin() = libm::sinf;
        cos() = libm::cosf;
        tan() = libm::tanf;
        asin() = libm::asinf;
        acos() = libm::acosf;
        atan() = libm::atanf;
        atan2(x) = libm::atan2f;
        exp() = libm::expf;
        exp2() = libm::exp2f;
        exp_m1() = libm::expm1f;
        ln() = libm::logf;
        ln_1p() = libm::log1pf;
        log2() = libm::log2f;
        log10() = libm::log10f;
        sinh() = libm::sinhf;
        cosh() = libm::coshf;
        tanh() = libm::tanhf;
        asinh() = libm::asinhf;
        acosh() = libm::acoshf;
        atanh() = libm::atanhf;
        cbrt() = libm::cbrtf;
        hypot(other) = libm::hypotf;
        powf(exponent) = libm::powf;
    }
}

impl GpuFloat for f64 {
    exact! {
        sqrt = "sqrt.rn.f64 {}, {};", reg64, libm::sqrt;
        floor = "cvt.rmi.f64.f64 {}, {};", reg64, libm::floor;
        ceil = "cvt.rpi.f64.f64 {}, {};", reg64, libm::ceil;
        trunc = "cvt.rzi.f64.f64 {}, {};", reg64, libm::trunc;
        round_ties_even = "cvt.rni.f64.f64 {}, {};", reg64, libm::rint;
        recip_exact = "rcp.rn.f64 {}, {};", reg64, |x| 1.0 / x;
    }
    multiply_add!(fmaf64, libm::fma);
    composed!(libm::fmod, libm::sincos);
    portable! {
        sin() = libm::sin;
        cos() = libm::cos;
        tan() = libm::tan;
        asin() = libm::asin;
        acos() = libm::acos;
        atan() = libm::atan;
        atan2(x) = libm::atan2;
        exp() = libm::exp;
        exp2() = libm::exp2;
        exp_m1() = libm::expm1;
        ln() = libm::log;
        ln_1p() = libm::log1p;
        log2() = libm::log2;
        log10() = libm::log10;
        sinh() = libm::sinh;
        cosh() = libm::cosh;
        tanh() = libm::tanh;
        asinh() = libm::asinh;
        acosh() = libm::acosh;
        atanh() = libm::atanh;
        cbrt() = cube_root;
        hypot(other) = libm::hypot;
        powf(exponent) = libm::pow;
    }
}

/// [`GpuFloat::cbrt`] of `f64`: `libm`'s has an array in local memory, and emulates `fma`.
#[inline]
fn cube_root(x: f64) -> f64 {
    const fn power_of_two(exponent: i64) -> f64 {
        f64::from_bits(((1023 + exponent) as u64) << 52)
    }
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    // To where no step overflows or becomes subnormal.
    let (scale, back) = match x.abs() {
        x if x < power_of_two(-500) => (power_of_two(600), power_of_two(-200)),
        x if x > power_of_two(500) => (power_of_two(-600), power_of_two(200)),
        _ => (1.0, 1.0),
    };
    let scaled = x.abs() * scale;
    // A third of the exponent, with the bias at which the error is smallest: less than 1/20.
    let mut root = f64::from_bits(scaled.to_bits() / 3 + (0x2A9F_7893 << 32));
    // Halley's method: each step triples the number of right digits.
    for _ in 0..3 {
        let cube = root * root * root;
        root -= root * ((cube - scaled) / (cube + cube + scaled));
    }
    (root * back).copysign(x)
}

macro_rules! approximations {
    ($($(#[$doc:meta])* $name:ident = $instruction:literal;)*) => {
        /// Approximations in one instruction, for `f32`.
        pub trait GpuFloatApprox: Copy {
            $(
                $(#[$doc])*
                fn $name(self) -> Self;
            )*
        }
        impl GpuFloatApprox for f32 {
            $(
                #[gpu_only]
                #[inline(always)]
                fn $name(self) -> Self {
                    in_one_instruction!($instruction, reg32, self)
                }
            )*
        }
    };
}
approximations! {
    /// `1 / sqrt(self)`; relative error up to 2⁻²²·⁹.
    rsqrt_approx = "rsqrt.approx.f32 {}, {};";
    /// `sqrt(self)`; relative error up to 2⁻²³.
    sqrt_approx = "sqrt.approx.f32 {}, {};";
    /// `1 / self`; error up to 1 unit in the last place.
    recip_approx = "rcp.approx.f32 {}, {};";
    /// `sin(self)`, in radians; absolute error up to 2⁻²⁰·⁹ for −π to π.
    sin_approx = "sin.approx.f32 {}, {};";
    /// `cos(self)`, in radians; absolute error up to 2⁻²⁰·⁹ for −π to π.
    cos_approx = "cos.approx.f32 {}, {};";
    /// `2^self`; relative error up to 2⁻²²·⁵.
    exp2_approx = "ex2.approx.f32 {}, {};";
    /// `log₂(self)`; absolute error up to 2⁻²² near 1, relative elsewhere.
    log2_approx = "lg2.approx.f32 {}, {};";
    /// `tanh(self)`; relative error up to 2⁻¹¹.
    tanh_approx = "tanh.approx.f32 {}, {};";
}
