//! Floating-point numbers of 8 bits, computed with as CUDA does: as numbers of 16 bits, whose result
//! is rounded and limited to the greatest finite number.

use half::f16;

/// A format of 8 bits: `E` of them are the exponent's.
#[derive(Clone, Copy)]
pub struct Float8<const E: u32>(pub u8);

/// Four bits of exponent, no infinities.
pub type E4M3 = Float8<4>;
/// Five bits of exponent: the upper half of a number of 16 bits.
pub type E5M2 = Float8<5>;

impl<const E: u32> Float8<E> {
    const MANTISSA: u32 = 7 - E;
    const BIAS: i32 = (1 << (E - 1)) - 1;
    const NAN: u8 = 0x7f;
    /// The greatest finite number, as bits.
    const GREATEST: u8 = if E == 4 { 0x7e } else { 0x7b };

    /// The number, exactly.
    pub fn to_f16(self) -> f16 {
        if E == 5 {
            return f16::from_bits(u16::from(self.0) << 8);
        }
        let (sign, bits) = (self.0 & 0x80, self.0 & 0x7f);
        if bits == Self::NAN {
            return f16::NAN;
        }
        let fraction = f32::from(bits & ((1 << Self::MANTISSA) - 1)) / (1 << Self::MANTISSA) as f32;
        let exponent = i32::from(bits >> Self::MANTISSA);
        let value = match exponent {
            0 => fraction * 2_f32.powi(1 - Self::BIAS),
            _ => (1.0 + fraction) * 2_f32.powi(exponent - Self::BIAS),
        };
        f16::from_f32(if sign == 0 { value } else { -value })
    }

    /// The nearest number, of two equally near ones the even one; what is too great becomes the
    /// greatest.
    pub fn from_f32(value: f32) -> Self {
        if value.is_nan() {
            return Self(Self::NAN);
        }
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        let size = value.abs();
        // Neighbouring numbers differ by this much, where `size` is.
        let exponent = (size.to_bits() >> 23) as i32 - 127;
        let exponent = exponent.max(1 - Self::BIAS);
        let step = 2_f32.powi(exponent - Self::MANTISSA as i32);
        let steps = (size / step).round_ties_even();
        // Steps beyond those of the exponent go on in the next one.
        let below = (exponent + Self::BIAS - 1) << Self::MANTISSA;
        let bits = below as f32 + steps;
        Self(sign | bits.min(f32::from(Self::GREATEST)) as u8)
    }
}
