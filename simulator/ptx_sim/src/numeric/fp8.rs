//! Floating point of 8 bits and less.
//!
//! | format | exponent, fraction | largest | has |
//! |---|---|---|---|
//! | `e4m3` | 4, 3 | 448 | NaN (all bits but the sign set), no infinity |
//! | `e5m2` | 5, 2 | 57344 | infinity and NaN, the upper half of an `f16` |
//! | `e3m2` | 3, 2 | 28 | neither |
//! | `e2m3` | 2, 3 | 7.5 | neither |
//! | `e2m1` | 2, 1 | 6 | neither |
//!
//! All have subnormal numbers, and all their numbers are `f16` numbers too.

use std::sync::OnceLock;

use super::half::F16;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Small {
    /// `.e4m3`
    E4m3,
    /// `.e5m2`
    E5m2,
    /// `.e3m2`
    E3m2,
    /// `.e2m3`
    E2m3,
    /// `.e2m1`
    E2m1,
}

/// The canonical NaN of `f16`.
const F16_NAN: u16 = 0x7FFF;

impl Small {
    /// By its name in an opcode, e.g. `e4m3`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "e4m3" => Self::E4m3,
            "e5m2" => Self::E5m2,
            "e3m2" => Self::E3m2,
            "e2m3" => Self::E2m3,
            "e2m1" => Self::E2m1,
            _ => return None,
        })
    }

    /// Bits of a number, without padding.
    pub const fn n_bits(self) -> u32 {
        match self {
            Self::E4m3 | Self::E5m2 => 8,
            Self::E3m2 | Self::E2m3 => 6,
            Self::E2m1 => 4,
        }
    }

    const fn fraction_bits(self) -> u32 {
        match self {
            Self::E4m3 | Self::E2m3 => 3,
            Self::E5m2 | Self::E3m2 => 2,
            Self::E2m1 => 1,
        }
    }

    /// The exponent of the smallest normal number.
    const fn least_exponent(self) -> i32 {
        match self {
            Self::E4m3 => -6,
            Self::E5m2 => -14,
            Self::E3m2 => -2,
            Self::E2m3 | Self::E2m1 => 0,
        }
    }

    /// The bits of the largest finite number.
    const fn largest(self) -> u8 {
        match self {
            Self::E4m3 => 0x7E,
            Self::E5m2 => 0x7B,
            Self::E3m2 | Self::E2m3 => 0x1F,
            Self::E2m1 => 0x7,
        }
    }

    /// What a NaN becomes: the canonical one, or, where there is none, the largest
    /// number.
    const fn nan(self) -> u8 {
        match self {
            Self::E4m3 | Self::E5m2 => 0x7F,
            _ => self.largest(),
        }
    }

    /// All numbers as `f16`s, by their bits.
    pub fn all_as_f16(self) -> &'static [u16; 256] {
        static TABLES: [OnceLock<[u16; 256]>; 5] = [const { OnceLock::new() }; 5];
        TABLES[self as usize].get_or_init(|| std::array::from_fn(|bits| self.to_f16(bits as u8)))
    }

    /// As an `f16`, exactly; a NaN as the canonical one.
    pub fn to_f16(self, bits: u8) -> u16 {
        let sign_mask = 1 << (self.n_bits() - 1);
        let magnitude = bits & (sign_mask - 1);
        let sign = u16::from(bits & sign_mask != 0) << 15;
        match self {
            Self::E4m3 if magnitude == 0x7F => return F16_NAN,
            Self::E5m2 if magnitude > 0x7C => return F16_NAN,
            Self::E5m2 => return sign | u16::from(magnitude) << 8,
            _ => {}
        }
        let fraction_bits = self.fraction_bits();
        let field = i32::from(magnitude >> fraction_bits);
        let fraction = magnitude & ((1 << fraction_bits) - 1);
        let significand = if field == 0 {
            fraction
        } else {
            fraction | 1 << fraction_bits
        };
        let exponent = self.least_exponent() + (field - 1).max(0) - fraction_bits as i32;
        let value = f32::from(significand) * power_of_two(exponent);
        sign | F16::from_f32(value).0
    }

    /// The nearest to an `f32`, ties to even; beyond the largest number, that one
    /// (`.satfinite`). With `relu`, 0 for negative numbers.
    pub fn from_f32(self, value: f32, relu: bool) -> u8 {
        if value.is_nan() {
            return self.nan();
        }
        if relu && value.is_sign_negative() {
            return 0;
        }
        let sign = u8::from(value.is_sign_negative()) << (self.n_bits() - 1);
        let magnitude = value.abs();
        let fraction_bits = self.fraction_bits();
        let field = (magnitude.to_bits() >> 23) as i32;
        let exponent = (field - 127).max(self.least_exponent());
        if exponent > 15 {
            return sign | self.largest();
        }
        // In units of the last place: exact, since only a power of two is taken out.
        let units = magnitude * power_of_two(fraction_bits as i32 - exponent);
        let rounded = units.round_ties_even() as u32;
        // Adding handles a carry into the next exponent correctly.
        let base = ((exponent - self.least_exponent()) as u32) << fraction_bits;
        sign | (base + rounded).min(u32::from(self.largest())) as u8
    }
}

