//! The arithmetic of tensor cores: sums of exact products, cut off below.
//!
//! PTX leaves open how `mma` adds up. What the hardware does has been found out
//! by experiment, and is a *fused sum with truncation*
//! (Li, Li, Liang, Xu and Tan, "FTTN: Feature-Targeted Testing for Numerical
//! Properties of NVIDIA & AMD Matrix Accelerators", 2024; Xie, Wang, Yang and
//! Yang, "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix
//! Cores", 2025, whose parameters these are):
//!
//! 1. Products are exact. The exponent of a product is the sum of its factors'
//!    exponents; its significand, in [1, 4), is not normalised.
//! 2. The products of a group and the accumulator are brought to the largest
//!    exponent among them, each cut off toward zero at `fraction_bits` below it.
//! 3. These fixed-point numbers are added exactly.
//! 4. The sum is rounded to the accumulator's type: toward zero to `f32`, of whose
//!    fraction no more than `fraction_bits` are kept; to the nearest, ties to even, to
//!    `f16`. The next group goes on from there.
//!
//! | architecture | `fraction_bits` | products in a group |
//! |---|---|---|
//! | Ampere, Ada | 24 | 8 |
//! | Hopper, Blackwell | 25 | 16 |
//! | Hopper, `wgmma` of 8-bit floats | 13 | 32 |
//!
//! Subnormal inputs and results are kept. A NaN anywhere, an infinity times zero
//! and infinities of both signs give the canonical NaN, all bits but the sign
//! set. The largest exponent is at least that of the smallest normal `f32`, and a
//! product with a zero factor takes no part in finding it. A sum of zero is +0,
//! also one that becomes zero by rounding. A sum beyond the largest number is
//! infinite, also where sums are cut off.
//!
//! # How sure this is
//!
//! On an H200 (driver 580), 18 million sums in `f32` and 9 million in `f16` of
//! random matrices, of `f16` and `bf16` with any bits, in both shapes, were
//! compared bit for bit by the lesson `tensor_instructions` of this repository.
//! All agree but for `f32` sums of `bf16` products below the smallest normal
//! number: of 640,000 such sums per shape, 1 (k = 8) and 35 (k = 16) came out as the
//! neighbouring number, 2^-149 away. [`Model::AMPERE`] is from the literature alone.
//!
//! `tf32` follows the same rules (`tests/measured`: 65,536 sums per shape, and none differs): a
//! factor's lowest 13 bits do not count, so that a NaN with no others is an
//! infinity; `wmma` sums its eight products in two groups of four.
//!
//! `wgmma` adds up by the same rules, `tf32` its eight products at once, and 8-bit floats
//! with far fewer bits (`tests/wgmma`: 23 million sums, none differs).
//!
//! What an H200
//! does with integers and `f64` is in [`tensor`](super::tensor), and with 8-bit floats, which
//! it converts, in `step/matrix/tensor.rs`.

/// The least exponent that numbers are aligned to: that of the smallest normal `f32`.
/// Products of `bf16` reach far below it.
const LEAST_EXPONENT: i32 = -126;

/// How an architecture adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Bits kept below the largest exponent.
    pub fraction_bits: u32,
    /// Products that are added in one step.
    pub group: usize,
}

impl Model {
    /// Compute capability 8.x.
    pub const AMPERE: Self = Self {
        fraction_bits: 24,
        group: 8,
    };
    /// Compute capability 9.0.
    pub const HOPPER: Self = Self {
        fraction_bits: 25,
        group: 16,
    };
    /// `wgmma` of 8-bit floats, compute capability 9.0.
    pub const HOPPER_SMALL: Self = Self {
        fraction_bits: 13,
        group: 32,
    };
}

/// Type of the factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.tf32`, the upper 19 bits of a word; the others do not count.
    Tf32,
    /// `.e4m3`, which has NaN and no infinity.
    E4m3,
    /// `.e5m2`
    E5m2,
}

/// Type of the accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// `.f16`
    F16,
    /// `.f32`
    F32,
}

/// A floating-point format: bits of its fraction, and its largest exponent.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pub fraction_bits: u32,
    pub exponent_bits: u32,
    /// Whether only one encoding with the largest exponent is not a number, a NaN.
    has_no_infinity: bool,
}

/// A format with infinities.
const fn format(fraction_bits: u32, exponent_bits: u32) -> Format {
    Format {
        fraction_bits,
        exponent_bits,
        has_no_infinity: false,
    }
}

