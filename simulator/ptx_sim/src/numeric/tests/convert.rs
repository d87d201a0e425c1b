//! `cvt` against Rust's own conversions and against exact arithmetic.

use proptest::prelude::*;

use super::super::Rounding;
use super::super::convert::{Conversion, Int, Number, float_to_int, pack_saturated};
use super::super::soft::{self, F16, F32, F64, Format, TF32, Unpacked};
use super::{doubles, patterns, singles};
use ptx::ir::Type;

const MODES: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::Zero,
    Rounding::Down,
    Rounding::Up,
];

fn number(name: &str) -> Number {
    Type::from_name(name).and_then(Number::of_type).unwrap()
}

fn cvt(to: &str, from: &str, rounding: Rounding) -> Conversion {
    Conversion::new(number(from), number(to), rounding)
}

const INTEGERS: [&str; 8] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];

fn limits(name: &str) -> (Int, i128, i128) {
    let Number::Int(int) = number(name) else {
        panic!("{name} is an integer")
    };
    if int.is_signed {
        (int, -(1 << (int.n_bits - 1)), (1 << (int.n_bits - 1)) - 1)
    } else {
        (int, 0, (1 << int.n_bits) - 1)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn integers_as_rust_casts_them(bits in patterns()) {
        macro_rules! check {
            ($($from:ident $from_name:literal,)*) => {
                $(check!(@ $from $from_name:
                    u8 "u8" i8 "s8" u16 "u16" i16 "s16" u32 "u32" i32 "s32" u64 "u64" i64 "s64");)*
            };
            (@ $from:ident $from_name:literal: $($to:ident $to_name:literal)*) => {$(
                let plain = cvt($to_name, $from_name, Rounding::Zero);
                prop_assert_eq!(plain.apply(bits) as $to, bits as $from as $to);
                let limited = Conversion { saturate: true, ..plain };
                let value = (bits as $from as i128).clamp($to::MIN as i128, $to::MAX as i128);
                prop_assert_eq!(limited.apply(bits), value as u64);
            )*};
        }
        check! {
            u8 "u8", i8 "s8", u16 "u16", i16 "s16", u32 "u32", i32 "s32", u64 "u64", i64 "s64",
        }
    }

    /// A float-to-integer result is the integer that its mode's definition
    /// picks, by exact comparison in 128-bit fixed point.
    #[test]
    fn floats_to_integers(value in doubles(), single in singles()) {
        for (format, bits) in [(F64, value.to_bits()), (F32, u64::from(single.to_bits()))] {
            for rounding in MODES {
                for name in INTEGERS {
                    let (int, low, high) = limits(name);
                    let found = float_to_int(format, int, rounding, bits);
                    let found = if int.is_signed { i128::from(found as i64) } else { i128::from(found) };
                    let expected = match soft::unpack(format, bits) {
                        Unpacked::Nan if format == F64 || int.n_bits == 64 => {
                            if int.is_signed { low } else { 1 << (int.n_bits - 1) }
                        }
                        Unpacked::Nan => 0,
                        Unpacked::Infinite { is_negative } => if is_negative { low } else { high },
                        Unpacked::Finite(exact) => exact.to_integer(rounding).clamp(low, high),
                    };
                    prop_assert_eq!(found, expected, "{} {:?} {:x}", name, rounding, bits);
                }
            }
        }
    }

    #[test]
    fn floats_to_integers_as_rust_casts_them(value in singles()) {
        prop_assume!(!value.is_nan());
        let bits = u64::from(value.to_bits());
        let of = |name| cvt(name, "f32", Rounding::Zero).apply(bits);
        prop_assert_eq!(of("u8") as u8, value as u8);
        prop_assert_eq!(of("s16") as i16, value as i16);
        prop_assert_eq!(of("s32") as i32, value as i32);
        prop_assert_eq!(of("u32") as u32, value as u32);
        prop_assert_eq!(of("s64") as i64, value as i64);
        prop_assert_eq!(of("u64"), value as u64);
    }

    #[test]
    fn integers_to_floats(bits in patterns()) {
        let nearest = Rounding::NearestEven;
        prop_assert_eq!(cvt("f32", "u64", nearest).apply(bits) as u32, (bits as f32).to_bits());
        prop_assert_eq!(cvt("f32", "s64", nearest).apply(bits) as u32, (bits as i64 as f32).to_bits());
        prop_assert_eq!(cvt("f32", "s32", nearest).apply(bits) as u32, (bits as i32 as f32).to_bits());
        prop_assert_eq!(cvt("f32", "u8", nearest).apply(bits) as u32, f32::from(bits as u8).to_bits());
        prop_assert_eq!(cvt("f64", "u64", nearest).apply(bits), (bits as f64).to_bits());
        prop_assert_eq!(cvt("f64", "s32", nearest).apply(bits), f64::from(bits as i32).to_bits());
        // Directed: neighbours that enclose the integer.
        let value = i128::from(bits as i64);
        let of = |mode| f32::from_bits(cvt("f32", "s64", mode).apply(bits) as u32);
        let (down, up) = (of(Rounding::Down), of(Rounding::Up));
        prop_assert!(down as i128 <= value && value <= up as i128);
        prop_assert!(down == up || down.next_up() == up);
        prop_assert_eq!(of(Rounding::Zero), if value < 0 { up } else { down });
        // f16: 65,520 and more round to infinity.
        let half = cvt("f16", "u32", nearest).apply(bits);
        prop_assert_eq!(half as u16, half::f16::from_f64(f64::from(bits as u32)).to_bits());
    }

    /// Every mode between every two formats: the two neighbours enclose the
    /// number, and the mode picks the right one.
    #[test]
    fn narrowing_picks_the_right_neighbour(value in doubles(), single in singles()) {
        for (from, bits) in [(F64, value.to_bits()), (F32, u64::from(single.to_bits()))] {
            for to in [F16, soft::BF16, TF32, F32] {
                check_neighbours(from, to, bits);
            }
        }
    }

    #[test]
    fn rounding_to_integral(value in singles(), wide in doubles()) {
        prop_assume!(!value.is_nan() && !wide.is_nan());
        for (mode, expected, expected_wide) in [
            (Rounding::NearestEven, value.round_ties_even(), wide.round_ties_even()),
            (Rounding::Zero, value.trunc(), wide.trunc()),
            (Rounding::Down, value.floor(), wide.floor()),
            (Rounding::Up, value.ceil(), wide.ceil()),
        ] {
            let of = |name| Conversion { to_integral: true, ..cvt(name, name, mode) };
            prop_assert_eq!(of("f32").apply(value.to_bits().into()) as u32, expected.to_bits());
            prop_assert_eq!(of("f64").apply(wide.to_bits()), expected_wide.to_bits());
        }
    }

    #[test]
    fn modifiers(value in singles()) {
        let bits = u64::from(value.to_bits());
        let base = cvt("f16", "f32", Rounding::NearestEven);
        let plain = base.apply(bits);
        let is_nan = value.is_nan();
        let relu = Conversion { relu: true, ..base }.apply(bits);
        prop_assert_eq!(relu, if is_nan { 0x7fff } else if value.is_sign_negative() { 0 } else { plain });
        let finite = Conversion { finite: true, ..base }.apply(bits);
        prop_assert_eq!(finite, if plain & 0x7fff == 0x7c00 { plain - 1 } else { plain });
        let flushed = Conversion { ftz: true, ..cvt("f64", "f32", Rounding::Zero) }.apply(bits);
        if value.is_subnormal() {
            prop_assert_eq!(f64::from_bits(flushed).to_bits(), 0.0_f64.copysign(value.into()).to_bits());
        }
        let limited = Conversion { saturate: true, ..cvt("f32", "f32", Rounding::Zero) }.apply(bits);
        let expected = if is_nan { 0.0 } else { value.clamp(0.0, 1.0) + 0.0 };
        prop_assert_eq!(limited as u32, expected.to_bits());
    }

    #[test]
    fn packing(a: i32, b: i32, c: u32) {
        let byte = Int { n_bits: 8, is_signed: false };
        let expected = u32::from_be_bytes([
            (c >> 8) as u8, c as u8, a.clamp(0, 255) as u8, b.clamp(0, 255) as u8,
        ]);
        prop_assert_eq!(pack_saturated(byte, a, b, c), expected);
        let half = Int { n_bits: 16, is_signed: true };
        let limited = |x: i32| x.clamp(-32768, 32767) as u16;
        prop_assert_eq!(pack_saturated(half, a, b, 0), u32::from(limited(a)) << 16 | u32::from(limited(b)));
    }
}

fn as_f64(format: Format, bits: u64) -> f64 {
    f64::from_bits(soft::convert(format, F64, bits, Rounding::NearestEven))
}

fn check_neighbours(from: Format, to: Format, bits: u64) {
    let conversion =
        |rounding| Conversion::new(Number::Float(from), Number::Float(to), rounding).apply(bits);
    let value = as_f64(from, bits);
    if value.is_nan() {
        assert!(as_f64(to, conversion(Rounding::NearestEven)).is_nan());
        return;
    }
    let (down_bits, up_bits) = (conversion(Rounding::Down), conversion(Rounding::Up));
    let (down, up) = (as_f64(to, down_bits), as_f64(to, up_bits));
    assert!(down <= value && value <= up, "{down:e} {value:e} {up:e}");
    let zero = conversion(Rounding::Zero);
    assert_eq!(
        zero,
        if value.is_sign_negative() {
            up_bits
        } else {
            down_bits
        }
    );
    if down == value || up == value {
        assert_eq!(down, up);
        return;
    }
    // Neighbours: their magnitudes' bits differ by one step.
    let step = 1 << to.n_padding;
    let magnitude = |bits: u64| bits & (to.sign_mask() - 1);
    assert_eq!(magnitude(down_bits).abs_diff(magnitude(up_bits)), step);
    for rounding in [Rounding::NearestEven, Rounding::NearestAway] {
        let found = conversion(rounding);
        assert!(found == down_bits || found == up_bits);
        if down.is_infinite() || up.is_infinite() {
            // Half a step beyond the largest number, by the step below it.
            let largest = as_f64(to, to.largest());
            let below = as_f64(to, to.largest() - step);
            let limit = largest + (largest - below) / 2.0;
            assert_eq!(magnitude(found) == to.infinity(), value.abs() >= limit);
            continue;
        }
        // Exact: the distances are small multiples of the source's last bit.
        let (to_down, to_up) = (value - down, up - value);
        let tie = if rounding == Rounding::NearestAway {
            if value < 0.0 { down_bits } else { up_bits }
        } else if down_bits & step == 0 {
            down_bits
        } else {
            up_bits
        };
        let expected = match to_down.partial_cmp(&to_up).unwrap() {
            std::cmp::Ordering::Less => down_bits,
            std::cmp::Ordering::Greater => up_bits,
            std::cmp::Ordering::Equal => tie,
        };
        assert_eq!(found, expected, "{value:e} {rounding:?} {to:?}");
    }
}

#[test]
fn edges() {
    let of = |to, from, bits| cvt(to, from, Rounding::Zero).apply(bits);
    let nan = u64::from(f32::NAN.to_bits());
    assert_eq!(of("s32", "f32", nan), 0);
    assert_eq!(of("u8", "f32", nan), 0);
    assert_eq!(of("s64", "f32", nan) as i64, i64::MIN);
    assert_eq!(of("u64", "f32", nan), 1 << 63);
    assert_eq!(of("s32", "f64", f64::NAN.to_bits()) as i32, i32::MIN);
    assert_eq!(of("u32", "f64", f64::NAN.to_bits()), 1 << 31);
    assert_eq!(
        of("s32", "f32", u64::from(3e9_f32.to_bits())) as i32,
        i32::MAX
    );
    assert_eq!(of("u32", "f32", u64::from((-1.0_f32).to_bits())), 0);
    assert_eq!(of("u64", "f64", 2e19_f64.to_bits()), u64::MAX);
    assert_eq!(of("s8", "s32", 0x80) as i64, -128);
    // tf32 keeps 10 bits of fraction; a tie goes away from zero.
    let tf32 = cvt("tf32", "f32", Rounding::NearestAway);
    assert_eq!(tf32.apply(0x3f80_1000), 0x3f80_2000);
    assert_eq!(tf32.apply(0xbf80_1000), 0xbf80_2000);
    assert_eq!(tf32.apply(0x3f80_0fff), 0x3f80_0000);
    assert_eq!(tf32.apply(0xffff_c6d4), 0xffff_c000);
    assert_eq!(
        cvt("tf32", "f32", Rounding::NearestEven).apply(nan),
        0x7fff_e000
    );
    // NaNs, as an H200 converts them.
    let nearest = |to, from, bits| cvt(to, from, Rounding::NearestEven).apply(bits);
    assert_eq!(nearest("f32", "f64", 0xfff8_0000_2000_5678), 0xffc0_0001);
    assert_eq!(nearest("f16", "f64", 0x7ff0_0000_0000_1234), 0x7e00);
    assert_eq!(nearest("f64", "f32", 0xffc1_2345), 0xfff8_2468_a000_0000);
    assert_eq!(nearest("f64", "f16", 0x7dc4), 0x7fff_1000_0000_0000);
    assert_eq!(nearest("f32", "f16", 0x7dc4), 0x7fff_ffff);
    assert_eq!(nearest("f32", "bf16", 0x7f81), 0x7f81_0000);
    assert_eq!(nearest("bf16", "f32", 0xffc1_2345), 0x7fff);
    let flushing = Conversion {
        ftz: true,
        ..cvt("f64", "f32", Rounding::NearestEven)
    };
    assert_eq!(flushing.apply(0xffc1_2345), 0x7fff_ffff_e000_0000);
}
