//! Floating-point arithmetic: the host's instructions and exact integer
//! arithmetic against each other, and directed modes against their definitions.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::super::Rounding;
use super::super::compare::{Extremum, Property, max, min};
use super::super::float::{
    Float, abs, add, canonical_f32, copysign, div, flush, fma, mul, neg, rcp, relu, saturate, sqrt,
    sub,
};
use super::super::soft::{self, F32, F64};
use super::{doubles, singles};

const DIRECTED: [Rounding; 3] = [Rounding::Zero, Rounding::Down, Rounding::Up];

/// Bits of an `f32`, with every NaN the same. Compares bits: of two NaNs the compiler keeps
/// the one that is already there.
fn canonical(value: f32) -> u64 {
    let bits = u64::from(value.to_bits());
    let is_nan = bits & 0x7fff_ffff > 0x7f80_0000;
    if is_nan { F32.canonical_nan } else { bits }
}

fn canonical_f64(value: f64) -> u64 {
    let bits = value.to_bits();
    let is_nan = bits & (u64::MAX >> 1) > 0x7ff0_0000_0000_0000;
    if is_nan { F64.canonical_nan } else { bits }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn exact_arithmetic_is_the_hosts_in_single(a in singles(), b in singles(), c in singles()) {
        let (x, y, z) = (a.bits(), b.bits(), c.bits());
        let nearest = Rounding::NearestEven;
        prop_assert_eq!(soft::add(F32, x, y, nearest), canonical(a + b));
        prop_assert_eq!(soft::mul(F32, x, y, nearest), canonical(a * b));
        prop_assert_eq!(soft::fma(F32, x, y, z, nearest), canonical(a.mul_add(b, c)));
        prop_assert_eq!(soft::div(F32, x, y, nearest), canonical(a / b));
        prop_assert_eq!(soft::sqrt(F32, x, nearest), canonical(a.sqrt()));
        prop_assert_eq!(fma(a, b, c, nearest).to_bits(), canonical(a.mul_add(b, c)) as u32);
        prop_assert_eq!(sub(a, b, nearest).to_bits(), canonical(a - b) as u32);
        prop_assert_eq!(div(a, b, nearest).to_bits(), canonical(a / b) as u32);
        prop_assert_eq!(rcp(a, nearest).to_bits(), canonical(1.0 / a) as u32);
        prop_assert_eq!(sqrt(a, nearest).to_bits(), canonical(a.sqrt()) as u32);
    }

    #[test]
    fn exact_arithmetic_is_the_hosts_in_double(a in doubles(), b in doubles(), c in doubles()) {
        let (x, y, z) = (a.bits(), b.bits(), c.bits());
        let nearest = Rounding::NearestEven;
        prop_assert_eq!(soft::add(F64, x, y, nearest), canonical_f64(a + b));
        prop_assert_eq!(soft::mul(F64, x, y, nearest), canonical_f64(a * b));
        prop_assert_eq!(soft::fma(F64, x, y, z, nearest), canonical_f64(a.mul_add(b, c)));
        prop_assert_eq!(soft::div(F64, x, y, nearest), canonical_f64(a / b));
        prop_assert_eq!(soft::sqrt(F64, x, nearest), canonical_f64(a.sqrt()));
        prop_assert_eq!(soft::convert(F64, F32, x, nearest), canonical(a as f32));
    }

    #[test]
    fn directed_modes_in_single_are_those_of_exact_arithmetic(a in singles(), b in singles(), c in singles()) {
        let (x, y, z) = (a.bits(), b.bits(), c.bits());
        for rounding in DIRECTED {
            prop_assert_eq!(add(a, b, rounding).bits(), soft::add(F32, x, y, rounding));
            prop_assert_eq!(add(a, -a, rounding).bits(), soft::add(F32, x, (-a).bits(), rounding));
            prop_assert_eq!(mul(a, b, rounding).bits(), soft::mul(F32, x, y, rounding));
            prop_assert_eq!(fma(a, b, c, rounding).bits(), soft::fma(F32, x, y, z, rounding));
            // What is left of a product beside its nearest number, and nothing where it is exact.
            let rest = -canonical_f32(a * b);
            let expected = soft::fma(F32, x, y, rest.bits(), rounding);
            prop_assert_eq!(fma(a, b, rest, rounding).bits(), expected);
        }
    }

    /// Sums and products of `f32` are exact as a sum of two `f64`, whose sign relative to a
    /// candidate says where the true value lies.
    #[test]
    fn directed_modes_in_single(a in singles(), b in singles()) {
        prop_assume!(a.is_finite() && b.is_finite());
        for rounding in DIRECTED {
            for (found, big, small) in [
                (add(a, b, rounding), f64::from(a), f64::from(b)),
                (mul(a, b, rounding), f64::from(a) * f64::from(b), 0.0),
            ] {
                check_directed(found, rounding, |candidate| compare_sum(big, small, candidate));
            }
        }
    }

    /// `candidate * b - a` says where the quotient lies.
    #[test]
    fn directed_division_in_single(a in singles(), b in singles()) {
        prop_assume!(a.is_finite() && b.is_finite() && b != 0.0);
        for rounding in DIRECTED {
            let found = div(a, b, rounding);
            check_directed(found, rounding, |candidate| {
                let (product, sign) = (candidate * f64::from(b), if b < 0.0 { -1 } else { 1 });
                let order = f64::from(a).partial_cmp(&product).unwrap();
                if sign < 0 { order.reverse() } else { order }
            });
        }
    }

    #[test]
    fn directed_modes_in_double_enclose_the_nearest(a in doubles(), b in doubles(), c in doubles()) {
        for (down, nearest, up, zero) in [
            (add(a, b, Rounding::Down), a + b, add(a, b, Rounding::Up), add(a, b, Rounding::Zero)),
            (mul(a, b, Rounding::Down), a * b, mul(a, b, Rounding::Up), mul(a, b, Rounding::Zero)),
            (div(a, b, Rounding::Down), a / b, div(a, b, Rounding::Up), div(a, b, Rounding::Zero)),
            (sqrt(a, Rounding::Down), a.sqrt(), sqrt(a, Rounding::Up), sqrt(a, Rounding::Zero)),
            (fma(a, b, c, Rounding::Down), a.mul_add(b, c), fma(a, b, c, Rounding::Up), fma(a, b, c, Rounding::Zero)),
        ] {
            if nearest.is_nan() {
                prop_assert!(down.is_nan() && up.is_nan() && zero.is_nan());
                continue;
            }
            prop_assert!(down <= nearest && nearest <= up);
            // Neighbours, or the same where the result is exact.
            prop_assert!(down == up || down.next_up() == up);
            let towards_zero = if down < 0.0 { up } else { down };
            prop_assert_eq!(zero, towards_zero);
        }
    }

    #[test]
    fn extremes(a in singles(), b in singles()) {
        let rule = Extremum::default();
        let (low, high) = (min(a, b, rule), max(a, b, rule));
        if a.is_nan() && b.is_nan() {
            prop_assert_eq!((low.to_bits(), high.to_bits()), (0x7fff_ffff, 0x7fff_ffff));
        } else if a.is_nan() || b.is_nan() {
            let number = if a.is_nan() { b } else { a };
            prop_assert_eq!((low.to_bits(), high.to_bits()), (number.to_bits(), number.to_bits()));
        } else {
            let smaller = if a.total_cmp(&b).is_lt() { a } else { b };
            let larger = if a.total_cmp(&b).is_lt() { b } else { a };
            prop_assert_eq!((low.to_bits(), high.to_bits()), (smaller.to_bits(), larger.to_bits()));
        }
        let strict = Extremum { propagates_nan: true, ..rule };
        prop_assert_eq!(min(a, b, strict).is_nan(), a.is_nan() || b.is_nan());
        let xor = Extremum { xor_sign: true, ..rule };
        if !a.is_nan() && !b.is_nan() {
            let expected = a.abs().max(b.abs()).copysign(if a.is_sign_negative() == b.is_sign_negative() { 1.0 } else { -1.0 });
            prop_assert_eq!(max(a, b, xor).to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn signs_limits_and_properties(a in singles(), b in singles()) {
        let of_number = |bits: u32| if a.is_nan() { 0x7fff_ffff } else { bits };
        prop_assert_eq!(neg(a).to_bits(), of_number(a.to_bits() ^ 0x8000_0000));
        prop_assert_eq!(abs(a).to_bits(), of_number(a.to_bits() & 0x7fff_ffff));
        prop_assert_eq!(copysign(a, b).to_bits(), b.copysign(a).to_bits());
        let flushed = if a.is_subnormal() { 0.0_f32.copysign(a) } else { a };
        prop_assert_eq!(flush(a).to_bits(), flushed.to_bits());
        let limited = if a.is_nan() { 0.0 } else { a.clamp(0.0, 1.0) + 0.0 };
        prop_assert_eq!(saturate(a).to_bits(), limited.to_bits());
        let rectified = if a.is_nan() { f32::from_bits(0x7fff_ffff) } else { a.max(0.0) + 0.0 };
        prop_assert_eq!(relu(a).to_bits(), rectified.to_bits());
        for (property, truth) in [
            (Property::Finite, a.is_finite()), (Property::Infinite, a.is_infinite()),
            (Property::Number, !a.is_nan()), (Property::NotANumber, a.is_nan()),
            (Property::Normal, a.is_normal() || a == 0.0), (Property::Subnormal, a.is_subnormal()),
        ] {
            prop_assert_eq!(property.holds(a), truth, "{:?}", property);
        }
    }
}

/// `found` is the value in `rounding`'s direction next to a true value that `compare`
/// compares with a candidate (`Less`: the true value is less).
fn check_directed(found: f32, rounding: Rounding, compare: impl Fn(f64) -> Ordering) {
    let is_within = |rounding: Rounding| {
        let value = f64::from(found);
        match rounding {
            Rounding::Down => {
                // Infinity is beyond every true value here.
                (value == f64::NEG_INFINITY || compare(value).is_ge())
                    && (found == f32::MAX || compare(f64::from(found.next_up())).is_lt())
            }
            _ => {
                (value == f64::INFINITY || compare(value).is_le())
                    && (found == f32::MIN || compare(f64::from(found.next_down())).is_gt())
            }
        }
    };
    let direction = match rounding {
        Rounding::Zero if found.is_sign_negative() => Rounding::Up,
        Rounding::Zero => Rounding::Down,
        other => other,
    };
    assert!(
        is_within(direction),
        "{found:e} is not the result in direction {rounding:?}"
    );
}

/// Compares `big + small` with `candidate`, exactly.
fn compare_sum(big: f64, small: f64, candidate: f64) -> Ordering {
    let sum = big + small;
    let part = sum - big;
    let error = (big - (sum - part)) + (small - part);
    sum.partial_cmp(&candidate)
        .unwrap()
        .then(error.partial_cmp(&0.0).unwrap())
}

#[test]
fn special_values() {
    let nan = f32::from_bits(0x7f80_0001);
    for rounding in DIRECTED.into_iter().chain([Rounding::NearestEven]) {
        assert_eq!(add(nan, 1.0, rounding).to_bits(), 0x7fff_ffff);
        assert_eq!(
            add(f32::INFINITY, f32::NEG_INFINITY, rounding).to_bits(),
            0x7fff_ffff
        );
        assert_eq!(mul(0.0, f32::INFINITY, rounding).to_bits(), 0x7fff_ffff);
        assert_eq!(div(0.0_f32, 0.0, rounding).to_bits(), 0x7fff_ffff);
        assert_eq!(div(1.0_f32, -0.0, rounding), f32::NEG_INFINITY);
        assert_eq!(sqrt(-0.0_f32, rounding).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(sqrt(-1.0_f32, rounding).to_bits(), 0x7fff_ffff);
        // An exact zero is negative only when rounding down.
        let zero = sub(1.0_f32, 1.0, rounding);
        assert_eq!(zero.is_sign_negative(), rounding == Rounding::Down);
        assert_eq!(
            fma(1.0_f32, 1.0, -1.0, rounding).is_sign_negative(),
            rounding == Rounding::Down
        );
    }
    assert_eq!(add(f32::MAX, f32::MAX, Rounding::Zero), f32::MAX);
    assert_eq!(add(f32::MAX, f32::MAX, Rounding::Down), f32::MAX);
    assert_eq!(add(f32::MAX, f32::MAX, Rounding::Up), f32::INFINITY);
    // A product far below the smallest number still rounds up.
    assert_eq!(mul(1e-30_f32, 1e-30, Rounding::Up).to_bits(), 1);
    assert_eq!(mul(1e-300_f64, 1e-300, Rounding::Up).to_bits(), 1);
    // Rounding twice would give 1 here.
    let (a, b) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    assert_eq!(
        fma(a, b, -1.0, Rounding::NearestEven),
        -(f32::EPSILON * f32::EPSILON)
    );
    let payload = f64::from_bits(0x7ff0_0000_0000_1234);
    // f64 keeps the payload of a NaN, of `b` before `c` before `a`.
    let other = f64::from_bits(0xfff8_0000_0000_5678);
    assert_eq!(
        fma(other, payload, other, Rounding::Zero).to_bits(),
        0x7ff8_0000_0000_1234
    );
    assert_eq!(
        fma(payload, 1.0, other, Rounding::NearestEven).to_bits(),
        other.to_bits()
    );
    assert_eq!(neg(payload).to_bits(), 0x7ff8_0000_0000_1234);
    assert_eq!(
        add(1.0, payload, Rounding::NearestEven).to_bits(),
        0x7ff8_0000_0000_1234
    );
    assert_eq!(
        add(1.0, payload, Rounding::Up).to_bits(),
        0x7ff8_0000_0000_1234
    );
    assert_eq!(F64.infinity(), f64::INFINITY.to_bits());
    assert_eq!(F32.largest(), u64::from(f32::MAX.to_bits()));
}
