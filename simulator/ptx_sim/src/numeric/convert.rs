//! `cvt`: between integers and floating-point numbers of every width.

use super::Rounding;
use super::float::{Float, canonical_f32, flush, relu, saturate};
use super::half::{Bf16, F16};
use super::soft::{self, Exact, Format};
use ptx::ir::Type;

/// A number type that `cvt` reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// An integer.
    Int(Int),
    /// A floating-point number.
    Float(Format),
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// 8, 16, 32 or 64.
    pub n_bits: u32,
    /// Whether it has a sign.
    pub is_signed: bool,
}

impl Number {
    /// The number type that a PTX type is; bits count as unsigned, and packed types and
    /// predicates are not numbers.
    pub fn of_type(ty: Type) -> Option<Self> {
        let int = |is_signed| {
            Some(Self::Int(Int {
                n_bits: 8 * ty.size_bytes(),
                is_signed,
            }))
        };
        match ty {
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => int(false),
            Type::B8 | Type::B16 | Type::B32 | Type::B64 => int(false),
            Type::S8 | Type::S16 | Type::S32 | Type::S64 => int(true),
            Type::F16 => Some(Self::Float(soft::F16)),
            Type::Bf16 => Some(Self::Float(soft::BF16)),
            Type::Tf32 => Some(Self::Float(soft::TF32)),
            Type::F32 => Some(Self::Float(soft::F32)),
            Type::F64 => Some(Self::Float(soft::F64)),
            Type::Pred | Type::B128 | Type::F16x2 | Type::Bf16x2 => None,
        }
    }
}

impl Int {
    /// The lower bits of a word as a number.
    #[inline]
    fn value(self, bits: u64) -> i128 {
        let word = self.extend(bits);
        if self.is_signed {
            i128::from(word as i64)
        } else {
            i128::from(word)
        }
    }

    /// The lower bits of a word, extended to 64 by their own sign.
    #[inline]
    fn extend(self, bits: u64) -> u64 {
        let unused = 64 - self.n_bits;
        if self.is_signed {
            ((bits << unused) as i64 >> unused) as u64
        } else {
            bits << unused >> unused
        }
    }

    #[inline]
    fn lowest(self) -> i128 {
        if self.is_signed {
            -(1 << (self.n_bits - 1))
        } else {
            0
        }
    }

    #[inline]
    fn highest(self) -> i128 {
        if self.is_signed {
            (1 << (self.n_bits - 1)) - 1
        } else {
            (1 << self.n_bits) - 1
        }
    }
}

/// A `cvt` with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// What is read.
    pub from: Number,
    /// What is written.
    pub to: Number,
    /// `.rn` … `.rpi`; for a conversion that needs none, any.
    pub rounding: Rounding,
    /// Between floating-point numbers: round to an integer (`.rni` …).
    pub to_integral: bool,
    /// `.ftz`: flush subnormal `f32` operands and results.
    pub ftz: bool,
    /// `.sat`: limit to the integer type, or to 0 … 1.
    pub saturate: bool,
    /// `.relu`: negative numbers become 0.
    pub relu: bool,
    /// `.satfinite`: limit to the largest finite number.
    pub finite: bool,
}

impl Conversion {
    /// A conversion without modifiers.
    pub fn new(from: Number, to: Number, rounding: Rounding) -> Self {
        Self {
            from,
            to,
            rounding,
            to_integral: false,
            ftz: false,
            saturate: false,
            relu: false,
            finite: false,
        }
    }

    /// Converts the lower bits of a word. An integer result is extended to 64
    /// bits by its own sign, for the caller to cut to the register's width.
    #[inline]
    pub fn apply(&self, bits: u64) -> u64 {
        match (self.from, self.to) {
            (Number::Int(from), Number::Int(to)) => int_to_int(from, to, self.saturate, bits),
            (Number::Int(from), Number::Float(to)) => {
                self.finish(to, int_to_float(from, to, self.rounding, bits))
            }
            (Number::Float(from), Number::Int(to)) => {
                float_to_int(from, to, self.rounding, self.flushed(from, bits))
            }
            (Number::Float(from), Number::Float(to)) => {
                let mut bits = self.flushed(from, bits);
                let is_nan = bits & (from.sign_mask() - 1) > from.infinity();
                if self.to_integral && !is_nan {
                    bits = soft::round_to_integer(from, bits, self.rounding);
                }
                self.finish(to, float_to_float(from, to, self.rounding, bits))
            }
        }
    }

