//! Float functions that `core` has not, by the device's instructions.
//!
//! Two kinds. The exact ones round correctly, as IEEE 754 says (`sqrt`,
//! `mul_add`, …). Those with `approx` in their name are one instruction of the
//! special function unit, and their error is PTX's: it stands beside each.
//!
//! Left out: correctly rounded `sin`, `exp`, `ln`, …, for which no instruction
//! is; the `libm` crate has them in portable Rust.

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
    /// The largest whole number that is not above `self`.
    fn floor(self);
    /// The smallest whole number that is not below `self`.
    fn ceil(self);
    /// The whole part.
    fn trunc(self);
    /// The nearest whole number; ties go to the even one.
    fn round_ties_even(self);
    /// `1 / self`, correctly rounded.
    fn recip_exact(self);
}

macro_rules! instruction {
    ($name:ident($($arg:ident),*), $instruction:literal, $register:ident) => {
        #[gpu_only]
        #[inline(always)]
        fn $name(self $(, $arg: Self)*) -> Self {
            let result;
            // SAFETY: computes.
            unsafe {
                asm!(
                    $instruction,
                    out($register) result, in($register) self $(, in($register) $arg)*,
                    options(pure, nomem, nostack)
                );
            }
            result
        }
    };
}

/// One that the compiler knows, and can compute beforehand or move.
macro_rules! compiler_intrinsic {
    ($name:ident($($arg:ident),*), $intrinsic:ident) => {
        #[gpu_only]
        #[inline(always)]
        fn $name(self $(, $arg: Self)*) -> Self {
            core::intrinsics::$intrinsic(self $(, $arg)*)
        }
    };
}

impl GpuFloat for f32 {
    instruction!(sqrt(), "sqrt.rn.f32 {}, {};", reg32);
    compiler_intrinsic!(mul_add(a, b), fmaf32);
    instruction!(floor(), "cvt.rmi.f32.f32 {}, {};", reg32);
    instruction!(ceil(), "cvt.rpi.f32.f32 {}, {};", reg32);
    instruction!(trunc(), "cvt.rzi.f32.f32 {}, {};", reg32);
    instruction!(round_ties_even(), "cvt.rni.f32.f32 {}, {};", reg32);
    instruction!(recip_exact(), "rcp.rn.f32 {}, {};", reg32);
}

impl GpuFloat for f64 {
    instruction!(sqrt(), "sqrt.rn.f64 {}, {};", reg64);
    compiler_intrinsic!(mul_add(a, b), fmaf64);
    instruction!(floor(), "cvt.rmi.f64.f64 {}, {};", reg64);
    instruction!(ceil(), "cvt.rpi.f64.f64 {}, {};", reg64);
    instruction!(trunc(), "cvt.rzi.f64.f64 {}, {};", reg64);
    instruction!(round_ties_even(), "cvt.rni.f64.f64 {}, {};", reg64);
    instruction!(recip_exact(), "rcp.rn.f64 {}, {};", reg64);
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
            $( instruction!($name(), $instruction, reg32); )*
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
