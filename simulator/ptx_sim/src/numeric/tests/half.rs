//! The 16-bit formats: every number converted, arithmetic against exact
//! integer arithmetic.

use proptest::prelude::*;

use super::super::Rounding;
use super::super::compare::{Extremum, max};
use super::super::float::{Float, add, fma, mul, neg, sub};
use super::super::half::{Bf16, F16, Half, pack, packed1, packed2, packed3, unpack};
use super::super::soft;
use super::singles;

#[test]
fn every_number_widens_and_comes_back() {
    for bits in 0..=u16::MAX {
        let reference = half::f16::from_bits(bits);
        let wide = F16(bits).to_f32();
        assert_eq!(
            u64::from(wide.to_bits()),
            soft::convert(soft::F16, soft::F32, bits.into(), Rounding::NearestEven)
        );
        let reference_wide = half::bf16::from_bits(bits);
        let wide_b = Bf16(bits).to_f32();
        if reference.is_nan() {
            assert_eq!(wide.to_bits(), 0x7fff_ffff);
            assert_eq!(F16::from_f32(wide), F16(0x7fff));
        } else {
            assert_eq!(wide.to_bits(), reference.to_f32().to_bits());
            assert_eq!(F16::from_f32(wide), F16(bits));
        }
        if reference_wide.is_nan() {
            assert_eq!(wide_b.to_bits(), u32::from(bits) << 16);
            assert_eq!(Bf16::from_f32(wide_b), Bf16(0x7fff));
        } else {
            assert_eq!(wide_b.to_bits(), reference_wide.to_f32().to_bits());
            assert_eq!(Bf16::from_f32(wide_b), Bf16(bits));
        }
    }
}

/// All ties between neighbours, and the numbers right next to them.
#[test]
fn ties_round_to_even() {
    for bits in 0..0x7c00_u16 {
        let (low, high) = (F16(bits).to_f32(), F16(bits + 1).to_f32());
        let middle = if bits == 0x7bff {
            65520.0
        } else {
            (low + high) / 2.0
        };
        let even = bits + (bits & 1);
        assert_eq!(F16::from_f32(middle), F16(even));
        assert_eq!(F16::from_f32(middle.next_down()), F16(bits));
        assert_eq!(F16::from_f32(middle.next_up()), F16(bits + 1));
        assert_eq!(F16::from_f32(-middle), F16(even | 0x8000));
    }
    for bits in 0..0x7f80_u32 {
        let middle = f32::from_bits(bits << 16 | 0x8000);
        assert_eq!(Bf16::from_f32(middle), Bf16((bits + (bits & 1)) as u16));
        assert_eq!(Bf16::from_f32(middle.next_down()), Bf16(bits as u16));
        assert_eq!(
            Bf16::from_f32(-middle.next_up()),
            Bf16((bits as u16 + 1) | 0x8000)
        );
    }
}

/// Numbers near to one another, so that sums cancel, or any.
fn halves() -> impl Strategy<Value = u16> {
    prop_oneof![
        any::<u16>(),
        0x3800_u16..0x4400,
        0_u16..0x0800,
        0xb800_u16..0xc400,
        0x7b00_u16..0x7c02
    ]
}

fn check_arithmetic<H: Half>(a: u16, b: u16, c: u16) {
    let format = H::FORMAT;
    let (x, y, z) = (u64::from(a), u64::from(b), u64::from(c));
    let (a, b, c) = (H::of_bits(x), H::of_bits(y), H::of_bits(z));
    let nearest = Rounding::NearestEven;
    assert_eq!(
        add(a, b, nearest).bits(),
        soft::add(format, x, y, nearest),
        "add {x:x} {y:x}"
    );
    assert_eq!(
        mul(a, b, nearest).bits(),
        soft::mul(format, x, y, nearest),
        "mul {x:x} {y:x}"
    );
    assert_eq!(
        fma(a, b, c, nearest).bits(),
        soft::fma(format, x, y, z, nearest),
        "fma {x:x} {y:x} {z:x}"
    );
    if !b.is_not_a_number() {
        assert_eq!(sub(a, b, nearest), add(a, neg(b), nearest));
    }
    let larger = max(a, b, Extremum::default());
    if a.is_not_a_number() && b.is_not_a_number() {
        // Each format has a NaN of its own for that.
        assert_eq!(larger.bits(), 0x7fff);
        return;
    }
    let wide = max(a.widen(), b.widen(), Extremum::default());
    assert_eq!(larger.widen().to_bits(), wide.to_bits());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn arithmetic_is_rounded_once(a in halves(), b in halves(), c in halves()) {
        check_arithmetic::<F16>(a, b, c);
        check_arithmetic::<Bf16>(a, b, c);
    }

    #[test]
    fn conversions_from_single(value in singles()) {
        let bits = u64::from(value.to_bits());
        let nearest = Rounding::NearestEven;
        prop_assert_eq!(F16::from_f32(value).bits(), soft::convert(soft::F32, soft::F16, bits, nearest));
        prop_assert_eq!(Bf16::from_f32(value).bits(), soft::convert(soft::F32, soft::BF16, bits, nearest));
        if !value.is_nan() {
            prop_assert_eq!(F16::from_f32(value).0, half::f16::from_f32(value).to_bits());
            prop_assert_eq!(Bf16::from_f32(value).0, half::bf16::from_f32(value).to_bits());
        }
    }

    #[test]
    fn conversions_from_double(high in any::<u16>(), low in any::<u64>(), shift in 0_u32..64) {
        // Doubles next to f16 and bf16 numbers and their ties.
        for base in [f64::from(F16(high).to_f32()), f64::from(Bf16(high).to_f32())] {
            let value = f64::from_bits(base.to_bits() ^ (low >> shift >> 12));
            prop_assume!(!value.is_nan());
            let bits = value.to_bits();
            let nearest = Rounding::NearestEven;
            prop_assert_eq!(F16::narrow_f64(value).bits(), soft::convert(soft::F64, soft::F16, bits, nearest));
            prop_assert_eq!(Bf16::narrow_f64(value).bits(), soft::convert(soft::F64, soft::BF16, bits, nearest));
        }
    }

    #[test]
    fn pairs_are_two_numbers(a: u32, b: u32, c: u32) {
        let nearest = Rounding::NearestEven;
        let word = packed3::<F16>(a, b, c, |a, b, c| fma(a, b, c, nearest));
        for (i, half) in unpack::<F16>(word).into_iter().enumerate() {
            let of = |word: u32| F16((word >> (16 * i)) as u16);
            prop_assert_eq!(half, fma(of(a), of(b), of(c), nearest));
        }
        let [low, high] = unpack::<Bf16>(a);
        prop_assert_eq!(pack(low, high), a);
        prop_assert_eq!(packed1::<Bf16>(a, copy_of_minus), a ^ 0x8000_8000);
        prop_assert_eq!(packed2::<F16>(a, b, |_, b| b), b);
    }
}

fn copy_of_minus(a: Bf16) -> Bf16 {
    Bf16(a.0 ^ 0x8000)
}

#[test]
fn fused_is_not_rounded_twice() {
    // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; without the last term the sum
    // with 2^-11 would be a tie and round to even.
    let (a, c) = (F16(0x3c01), F16(0x1000));
    assert_eq!(fma(a, a, c, Rounding::NearestEven), F16(0x3c03));
    assert_eq!(
        add(mul(a, a, Rounding::NearestEven), c, Rounding::NearestEven),
        F16(0x3c02)
    );
}
