//! Operands for the comparison: edge cases of every format combined with one another, then
//! random patterns. The same on every machine.

use common::numbers::number;

/// What an operand is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bits of an integer of any width.
    Int,
    /// A shift count, bit place or length.
    Count,
    F16,
    Bf16,
    F32,
    F64,
    /// `f32`s about 2^-63, whose products lie about the smallest normal one.
    Tiny,
    /// `f32`s about 2^63, to divide the tiny ones by.
    Huge,
    /// `f16`s about 2^-7, as `Tiny`.
    TinyF16,
    /// `f64`s about the smallest normal `f32`.
    TinyF64,
}

const INTS: [u64; 16] = [
    0,
    1,
    2,
    7,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
];

const COUNTS: [u64; 12] = [0, 1, 5, 15, 16, 31, 32, 33, 63, 64, 255, 256];

const F32S: [u32; 22] = [
    0x0000_0000, // 0
    0x8000_0000,
    0x3f80_0000, // 1
    0xbf80_0000,
    0x3f00_0000, // 0.5
    0x4020_0000, // 2.5
    0xc060_0000, // -3.5
    0x0000_0001, // smallest subnormal
    0x8000_0001,
    0x007f_ffff, // largest subnormal
    0x0080_0000, // smallest normal
    0x8080_0000,
    0x7f7f_ffff, // largest
    0xff7f_ffff,
    0x7f80_0000, // infinity
    0xff80_0000,
    0x7fc0_0000, // NaN
    0x7f80_0001, // signalling NaN
    0xffc1_2345,
    0x4f00_0000, // 2^31
    0x5f00_0000, // 2^63
    0x7e80_0001, // a little above 2^126
];

const F64S: [u64; 20] = [
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x3ff0_0000_0000_0000, // 1
    0xbfe0_0000_0000_0000, // -0.5
    0x4004_0000_0000_0000, // 2.5
    0x0000_0000_0000_0001,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_1234, // signalling NaN
    0xfff8_0000_0000_5678,
    0x47ef_ffff_f000_0000, // rounds to infinity in f32
    0x36a0_0000_0000_0000, // smallest subnormal f32
    0x41e0_0000_0000_0000, // 2^31
    0x43e0_0000_0000_0000, // 2^63
    0x40ef_fe00_0000_0000, // 65520
];

const F16S: [u16; 16] = [
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x4100, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0x7c01,
];

const BF16S: [u16; 16] = [
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f00, 0x4020, 0x0001, 0x8001, 0x007f, 0x0080, 0x7f7f, 0xff7f,
    0x7f80, 0xff80, 0x7fc0, 0x7f81,
];

/// A number a few steps from one with these bits, or about as large.
fn near(bits: u64, sign: u64, r: u64) -> u64 {
    let distance = if r & 2 == 0 {
        (r >> 8) % 9
    } else {
        (r >> 8) % (1 << 10)
    };
    let magnitude = if r & 4 == 0 {
        bits + distance
    } else {
        bits - distance
    };
    if r & 8 == 0 {
        magnitude
    } else {
        magnitude | sign
    }
}

/// Operand number `place` (0 to 2) of case number `case`.
pub fn operand(kind: Kind, place: u64, case: u64) -> u64 {
    let r = number(case * 3 + place + 1);
    match kind {
        Kind::Tiny => return near(0x2000_0000, 1 << 31, r),
        Kind::Huge => return near(0x5f00_0000, 1 << 31, r),
        Kind::TinyF16 => return near(0x2000, 1 << 15, r),
        Kind::TinyF64 => return near(0x3810_0000_0000_0000, 1 << 63, r),
        _ => {}
    }
    // Half of the operands are edges, mixed by a second draw.
    let edge = (number(r) >> 32) as usize;
    if r & 1 == 0 {
        return match kind {
            Kind::Int => INTS[edge % INTS.len()],
            Kind::Count => COUNTS[edge % COUNTS.len()],
            Kind::F16 => u64::from(F16S[edge % F16S.len()]),
            Kind::Bf16 => u64::from(BF16S[edge % BF16S.len()]),
            Kind::F32 => u64::from(F32S[edge % F32S.len()]),
            _ => F64S[edge % F64S.len()],
        };
    }
    let bits = r >> 1;
    let is_near_one = r >> 60 & 3 != 0;
    match kind {
        Kind::Int => number(r ^ 1) >> (bits % 64),
        Kind::Count => bits % 80,
        Kind::F16 if is_near_one => bits & 0x83ff | (0x30 + (bits >> 20) % 24) << 8 & 0x7c00,
        Kind::F16 => bits & 0xffff,
        Kind::Bf16 if is_near_one => bits & 0x807f | (120 + (bits >> 20) % 14) << 7,
        Kind::Bf16 => bits & 0xffff,
        Kind::F32 if is_near_one => bits & 0x807f_ffff | (112 + (bits >> 40) % 28) << 23,
        Kind::F32 => bits & 0xffff_ffff,
        Kind::F64 if is_near_one => {
            bits << 1 & 0x800f_ffff_ffff_ffff | (1000 + (number(bits) % 44)) << 52
        }
        _ => number(bits),
    }
}
