//! Floating point by exact integer arithmetic, for every format and rounding
//! mode.
//!
//! The common cases (round to nearest in `f32` and `f64`) run on the host's
//! own instructions, see `float`; this module does the rest, and the host's results are
//! tested against it. A number is split into an integer significand and a power of two,
//! computed with exactly, and rounded once.

use super::Rounding;

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the significand, the hidden one included.
    pub precision: u32,
    /// Exponent of the largest binade; the smallest normal one is
    /// `1 - max_exponent`.
    pub max_exponent: i32,
    /// Bits it is stored in.
    pub n_bits: u32,
    /// Unused bits at the bottom (tf32 is stored like an f32).
    pub n_padding: u32,
    /// The NaN that hardware gives as a result.
    pub canonical_nan: u64,
}

/// IEEE half precision.
pub const F16: Format = Format {
    precision: 11,
    max_exponent: 15,
    n_bits: 16,
    n_padding: 0,
    canonical_nan: 0x7fff,
};
/// The upper half of an `f32`.
pub const BF16: Format = Format {
    precision: 8,
    max_exponent: 127,
    n_bits: 16,
    n_padding: 0,
    canonical_nan: 0x7fff,
};
/// An `f32` with a significand of 11 bits.
pub const TF32: Format = Format {
    precision: 11,
    max_exponent: 127,
    n_bits: 32,
    n_padding: 13,
    canonical_nan: 0x7fff_e000,
};
/// IEEE single precision.
pub const F32: Format = Format {
    precision: 24,
    max_exponent: 127,
    n_bits: 32,
    n_padding: 0,
    canonical_nan: 0x7fff_ffff,
};
/// IEEE double precision.
pub const F64: Format = Format {
    precision: 53,
    max_exponent: 1023,
    n_bits: 64,
    n_padding: 0,
    canonical_nan: 0xfff8_0000_0000_0000,
};

impl Format {
    /// The sign's bit.
    #[inline]
    pub const fn sign_mask(self) -> u64 {
        1 << (self.n_bits - 1)
    }

    /// Plus infinity.
    #[inline]
    pub const fn infinity(self) -> u64 {
        (2 * self.max_exponent as u64 + 1) << self.fraction_bits() << self.n_padding
    }

    /// The largest finite number.
    #[inline]
    pub const fn largest(self) -> u64 {
        self.infinity() - (1 << self.n_padding)
    }

    /// The smallest normal number.
    #[inline]
    pub const fn smallest_normal(self) -> u64 {
        1 << self.fraction_bits() << self.n_padding
    }

    /// One.
    #[inline]
    pub const fn one(self) -> u64 {
        (self.max_exponent as u64) << self.fraction_bits() << self.n_padding
    }

    #[inline]
    const fn fraction_bits(self) -> u32 {
        self.precision - 1
    }

    #[inline]
    const fn signed(self, is_negative: bool, magnitude: u64) -> u64 {
        if is_negative {
            magnitude | self.sign_mask()
        } else {
            magnitude
        }
    }
}

/// `±significand × 2^exponent`.
///
/// The lowest bit of a significand of more than 64 bits may stand for "and
/// something more": far enough down to decide a rounding, never to reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// The sign, also of zero.
    pub is_negative: bool,
    /// 0 for zero.
    pub significand: u128,
    /// Power of two that the significand counts.
    pub exponent: i32,
}

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// Not a number.
    Nan,
    /// Infinity, by its sign.
    Infinite {
        /// Whether it is minus infinity.
        is_negative: bool,
    },
    /// Anything else.
    Finite(Exact),
}

/// Takes a number apart.
pub fn unpack(format: Format, bits: u64) -> Unpacked {
    let is_negative = bits & format.sign_mask() != 0;
    let magnitude = bits & (format.sign_mask() - 1);
    if magnitude > format.infinity() {
        return Unpacked::Nan;
    }
    if magnitude == format.infinity() {
        return Unpacked::Infinite { is_negative };
    }
    let magnitude = magnitude >> format.n_padding;
    let biased = (magnitude >> format.fraction_bits()) as i32;
    let fraction = magnitude & ((1 << format.fraction_bits()) - 1);
    let hidden = if biased == 0 {
        0
    } else {
        1 << format.fraction_bits()
    };
    let exponent = biased.max(1) - format.max_exponent - format.fraction_bits() as i32;
    Unpacked::Finite(Exact {
        is_negative,
        significand: u128::from(fraction | hidden),
        exponent,
    })
}