/// A power of two that is a normal `f32`.
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Small; 5] = [
        Small::E4m3,
        Small::E5m2,
        Small::E3m2,
        Small::E2m3,
        Small::E2m1,
    ];

    fn value(format: Small, bits: u8) -> f32 {
        F16(format.to_f16(bits)).to_f32()
    }

    #[test]
    fn numbers_are_what_their_formats_say() {
        assert_eq!(value(Small::E4m3, 0x38), 1.0);
        assert_eq!(value(Small::E4m3, 0x7E), 448.0);
        assert_eq!(value(Small::E4m3, 0x81), -(2.0_f32.powi(-9)));
        assert_eq!(value(Small::E5m2, 0x7B), 57344.0);
        assert_eq!(value(Small::E5m2, 0x01), 2.0_f32.powi(-16));
        assert_eq!(value(Small::E5m2, 0xFC), f32::NEG_INFINITY);
        assert_eq!(value(Small::E3m2, 0x1F), 28.0);
        assert_eq!(value(Small::E3m2, 0x21), -0.0625);
        assert_eq!(value(Small::E2m3, 0x1F), 7.5);
        assert_eq!(value(Small::E2m3, 0x01), 0.125);
        let e2m1: Vec<f32> = (0..8).map(|bits| value(Small::E2m1, bits)).collect();
        assert_eq!(e2m1, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    }

    #[test]
    fn every_number_comes_back() {
        for format in ALL {
            for bits in 0..1_u32 << format.n_bits() {
                let bits = bits as u8;
                let value = value(format, bits);
                let is_nan = value.is_nan();
                if !is_nan && value.is_finite() {
                    assert_eq!(format.from_f32(value, false), bits, "{format:?}");
                }
                let negative = bits >> (format.n_bits() - 1) != 0;
                if negative && !is_nan {
                    assert_eq!(format.from_f32(value, true), 0);
                }
            }
        }
    }

    /// Of two neighbours the nearer one is taken, and in a tie the even one.
    #[test]
    fn what_lies_between_goes_to_the_nearest() {
        for format in ALL {
            for bits in 0..format.largest() {
                let (low, high) = (value(format, bits), value(format, bits + 1));
                let middle = (low + high) / 2.0;
                let even = bits + (bits & 1);
                assert_eq!(format.from_f32(middle, false), even, "{format:?} {middle}");
                let above = f32::from_bits(middle.to_bits() + 1);
                let below = f32::from_bits(middle.to_bits() - 1);
                assert_eq!(format.from_f32(above, false), bits + 1);
                assert_eq!(format.from_f32(below, false), bits);
            }
        }
    }

    #[test]
    fn the_rest_is_limited() {
        for format in ALL {
            let negative = format.largest() | 1 << (format.n_bits() - 1);
            for huge in [1e6, 1e38, f32::INFINITY] {
                assert_eq!(format.from_f32(huge, false), format.largest());
                assert_eq!(format.from_f32(-huge, false), negative);
                assert_eq!(format.from_f32(-huge, true), 0);
            }
            assert_eq!(format.from_f32(1e-40, false), 0);
            assert_eq!(format.from_f32(f32::NAN, true), format.nan());
        }
        assert_eq!(Small::E4m3.from_f32(464.0, false), 0x7E);
        assert_eq!(Small::E4m3.to_f16(0xFF), F16_NAN);
        assert_eq!(Small::E5m2.to_f16(0xFD), F16_NAN);
    }
}
