//! Approximate instructions: within PTX's bounds, and exact at the edges.

use proptest::prelude::*;

use super::super::approx;
use super::super::half::{Bf16, F16};
use super::singles;

proptest! {
    #[test]
    fn within_the_bounds_of_ptx(a in singles(), b in singles()) {
        prop_assume!(a.is_normal() && b.is_normal());
        let x = f64::from(a);
        let relative = |found: f32, exact: f64, bound: f64| {
            let exact_single = exact as f32;
            exact_single.is_infinite() || exact_single == 0.0 || exact_single.is_subnormal()
                || (f64::from(found) - exact).abs() <= exact.abs() * bound
        };
        prop_assert!(relative(approx::ex2(a), x.exp2(), 2_f64.powi(-22)));
        prop_assert!(relative(approx::rcp(a), 1.0 / x, 2_f64.powi(-23)));
        prop_assert!(relative(approx::tanh(a), x.tanh(), 2_f64.powi(-11)));
        let quotient = x / f64::from(b);
        prop_assert!(relative(approx::div_full(a, b), quotient, 2_f64.powi(-22)));
        if (2_f32.powi(-126)..=2_f32.powi(126)).contains(&b.abs()) {
            prop_assert!(relative(approx::div(a, b), quotient, 2_f64.powi(-22)));
        } else {
            prop_assert_eq!(approx::div(a, b), 0.0);
        }
        if a > 0.0 {
            prop_assert!(relative(approx::rsqrt(a), 1.0 / x.sqrt(), 2_f64.powf(-22.9)));
            prop_assert!(relative(approx::sqrt(a), x.sqrt(), 2_f64.powi(-23)));
            let logarithm = f64::from(approx::lg2(a)) - x.log2();
            prop_assert!(logarithm.abs() <= 2_f64.powi(-22) * x.log2().abs().max(1.0));
        }
        if x.abs() <= std::f64::consts::PI {
            prop_assert!((f64::from(approx::sin(a)) - x.sin()).abs() <= 2_f64.powf(-20.5));
            prop_assert!((f64::from(approx::cos(a)) - x.cos()).abs() <= 2_f64.powf(-20.5));
        }
    }
}

#[test]
fn edges() {
    let infinity = f32::INFINITY;
    for (found, expected) in [
        (approx::ex2(0.0), 1.0),
        (approx::ex2(-infinity), 0.0),
        (approx::ex2(128.0), infinity),
        (approx::ex2(-149.0), f32::from_bits(1)),
        (approx::lg2(0.0), -infinity),
        (approx::lg2(-0.0), -infinity),
        (approx::lg2(8.0), 3.0),
        (approx::rcp(-0.0), -infinity),
        (approx::rsqrt(-0.0), -infinity),
        (approx::rsqrt(infinity), 0.0),
        (approx::rsqrt(4.0), 0.5),
        (approx::sqrt(9.0), 3.0),
        (approx::tanh(infinity), 1.0),
        (approx::sin(-0.0), -0.0),
        (approx::cos(0.0), 1.0),
        (approx::div(1.0, 2_f32.powi(126)), 2_f32.powi(-126)),
        (approx::div(infinity, 2.0), infinity),
    ] {
        assert_eq!(found.to_bits(), expected.to_bits(), "{found} {expected}");
    }
    for nan in [
        approx::lg2(-1.0),
        approx::rsqrt(-1.0),
        approx::sqrt(-1.0),
        approx::sin(infinity),
        approx::cos(-infinity),
        approx::ex2(f32::NAN),
        approx::div(infinity, 1.9e38),
        approx::div(0.0, 0.0),
    ] {
        assert_eq!(nan.to_bits(), 0x7fff_ffff);
    }
    assert_eq!(approx::rcp_f64(2.0), 0.5);
    assert_eq!(approx::rcp_f64(3.0).to_bits() & 0xffff_ffff, 0);
    assert_eq!(approx::rcp_f64(1e308), 0.0);
    assert_eq!(approx::rsqrt_ftz_f64(4.0), 0.5);
    assert_eq!(approx::rsqrt_f64(16.0), 0.25);
    assert_eq!(approx::ex2_half(F16(0x3c00)), F16(0x4000));
    assert_eq!(approx::ex2_half(Bf16(0x3f80)), Bf16(0x4000));
    assert_eq!(approx::tanh_half(F16(0x7c00)), F16(0x3c00));
}