impl Exact {
    /// An integer.
    pub fn from_integer(value: i128) -> Self {
        Self {
            is_negative: value < 0,
            significand: value.unsigned_abs(),
            exponent: 0,
        }
    }

    /// Whether it is zero.
    fn is_zero(self) -> bool {
        self.significand == 0
    }

    /// Rounds to an integer of `exponent` or more: the significand then counts
    /// `2^exponent`.
    fn round_at(self, exponent: i32, rounding: Rounding) -> u128 {
        let Ok(shift) = u32::try_from(exponent - self.exponent) else {
            return self.significand << (self.exponent - exponent);
        };
        if shift == 0 || self.is_zero() {
            return self.significand;
        }
        let kept = self.significand.checked_shr(shift).unwrap_or(0);
        let rest = if shift < 128 {
            self.significand & ((1 << shift) - 1)
        } else {
            self.significand
        };
        // Beyond 128 bits the rest is less than half.
        let to_half = if shift <= 128 {
            rest.cmp(&(1 << (shift - 1)))
        } else {
            std::cmp::Ordering::Less
        };
        let is_up = match rounding {
            Rounding::NearestEven => to_half.is_gt() || to_half.is_eq() && kept & 1 == 1,
            Rounding::NearestAway => to_half.is_ge(),
            Rounding::Zero => false,
            Rounding::Down => self.is_negative && rest != 0,
            Rounding::Up => !self.is_negative && rest != 0,
        };
        kept + u128::from(is_up)
    }

    /// Rounds to an integer, saturated to 127 bits.
    pub fn to_integer(self, rounding: Rounding) -> i128 {
        let is_huge = self.exponent > 0
            && !self.is_zero()
            && self.significand.leading_zeros() as i32 - 1 < self.exponent;
        let magnitude = if is_huge {
            i128::MAX
        } else {
            self.round_at(0, rounding) as i128
        };
        if self.is_negative {
            -magnitude
        } else {
            magnitude
        }
    }

    /// Rounds to `format`.
    pub fn pack(self, format: Format, rounding: Rounding) -> u64 {
        if self.is_zero() {
            return format.signed(self.is_negative, 0);
        }
        let highest = 127 - self.significand.leading_zeros() as i32;
        let fraction_bits = format.fraction_bits() as i32;
        let lowest_exponent = 1 - format.max_exponent - fraction_bits;
        let exponent = (self.exponent + highest - fraction_bits).max(lowest_exponent);
        let significand = self.round_at(exponent, rounding) as u64;
        // Adding the significand with its hidden bit carries into the
        // exponent as it should, subnormals and the next binade included.
        let biased = (exponent - lowest_exponent) as u64;
        let magnitude = ((biased << fraction_bits) + significand) << format.n_padding;
        if magnitude < format.infinity() {
            return format.signed(self.is_negative, magnitude);
        }
        let is_infinite = match rounding {
            Rounding::NearestEven | Rounding::NearestAway => true,
            Rounding::Zero => false,
            Rounding::Down => self.is_negative,
            Rounding::Up => !self.is_negative,
        };
        let magnitude = if is_infinite {
            format.infinity()
        } else {
            format.largest()
        };
        format.signed(self.is_negative, magnitude)
    }

    /// Rounds to `format`, and to zero if the result would be subnormal even with an
    /// unbounded exponent range: `.ftz`, as hardware does it.
    fn pack_flushing(self, format: Format, rounding: Rounding) -> u64 {
        if self.is_zero() {
            return format.signed(self.is_negative, 0);
        }
        let highest = 127 - self.significand.leading_zeros() as i32;
        let lowest_place = self.exponent + highest - format.fraction_bits() as i32;
        let significand = self.round_at(lowest_place, rounding);
        let is_carried = significand >> format.precision != 0;
        if self.exponent + highest + i32::from(is_carried) < 1 - format.max_exponent {
            return format.signed(self.is_negative, 0);
        }
        self.pack(format, rounding)
    }

