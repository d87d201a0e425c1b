//! Float functions that `core` lacks, by the device's instructions or in portable
//! code.
//!
//! There are three kinds. The exact ones round correctly, as IEEE 754 requires (`sqrt`,
//! `mul_add`, …): one instruction, or a few. The well-bounded ones (`sin`, `exp`, …) are
//! those of the crate `libm`, compiled for the device: calls of some tens of
//! instructions. Both give the same bits on the host and on the device. Those with
//! `approx` in their name are one instruction of the special function unit, with
//! PTX's error bounds, given next to each; they run only on the device.
//!
//! The largest errors of the well-bounded functions seen by a test
//! (`tests/library-kernels/tests/all/math.rs`), in units of the last place of the exact
//! result; 0.5 is correct rounding. The test compares 3,000 results of `f64` with 192-bit
//! arithmetic, and 50,000 of `f32` with `f64`; it fails if the table differs from what it finds.
//!
//! | function | `f32` | `f64` |
//! |---|---|---|
//! | `sin` | 0.51 | 0.67 |
//! | `cos` | 0.51 | 0.76 |
//! | `tan` | 0.80 | 0.66 |
//! | `asin` | 0.69 | 0.69 |
//! | `acos` | 0.87 | 0.79 |
//! | `atan` | 0.74 | 0.61 |
//! | `exp` | 0.86 | 0.77 |
//! | `exp2` | 0.51 | 0.51 |
//! | `ln` | 0.75 | 0.70 |
//! | `log2` | 0.81 | 0.54 |
//! | `log10` | 0.78 | 0.58 |
//! | `tanh` | 1.98 | 1.82 |
//! | `powf` | 0.82 | 0.80 |
//!
//! `sin`, `cos` and `tan` of `f32` compute in `f64`, which is slow on GPUs for
//! games. Arguments far from 0 (beyond 2²⁰ for `f64`, 2²⁸ for `f32`) are reduced with
//! arrays in local memory.
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
        /// Float functions for kernels; the name is Rust-CUDA's.
        pub trait GpuFloat: Copy {
            $(
                $(#[$doc])*
                fn $name(self $(, $arg: Self)*) -> Self;
            )*
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
    /// The nearest whole number; ties go to the even one.
    fn round_ties_even(self);
    /// `1 / self`, correctly rounded.
    fn recip_exact(self);
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
    /// `e^self`.
    fn exp(self);
    /// `2^self`.
    fn exp2(self);
    /// The natural logarithm; NaN for negative numbers.
    fn ln(self);
    /// The logarithm to base 2; NaN for negative numbers.
    fn log2(self);
    /// The logarithm to base 10; NaN for negative numbers.
    fn log10(self);
    /// The hyperbolic tangent.
    fn tanh(self);
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
    portable! {
        sin() = libm::sinf;
        cos() = libm::cosf;
        tan() = libm::tanf;
        asin() = libm::asinf;
        acos() = libm::acosf;
        atan() = libm::atanf;
        exp() = libm::expf;
        exp2() = libm::exp2f;
        ln() = libm::logf;
        log2() = libm::log2f;
        log10() = libm::log10f;
        tanh() = libm::tanhf;
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
    portable! {
        sin() = libm::sin;
        cos() = libm::cos;
        tan() = libm::tan;
        asin() = libm::asin;
        acos() = libm::acos;
        atan() = libm::atan;
        exp() = libm::exp;
        exp2() = libm::exp2;
        ln() = libm::log;
        log2() = libm::log2;
        log10() = libm::log10;
        tanh() = libm::tanh;
        powf(exponent) = libm::pow;
    }
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