    /// An operand of format `from`, cut to its bits, after `.ftz`.
    #[inline]
    fn flushed(&self, from: Format, bits: u64) -> u64 {
        if self.ftz && from == soft::F32 {
            canonical_f32(flush(f32::of_bits(bits))).bits()
        } else if from.n_bits == 64 {
            bits
        } else {
            bits & ((1 << from.n_bits) - 1)
        }
    }

    /// A floating-point result after `.ftz`, `.sat`, `.relu`, `.satfinite`.
    #[inline]
    fn finish(&self, to: Format, bits: u64) -> u64 {
        let mut bits = bits;
        if self.ftz && to == soft::F32 {
            bits = flush(f32::of_bits(bits)).bits();
        }
        let magnitude = bits & (to.sign_mask() - 1);
        if self.finite && magnitude == to.infinity() {
            bits -= magnitude - to.largest();
        } else if self.finite && magnitude > to.infinity() && self.is_to_tf32_away() {
            bits -= to.infinity() - to.largest();
        }
        if self.saturate {
            bits = limited(to, bits, Limit::Saturate);
        }
        if self.relu {
            let is_nan = magnitude > to.infinity();
            bits = if is_nan {
                to.canonical_nan
            } else {
                limited(to, bits, Limit::Relu)
            };
        }
        bits
    }
}

impl Conversion {
    /// `cvt.rna.tf32`, which ptxas implements by integer instructions: with `.satfinite`
    /// even a NaN becomes the number of the next smaller magnitude.
    fn is_to_tf32_away(&self) -> bool {
        self.to == Number::Float(soft::TF32) && self.rounding == Rounding::NearestAway
    }
}

/// Which of two limits; the functions of `float` know one format each.
#[derive(Clone, Copy)]
enum Limit {
    Saturate,
    Relu,
}

fn limited(format: Format, bits: u64, limit: Limit) -> u64 {
    fn of<F: Float>(bits: u64, limit: Limit) -> u64 {
        let number = F::of_bits(bits);
        match limit {
            Limit::Saturate => saturate(number).bits(),
            Limit::Relu => relu(number).bits(),
        }
    }
    match format {
        soft::F16 => of::<F16>(bits, limit),
        soft::BF16 => of::<Bf16>(bits, limit),
        soft::F64 => of::<f64>(bits, limit),
        // tf32 is stored as an f32.
        _ => of::<f32>(bits, limit),
    }
}

/// Between integers: extended by the source's sign, then cut or (`saturate`)
/// limited to the target.
#[inline]
pub fn int_to_int(from: Int, to: Int, saturate: bool, bits: u64) -> u64 {
    let value = from.extend(bits);
    if saturate {
        return from.value(bits).clamp(to.lowest(), to.highest()) as u64;
    }
    to.extend(value)
}

/// To floating point, rounded once.
#[inline]
pub fn int_to_float(from: Int, to: Format, rounding: Rounding, bits: u64) -> u64 {
    let word = from.extend(bits);
    match (to, rounding, from.is_signed) {
        (soft::F32, Rounding::NearestEven, true) => (word as i64 as f32).bits(),
        (soft::F32, Rounding::NearestEven, false) => (word as f32).bits(),
        (soft::F64, Rounding::NearestEven, true) => (word as i64 as f64).bits(),
        (soft::F64, Rounding::NearestEven, false) => (word as f64).bits(),
        _ => Exact::from_integer(from.value(bits)).pack(to, rounding),
    }
}