    /// Shifts the significand to the top of 127 bits.
    fn normalised(self) -> Self {
        let shift = self.significand.leading_zeros().saturating_sub(1);
        Self {
            significand: self.significand << shift,
            exponent: self.exponent - shift as i32,
            ..self
        }
    }

    /// The sum; an exact zero takes the sign that `rounding` gives it.
    fn plus(self, other: Self, rounding: Rounding) -> Self {
        let zero_is_negative = rounding == Rounding::Down;
        match (self.is_zero(), other.is_zero()) {
            (true, true) if self.is_negative == other.is_negative => return self,
            (true, true) => {
                return Self {
                    is_negative: zero_is_negative,
                    ..self
                };
            }
            (true, false) => return other,
            (false, true) => return self,
            (false, false) => {}
        }
        // One bit of head room for the carry.
        let (a, b) = (self.normalised(), other.normalised());
        let (large, small) = if a.exponent >= b.exponent {
            (a, b)
        } else {
            (b, a)
        };
        let distance = large.exponent - small.exponent;
        let kept = small.significand.checked_shr(distance as u32).unwrap_or(0);
        let is_cut =
            distance > 0 && (distance >= 128 || small.significand & ((1 << distance) - 1) != 0);
        let aligned = kept | u128::from(is_cut);
        if large.is_negative == small.is_negative {
            return Self {
                significand: large.significand + aligned,
                ..large
            };
        }
        let (significand, is_negative) = if large.significand >= aligned {
            (large.significand - aligned, large.is_negative)
        } else {
            (aligned - large.significand, small.is_negative)
        };
        let is_negative = if significand == 0 {
            zero_is_negative
        } else {
            is_negative
        };
        Self {
            is_negative,
            significand,
            exponent: large.exponent,
        }
    }

