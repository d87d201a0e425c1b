//! Conversions by the device's instructions: between half precision and `f32`, and
//! from `f32` to `u32`.
//!
//! Rust's own conversions work too, but take more instructions: those of the `half` crate
//! (`to_f32`, `from_f32`) some thirty, `as u32` five.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use half::{bf16, f16};

use crate::gpu_only;
use crate::vector::{Bf16x2, F16x2};

/// The whole part of `value`, saturated to `u32`: 0 for negative numbers
/// and NaN. The same as `value as u32`, which compares before and after the
/// conversion, because not every processor's own instruction does so.
#[inline(always)]
pub fn whole_part(value: f32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let whole;
        // SAFETY: only computes.
        unsafe {
            asm!("cvt.rzi.u32.f32 {}, {};", out(reg32) whole, in(reg32) value, options(pure, nomem, nostack));
        }
        whole
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        value as u32
    }
}

/// A half-precision float, converted by the device.
pub trait GpuHalf: Copy {
    /// The same number as an `f32`; exact.
    fn widen(self) -> f32;
    /// The nearest number to `value`, ties to even; too large becomes infinite.
    fn narrow(value: f32) -> Self;
}

impl GpuHalf for f16 {
    #[gpu_only]
    #[inline(always)]
    fn widen(self) -> f32 {
        let wide;
        // SAFETY: only computes.
        unsafe {
            asm!("cvt.f32.f16 {}, {};", out(reg32) wide, in(reg16) self.to_bits(), options(pure, nomem, nostack));
        }
        wide
    }

    #[gpu_only]
    #[inline(always)]
    fn narrow(value: f32) -> Self {
        let bits;
        // SAFETY: only computes.
        unsafe {
            asm!("cvt.rn.f16.f32 {}, {};", out(reg16) bits, in(reg32) value, options(pure, nomem, nostack));
        }
        Self::from_bits(bits)
    }
}

impl GpuHalf for bf16 {
    /// A `bf16` is the upper half of an `f32`.
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[gpu_only]
    #[inline(always)]
    fn narrow(value: f32) -> Self {
        let bits;
        // SAFETY: only computes.
        unsafe {
            asm!("cvt.rn.bf16.f32 {}, {};", out(reg16) bits, in(reg32) value, options(pure, nomem, nostack));
        }
        Self::from_bits(bits)
    }
}

macro_rules! packed {
    ($($name:ident: $convert:literal;)*) => { $(
        impl $name {
            /// Two `f32`, each rounded to the nearest, ties to even, by one
            /// instruction.
            #[gpu_only]
            #[inline(always)]
            pub fn narrow(x: f32, y: f32) -> Self {
                let bits;
                // SAFETY: only computes.
                unsafe {
                    // PTX takes the upper half first.
                    asm!($convert, out(reg32) bits, in(reg32) y, in(reg32) x, options(pure, nomem, nostack));
                }
                Self::from_bits(bits)
            }

            /// Both halves as `f32`; exact.
            #[inline(always)]
            pub fn widen(self) -> [f32; 2] {
                [self.x.widen(), self.y.widen()]
            }
        }
    )* };
}
packed! {
    F16x2: "cvt.rn.f16x2.f32 {}, {}, {};";
    Bf16x2: "cvt.rn.bf16x2.f32 {}, {}, {};";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bf16_widens_as_the_half_crate_has_it() {
        for bits in 0..=u16::MAX {
            let value = bf16::from_bits(bits);
            let (ours, theirs) = (value.widen(), value.to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()));
        }
    }

    #[test]
    fn packed_halves_keep_their_places() {
        let pair = F16x2::new(f16::from_f32(1.0), f16::from_f32(-2.0));
        assert_eq!(pair.to_bits(), 0xC000_3C00);
        assert_eq!(F16x2::from_bits(pair.to_bits()), pair);
    }
}