/// To an integer, limited to its type. A NaN becomes 0, or, from `f64` or to
/// 64 bits, the number with only the highest bit set.
#[inline]
pub fn float_to_int(from: Format, to: Int, rounding: Rounding, bits: u64) -> u64 {
    let value = match from {
        soft::F32 => f64::from(f32::of_bits(bits)),
        soft::F64 => f64::of_bits(bits),
        soft::F16 => f64::from(F16::of_bits(bits).to_f32()),
        soft::BF16 => f64::from(Bf16::of_bits(bits).to_f32()),
        _ => f64::of_bits(soft::convert(from, soft::F64, bits, Rounding::Zero)),
    };
    if value.is_nan() {
        let is_wide = from.n_bits == 64 || to.n_bits == 64;
        return to.extend(if is_wide { 1 << (to.n_bits - 1) } else { 0 });
    }
    let integral = match rounding {
        Rounding::Zero => value.trunc(),
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    };
    // `as` limits to 64 bits.
    if to.is_signed {
        (integral as i64).clamp(to.lowest() as i64, to.highest() as i64) as u64
    } else {
        (integral as u64).min(to.highest() as u64)
    }
}

/// Between floating-point formats, rounded once; between equal formats it is the number
/// itself. For NaNs see `convert_nan`.
#[inline]
pub fn float_to_float(from: Format, to: Format, rounding: Rounding, bits: u64) -> u64 {
    if bits & (from.sign_mask() - 1) > from.infinity() {
        return convert_nan(from, to, rounding, bits);
    }
    let is_nearest = rounding == Rounding::NearestEven;
    match (from, to) {
        (soft::F32, soft::F64) => widen_f32(f32::of_bits(bits)).bits(),
        (soft::F64, soft::F32) if is_nearest => narrow_f64(f64::of_bits(bits)).bits(),
        (soft::F16, soft::F32) => F16::of_bits(bits).to_f32().bits(),
        (soft::BF16, soft::F32) => Bf16::of_bits(bits).to_f32().bits(),
        (soft::F32, soft::F16) if is_nearest => F16::from_f32(f32::of_bits(bits)).bits(),
        (soft::F32, soft::BF16) if is_nearest => Bf16::from_f32(f32::of_bits(bits)).bits(),
        _ => soft::convert(from, to, bits, rounding),
    }
}

/// `cvt.f64.f32`
#[inline]
pub fn widen_f32(value: f32) -> f64 {
    if value.is_not_a_number() {
        let nearest = Rounding::NearestEven;
        return f64::of_bits(convert_nan(soft::F32, soft::F64, nearest, value.bits()));
    }
    f64::from(value)
}

/// `cvt.rn.f32.f64`
#[inline]
pub fn narrow_f64(value: f64) -> f32 {
    if value.is_not_a_number() {
        let nearest = Rounding::NearestEven;
        return f32::of_bits(convert_nan(soft::F64, soft::F32, nearest, value.bits()));
    }
    value as f32
}

/// What hardware makes of a NaN: to and from `f64` it keeps sign and payload
/// and makes the NaN quiet; `bf16` to `f32` keeps all bits; `cvt.rna.tf32`
/// only clears the bits that a tf32 lacks; every other result is the target's
/// canonical NaN.
#[inline]
fn convert_nan(from: Format, to: Format, rounding: Rounding, bits: u64) -> u64 {
    if from == soft::BF16 && to == soft::F32 {
        return Bf16::of_bits(bits).to_f32().bits();
    }
    if to == soft::TF32 && rounding == Rounding::NearestAway {
        return bits & !0x1fff;
    }
    if from != soft::F64 && to != soft::F64 {
        return to.canonical_nan;
    }
    let sign = if bits & from.sign_mask() != 0 {
        to.sign_mask()
    } else {
        0
    };
    let payload = bits & (from.smallest_normal() - 1);
    let (narrow, wide) = (
        from.precision.min(to.precision),
        from.precision.max(to.precision),
    );
    let shift = wide - narrow;
    let payload = if from.precision < to.precision {
        payload << shift
    } else {
        payload >> shift
    };
    let quiet = to.smallest_normal() >> 1;
    sign | to.infinity() | quiet | payload
}

/// `cvt.pack.sat.TYPE.s32.b32 d, a, b, c`: `a` and `b` limited to `to`, `b`
/// lowest, above them `c` (0 where the instruction has none).
#[inline]
pub fn pack_saturated(to: Int, a: i32, b: i32, c: u32) -> u32 {
    let limited = |value: i32| {
        let ones = (1_u64 << to.n_bits) - 1;
        i128::from(value).clamp(to.lowest(), to.highest()) as u64 & ones
    };
    let rest = u64::from(c) << (2 * to.n_bits);
    (rest | limited(a) << to.n_bits | limited(b)) as u32
}