    /// The product; significands of at most 64 bits.
    fn times(self, other: Self) -> Self {
        Self {
            is_negative: self.is_negative != other.is_negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The quotient; significands of at most 53 bits, `other` not zero.
    fn over(self, other: Self) -> Self {
        // At least 73 bits of quotient.
        let shift = self.significand.leading_zeros().saturating_sub(1) as i32;
        let dividend = self.significand << shift;
        let quotient = dividend / other.significand;
        let is_cut = !dividend.is_multiple_of(other.significand);
        Self {
            is_negative: self.is_negative != other.is_negative,
            significand: quotient << 1 | u128::from(is_cut),
            exponent: self.exponent - shift - other.exponent - 1,
        }
    }

    /// The square root of a positive number.
    fn root(self) -> Self {
        let mut shift = self.significand.leading_zeros() as i32 - 1;
        if (self.exponent - shift) % 2 != 0 {
            shift -= 1;
        }
        let square = self.significand << shift;
        let root = square.isqrt();
        let is_cut = root * root != square;
        Self {
            is_negative: false,
            significand: root << 1 | u128::from(is_cut),
            exponent: (self.exponent - shift) / 2 - 1,
        }
    }
}

/// The result of an operation, rounded to `format`.
fn finish(format: Format, result: Unpacked, rounding: Rounding) -> u64 {
    match result {
        Unpacked::Nan => format.canonical_nan,
        Unpacked::Infinite { is_negative } => format.signed(is_negative, format.infinity()),
        Unpacked::Finite(exact) => exact.pack(format, rounding),
    }
}

/// As [`finish`], with `.ftz`.
fn finish_flushing(format: Format, result: Unpacked, rounding: Rounding) -> u64 {
    match result {
        Unpacked::Finite(exact) => exact.pack_flushing(format, rounding),
        _ => finish(format, result, rounding),
    }
}

/// `a + b`, exactly; an exact zero takes the sign that `rounding` gives it.
fn sum(a: Unpacked, b: Unpacked, rounding: Rounding) -> Unpacked {
    match (a, b) {
        (Unpacked::Finite(x), Unpacked::Finite(y)) => Unpacked::Finite(x.plus(y, rounding)),
        (Unpacked::Nan, _) | (_, Unpacked::Nan) => Unpacked::Nan,
        (Unpacked::Infinite { is_negative: x }, Unpacked::Infinite { is_negative: y })
            if x != y =>
        {
            Unpacked::Nan
        }
        (Unpacked::Infinite { .. }, _) => a,
        (_, Unpacked::Infinite { .. }) => b,
    }
}

/// `a * b`, exactly.
fn product(format: Format, a: u64, b: u64) -> Unpacked {
    let is_negative = (a ^ b) & format.sign_mask() != 0;
    match (unpack(format, a), unpack(format, b)) {
        (Unpacked::Finite(x), Unpacked::Finite(y)) => Unpacked::Finite(x.times(y)),
        (Unpacked::Nan, _) | (_, Unpacked::Nan) => Unpacked::Nan,
        (Unpacked::Finite(zero), _) | (_, Unpacked::Finite(zero)) if zero.is_zero() => {
            Unpacked::Nan
        }
        _ => Unpacked::Infinite { is_negative },
    }
}

/// `a / b`, exactly but for the lowest bit.
fn quotient(format: Format, a: u64, b: u64) -> Unpacked {
    let is_negative = (a ^ b) & format.sign_mask() != 0;
    let zero = Unpacked::Finite(Exact {
        is_negative,
        significand: 0,
        exponent: 0,
    });
    match (unpack(format, a), unpack(format, b)) {
        (Unpacked::Nan, _)
        | (_, Unpacked::Nan)
        | (Unpacked::Infinite { .. }, Unpacked::Infinite { .. }) => Unpacked::Nan,
        (Unpacked::Infinite { .. }, _) => Unpacked::Infinite { is_negative },
        (_, Unpacked::Infinite { .. }) => zero,
        (Unpacked::Finite(x), Unpacked::Finite(y)) => match (x.is_zero(), y.is_zero()) {
            (true, true) => Unpacked::Nan,
            (true, false) => zero,
            (false, true) => Unpacked::Infinite { is_negative },
            (false, false) => Unpacked::Finite(x.over(y)),
        },
    }
}

/// `a + b`
pub fn add(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    finish(
        format,
        sum(unpack(format, a), unpack(format, b), rounding),
        rounding,
    )
}

/// `a * b`
pub fn mul(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    finish(format, product(format, a, b), rounding)
}

/// `a * b + c`, rounded once.
pub fn fma(format: Format, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    finish(
        format,
        sum(product(format, a, b), unpack(format, c), rounding),
        rounding,
    )
}

/// `a / b`
pub fn div(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    finish(format, quotient(format, a, b), rounding)
}

/// `a * b` with a subnormal result flushed.
pub fn mul_ftz(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    finish_flushing(format, product(format, a, b), rounding)
}

/// `a * b + c` with a subnormal result flushed.
pub fn fma_ftz(format: Format, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    finish_flushing(
        format,
        sum(product(format, a, b), unpack(format, c), rounding),
        rounding,
    )
}

/// `a / b` with a subnormal result flushed.
pub fn div_ftz(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    finish_flushing(format, quotient(format, a, b), rounding)
}

/// The square root.
pub fn sqrt(format: Format, a: u64, rounding: Rounding) -> u64 {
    match unpack(format, a) {
        Unpacked::Finite(x) if x.is_zero() => a,
        Unpacked::Finite(x) if !x.is_negative => x.root().pack(format, rounding),
        Unpacked::Infinite { is_negative: false } => a,
        _ => format.canonical_nan,
    }
}

/// From one format to another.
pub fn convert(from: Format, to: Format, bits: u64, rounding: Rounding) -> u64 {
    match unpack(from, bits) {
        Unpacked::Nan => to.canonical_nan,
        Unpacked::Infinite { is_negative } => to.signed(is_negative, to.infinity()),
        Unpacked::Finite(exact) => exact.pack(to, rounding),
    }
}

/// To an integer in the same format: `cvt.rni.f32.f32` and similar. Keeps the sign of a
/// result that is zero.
pub fn round_to_integer(format: Format, bits: u64, rounding: Rounding) -> u64 {
    match unpack(format, bits) {
        Unpacked::Nan => format.canonical_nan,
        Unpacked::Infinite { .. } => bits,
        Unpacked::Finite(exact) if exact.exponent >= 0 => bits,
        Unpacked::Finite(exact) => Exact {
            significand: exact.round_at(0, rounding),
            exponent: 0,
            ..exact
        }
        .pack(format, rounding),
    }
}