const F16: Format = format(10, 5);
const BF16: Format = format(7, 8);
const TF32: Format = format(10, 8);
const F32: Format = format(23, 8);
const E5M2: Format = format(2, 5);
const E4M3: Format = Format {
    has_no_infinity: true,
    ..format(3, 4)
};

impl Factor {
    /// Bits that it takes in memory and in a register.
    pub const fn n_bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 => 32,
            Self::E4m3 | Self::E5m2 => 8,
        }
    }

    pub(super) const fn format(self) -> Format {
        match self {
            Self::F16 => F16,
            Self::Bf16 => BF16,
            Self::Tf32 => TF32,
            Self::E4m3 => E4M3,
            Self::E5m2 => E5M2,
        }
    }
}

impl Accumulator {
    const fn format(self) -> Format {
        match self {
            Self::F16 => F16,
            Self::F32 => F32,
        }
    }

    /// The NaN that represents all.
    pub const fn canonical_nan(self) -> u32 {
        match self {
            Self::F16 => 0x7FFF,
            Self::F32 => 0x7FFF_FFFF,
        }
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Unpacked {
    /// Exponent of the significand's unit bit; that of the smallest normal
    /// number for zero and subnormal ones.
    exponent: i32,
    /// With its sign; as a fixed-point number with the format's fraction bits.
    significand: i64,
    class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Finite,
    Infinite,
    Nan,
}

impl Format {
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The bits of the least magnitude that is not a number.
    #[cfg(target_arch = "x86_64")]
    pub const fn least_special(self) -> u32 {
        let fraction = if self.has_no_infinity {
            (1 << self.fraction_bits) - 1
        } else {
            0
        };
        ((1 << self.exponent_bits) - 1) << self.fraction_bits | fraction
    }

    const fn unpack(self, bits: u32) -> Unpacked {
        let Self {
            fraction_bits,
            exponent_bits,
            has_no_infinity,
        } = self;
        let fraction_mask = (1 << fraction_bits) - 1;
        let fraction = (bits & fraction_mask) as i64;
        let field = (bits >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
        let negative = bits >> (fraction_bits + exponent_bits) & 1 != 0;
        let is_special = field == (1 << exponent_bits) - 1
            && (!has_no_infinity || fraction == fraction_mask as i64);
        let (exponent, magnitude, class) = if is_special {
            let class = if fraction == 0 {
                Class::Infinite
            } else {
                Class::Nan
            };
            (0, 1, class)
        } else if field == 0 {
            (1 - self.bias(), fraction, Class::Finite)
        } else {
            (
                field - self.bias(),
                fraction | 1 << fraction_bits,
                Class::Finite,
            )
        };
        let significand = if negative { -magnitude } else { magnitude };
        Unpacked {
            exponent,
            significand,
            class,
        }
    }

    const fn infinity(self, negative: bool) -> u32 {
        let sign = (negative as u32) << (self.fraction_bits + self.exponent_bits);
        sign | ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// `sum · 2^scale`, rounded toward zero or to the nearest.
    fn pack(self, sum: i64, scale: i32, to_nearest: bool) -> u32 {
        if sum == 0 {
            return 0;
        }
        let magnitude = sum.unsigned_abs();
        let top = 63 - magnitude.leading_zeros() as i32;
        let exponent = (top + scale).max(1 - self.bias());
        // Units of the last place of the result.
        let unit = exponent - self.fraction_bits as i32;
        let mut rounded = shift(magnitude, scale - unit);
        if to_nearest && unit > scale {
            let n_cut = (unit - scale).min(63);
            let half = 1u64 << (n_cut - 1);
            let cut = magnitude & ((1 << n_cut) - 1);
            if cut > half || cut == half && rounded & 1 == 1 {
                rounded += 1;
            }
        }
        if rounded == 0 {
            return 0;
        }
        // Adding handles a carry into the next exponent, and a subnormal's lack of the unit
        // bit, correctly.
        let field = (exponent + self.bias()) as u64;
        let bits = ((field - 1) << self.fraction_bits) + rounded;
        let largest = u64::from(self.infinity(false));
        let sign = u32::from(sum < 0) << (self.fraction_bits + self.exponent_bits);
        sign | bits.min(largest) as u32
    }
}

/// `magnitude · 2^by`, cut off toward zero.
const fn shift(magnitude: u64, by: i32) -> u64 {
    if by >= 0 {
        magnitude << by
    } else if by > -64 {
        magnitude >> -by
    } else {
        0
    }
}

/// A factor taken apart, so that it can be used for many products.
pub const fn unpack(factor: Factor, bits: u16) -> Unpacked {
    factor.format().unpack(bits as u32)
}

/// As [`unpack`], for factors of any type, in the bits of a word.
pub const fn unpack_word(factor: Factor, bits: u32) -> Unpacked {
    match factor {
        Factor::F16 | Factor::Bf16 => factor.format().unpack(bits & 0xFFFF),
        Factor::Tf32 => factor.format().unpack(bits >> 13),
        Factor::E4m3 | Factor::E5m2 => factor.format().unpack(bits & 0xFF),
    }
}

/// Σ a·b + c by `model`: the bits of the accumulator's type, from its bits.
///
/// `a` and `b` are equally many factors of type `factor`.
pub fn dot(
    model: Model,
    factor: Factor,
    accumulator: Accumulator,
    a: &[Unpacked],
    b: &[Unpacked],
    c: u32,
) -> u32 {
    dot_of_two(model, (factor, factor), accumulator, a, b, c)
}

/// As [`dot`], with factors of two types.
pub fn dot_of_two(
    model: Model,
    factors: (Factor, Factor),
    accumulator: Accumulator,
    a: &[Unpacked],
    b: &[Unpacked],
    c: u32,
) -> u32 {
    let product_bits = factors.0.format().fraction_bits + factors.1.format().fraction_bits;
    let mut sum = c;
    for (a, b) in a.chunks(model.group).zip(b.chunks(model.group)) {
        sum = fused_sum(model.fraction_bits, product_bits, accumulator, a, b, sum);
    }
    sum
}

/// One group.
fn fused_sum(
    fraction_bits: u32,
    product_bits: u32,
    accumulator: Accumulator,
    a: &[Unpacked],
    b: &[Unpacked],
    c: u32,
) -> u32 {
    let format = accumulator.format();
    let c = format.unpack(c);
    let pairs = || a.iter().zip(b);
    let special = |x: &Unpacked| x.class != Class::Finite;
    if special(&c) || a.iter().any(special) || b.iter().any(special) {
        return special_sum(accumulator, pairs(), &c);
    }

    let mut largest = LEAST_EXPONENT;
    if c.significand != 0 {
        largest = largest.max(c.exponent);
    }
    for (a, b) in pairs() {
        if a.significand != 0 && b.significand != 0 {
            largest = largest.max(a.exponent + b.exponent);
        }
    }
    let aligned = |significand: i64, exponent: i32, own_bits: u32| {
        let by = fraction_bits as i32 - own_bits as i32 + exponent - largest;
        let magnitude = shift(significand.unsigned_abs(), by.min(40)) as i64;
        if significand < 0 {
            -magnitude
        } else {
            magnitude
        }
    };
    let mut sum = if c.significand != 0 {
        aligned(c.significand, c.exponent, format.fraction_bits)
    } else {
        0
    };
    for (a, b) in pairs() {
        let significand = a.significand * b.significand;
        if significand != 0 {
            sum += aligned(significand, a.exponent + b.exponent, product_bits);
        }
    }
    let scale = largest - fraction_bits as i32;
    match accumulator {
        Accumulator::F16 => format.pack(sum, scale, true),
        Accumulator::F32 => {
            let left_out = format.fraction_bits.saturating_sub(fraction_bits);
            let kept = Format {
                fraction_bits: format.fraction_bits - left_out,
                ..format
            };
            kept.pack(sum, scale, false) << left_out
        }
    }
}

/// A group with an infinity or a NaN in it.
fn special_sum<'u>(
    accumulator: Accumulator,
    pairs: impl Iterator<Item = (&'u Unpacked, &'u Unpacked)>,
    c: &Unpacked,
) -> u32 {
    let (mut positive, mut negative) = (false, false);
    let mut add_infinity = |is_negative: bool| {
        positive |= !is_negative;
        negative |= is_negative;
    };
    match c.class {
        Class::Nan => return accumulator.canonical_nan(),
        Class::Infinite => add_infinity(c.significand < 0),
        Class::Finite => {}
    }
    for (a, b) in pairs {
        if a.class == Class::Nan || b.class == Class::Nan {
            return accumulator.canonical_nan();
        }
        if a.class == Class::Infinite || b.class == Class::Infinite {
            if a.significand == 0 || b.significand == 0 {
                return accumulator.canonical_nan();
            }
            add_infinity((a.significand < 0) != (b.significand < 0));
        }
    }
    match (positive, negative) {
        (true, true) => accumulator.canonical_nan(),
        (_, is_negative) => accumulator.format().infinity(is_negative),
    }
}
