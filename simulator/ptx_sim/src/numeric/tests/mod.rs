//! Tests of arithmetic, each against Rust's own or against a second, slower
//! way of computing the same thing.

mod approx;
mod bits;
mod convert;
mod float;
mod half;
mod integer;
mod mma;
mod tile;

use proptest::prelude::{Strategy, any, prop_oneof};

/// Bit patterns, especially at the edges of every format and width.
fn patterns() -> impl Strategy<Value = u64> {
    const EDGES: [u64; 24] = [
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x0080_0000,
        0x007f_ffff,
        0x3f80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xff80_0000,
        0xffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff_ffff_ffff,
    ];
    prop_oneof![
        any::<u64>(),
        (0..EDGES.len(), -3_i64..=3).prop_map(|(i, d)| EDGES[i].wrapping_add_signed(d)),
        (any::<u64>(), 0_u32..64).prop_map(|(bits, shift)| bits >> shift),
    ]
}

/// `f32`s with similar exponents, so that sums cancel and round.
fn singles() -> impl Strategy<Value = f32> {
    prop_oneof![
        patterns().prop_map(|bits| f32::from_bits(bits as u32)),
        (any::<bool>(), 100_u32..156, any::<u32>()).prop_map(|(sign, exponent, fraction)| {
            f32::from_bits(u32::from(sign) << 31 | exponent << 23 | fraction & 0x7f_ffff)
        }),
        (any::<bool>(), any::<u32>(), 0_u32..24).prop_map(|(sign, fraction, shift)| {
            f32::from_bits(u32::from(sign) << 31 | (fraction & 0x00ff_ffff) >> shift)
        }),
        (-64_i8..64).prop_map(f32::from),
    ]
}

/// `f64`s, as [`singles`].
fn doubles() -> impl Strategy<Value = f64> {
    prop_oneof![
        patterns().prop_map(f64::from_bits),
        (any::<bool>(), 970_u64..1080, any::<u64>()).prop_map(|(sign, exponent, fraction)| {
            f64::from_bits(u64::from(sign) << 63 | exponent << 52 | fraction >> 12)
        }),
        (any::<bool>(), any::<u64>(), 11_u32..64).prop_map(|(sign, fraction, shift)| {
            f64::from_bits(u64::from(sign) << 63 | fraction >> shift)
        }),
        (-64_i8..64).prop_map(f64::from),
    ]
}
