//! Tensor-core sums against exact arithmetic and worked examples.

use ::half::{bf16, f16};
use proptest::prelude::*;

use crate::numeric::mma::{Accumulator, Factor, Model, dot, unpack};

/// The bits of a sum of products of factors by their bits.
fn sum_bits(
    model: Model,
    (factor, accumulator): (Factor, Accumulator),
    [a, b]: [&[u16]; 2],
    c: u32,
) -> u32 {
    let parts = |x: &[u16]| -> Vec<_> { x.iter().map(|&x| unpack(factor, x)).collect() };
    dot(model, factor, accumulator, &parts(a), &parts(b), c)
}

fn halves(values: &[f64]) -> Vec<u16> {
    let half = |&x: &f64| f16::from_f64(x).to_bits();
    values.iter().map(half).collect()
}

fn sum_f32(model: Model, a: &[f64], b: &[f64], c: f32) -> f32 {
    let (a, b) = (halves(a), halves(b));
    let types = (Factor::F16, Accumulator::F32);
    f32::from_bits(sum_bits(model, types, [&a, &b], c.to_bits()))
}

fn sum_f16(model: Model, a: &[f64], b: &[f64], c: f64) -> f16 {
    let (a, b) = (halves(a), halves(b));
    let types = (Factor::F16, Accumulator::F16);
    let c = f16::from_f64(c).to_bits().into();
    f16::from_bits(sum_bits(model, types, [&a, &b], c) as u16)
}

#[test]
fn small_whole_numbers_are_exact() {
    let a: Vec<f64> = (0..16).map(f64::from).collect();
    let b: Vec<f64> = (0..16).map(|i| f64::from(i % 5) - 2.0).collect();
    let exact: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() + 100.0;
    for model in [Model::HOPPER, Model::AMPERE] {
        assert_eq!(f64::from(sum_f32(model, &a, &b, 100.0)), exact);
        assert_eq!(sum_f16(model, &a, &b, 100.0).to_f64(), exact);
    }
}

/// The number of bits kept shows when a small product is added to a large one.
#[test]
fn bits_below_the_kept_ones_are_cut_off() {
    let with = |model, small: f64| {
        // 1 + small - 1: what of `small` survived?
        sum_f32(model, &[1.0, small, -1.0, 0.0], &[1.0; 4], 0.0)
    };
    let power = |exponent: i32| (exponent as f64).exp2();
    // f16 reaches down to 2^-24; its square root of 2^-25 does not exist, so
    // products are used below that.
    assert_eq!(f64::from(with(Model::AMPERE, power(-24))), power(-24));
    let tiny = |model, exponent: i32| {
        let (x, y) = (power(exponent / 2), power(exponent - exponent / 2));
        f64::from(sum_f32(
            model,
            &[1.0, x, -1.0, 0.0],
            &[1.0, y, 1.0, 0.0],
            0.0,
        ))
    };
    assert_eq!(tiny(Model::AMPERE, -24), power(-24));
    assert_eq!(tiny(Model::AMPERE, -25), 0.0);
    assert_eq!(tiny(Model::HOPPER, -25), power(-25));
    assert_eq!(tiny(Model::HOPPER, -26), 0.0);
}

#[test]
fn f32_sums_are_cut_off_toward_zero() {
    let ulp = f64::from(f32::EPSILON);
    let three_quarters = |sign: f64| {
        // sign · (1 + ¾ ulp), in two products.
        let tail = sign * 0.75 * ulp;
        let (x, y) = (tail * 4096.0, 1.0 / 4096.0);
        sum_f32(Model::HOPPER, &[sign, x], &[1.0, y], 0.0)
    };
    assert_eq!(three_quarters(1.0), 1.0);
    assert_eq!(three_quarters(-1.0), -1.0);
}

#[test]
fn f16_sums_are_rounded_to_nearest_even() {
    let half_ulp = (-11f64).exp2();
    for (terms, expected) in [
        (&[1.0, half_ulp][..], 1.0),
        (&[1.0, 3.0 * half_ulp], 1.0 + 4.0 * half_ulp),
        (&[1.0, half_ulp, half_ulp / 8.0], 1.0 + 2.0 * half_ulp),
        (&[65504.0, 65504.0], f64::INFINITY),
    ] {
        let sum = sum_f16(Model::HOPPER, terms, &[1.0; 3][..terms.len()], 0.0);
        assert_eq!(sum.to_f64(), expected, "{terms:?}");
    }
}

#[test]
fn groups_are_rounded_in_between() {
    // 2048 + 1 needs 12 bits: f16 drops the 1 at the end of each group.
    let mut a = vec![0.0; 16];
    (a[0], a[1], a[8]) = (2048.0, 1.0, 1.0);
    assert_eq!(sum_f16(Model::AMPERE, &a, &[1.0; 16], 0.0).to_f64(), 2048.0);
    assert_eq!(sum_f16(Model::HOPPER, &a, &[1.0; 16], 0.0).to_f64(), 2050.0);
}

#[test]
fn special_values_go_their_way() {
    const INF: f64 = f64::INFINITY;
    let sum = |a: &[f64], b: &[f64], c| sum_f32(Model::HOPPER, a, b, c);
    assert_eq!(sum(&[INF, 1.0], &[2.0, 1.0], 0.0), f32::INFINITY);
    assert_eq!(sum(&[INF, 1.0], &[-2.0, 1.0], 0.0), f32::NEG_INFINITY);
    assert_eq!(sum(&[1.0], &[1.0], f32::NEG_INFINITY), f32::NEG_INFINITY);
    for (a, b, c) in [
        (INF, 0.0, 0.0),
        (INF, -1.0, f32::INFINITY),
        (f64::NAN, 1.0, 0.0),
        (1.0, 1.0, f32::NAN),
    ] {
        assert_eq!(sum(&[a], &[b], c).to_bits(), 0x7FFF_FFFF);
    }
    assert_eq!(
        sum_f16(Model::HOPPER, &[INF], &[0.0], 0.0).to_bits(),
        0x7FFF
    );
}

#[test]
fn subnormal_numbers_are_kept() {
    let smallest = (-24f64).exp2();
    assert_eq!(
        f64::from(sum_f32(Model::HOPPER, &[smallest], &[1.0], 0.0)),
        smallest
    );
    assert_eq!(
        sum_f16(Model::HOPPER, &[smallest], &[1.0], 0.0).to_bits(),
        1
    );
    // bf16 products reach below the smallest f32.
    let product = |x: f32, y: f32| {
        let [x, y] = [x, y].map(|x| [bf16::from_f32(x).to_bits()]);
        let types = (Factor::Bf16, Accumulator::F32);
        f32::from_bits(sum_bits(Model::HOPPER, types, [&x, &y], 0))
    };
    let squared = bf16::from_f32(1e-20).to_f32().powi(2);
    assert_eq!(product(1e-20, 1e-20), squared);
    assert_eq!(product(1e-38, 1e-38), 0.0);
    assert_eq!(product(3e38, 3e38), f32::INFINITY);
}

/// From an H200: sums that round to zero are +0, whatever their sign.
#[test]
fn what_rounds_to_zero_is_positive() {
    let tiny = (-14f64).exp2();
    assert_eq!(sum_f16(Model::HOPPER, &[-tiny], &[tiny], 0.0).to_bits(), 0);
    let half_of_smallest = sum_f16(Model::HOPPER, &[-tiny], &[tiny / 2048.0], 0.0);
    assert_eq!(half_of_smallest.to_bits(), 0);
    assert_eq!(sum_f32(Model::HOPPER, &[0.0], &[-1.0], -0.0).to_bits(), 0);
}

/// Factors of an H200's sum, by their bits, and its addend.
type Terms = (&'static [u16], &'static [u16], u32);

/// Three sums (m16n8k8, `f16`): the largest exponent is the accumulator's, the result rounds to
/// zero from below.
#[rustfmt::skip]
const ROUNDED_FROM_BELOW: [Terms; 3] = [
    (
        &[0x8c92, 0x0c47, 0x03b3, 0x891a, 0x803f, 0x8573, 0x8ed8, 0x8fcc],
        &[0x1040, 0x866f, 0x8c14, 0x8141, 0x8b1b, 0x09cf, 0x814d, 0x081b],
        0x0004,
    ),
    (
        &[0x80ca, 0x10f9, 0x8d76, 0x07eb, 0x8af1, 0x9238, 0x86f8, 0x08d6],
        &[0x1115, 0x007d, 0x89d8, 0x02a8, 0x127b, 0x04a0, 0x1034, 0x09a2],
        0x0003,
    ),
    (
        &[0x09eb, 0x8a08, 0x8bc1, 0x8f6c, 0x9193, 0x0699, 0x04e2, 0x8199],
        &[0x903a, 0x1064, 0x808b, 0x0fae, 0x8578, 0x81b5, 0x8f41, 0x0382],
        0x0006,
    ),
];

/// Two sums (`bf16`) in which products are so small that what the least exponent cuts off of them
/// decides between zero and the smallest number.
#[rustfmt::skip]
const CUT_OFF: [Terms; 2] = [
    (
        &[0x9a12, 0x8d10, 0x9108, 0x083a, 0x1a0d, 0x1821, 0x80f1, 0x16d1],
        &[0x998e, 0x8c2e, 0x1800, 0x0fdd, 0x1a1f, 0x95ad, 0x0bc3, 0x10e9],
        0x8000_0000,
    ),
    (
        &[
            0x16b5, 0x0f91, 0x8a2a, 0x025f, 0x8719, 0x842b, 0x04ce, 0x0754,
            0x001c, 0x8006, 0x1534, 0x0e1e, 0x9a28, 0x8153, 0x0420, 0x96b3,
        ],
        &[
            0x90f8, 0x856b, 0x8032, 0x0572, 0x8fb8, 0x18f7, 0x0d9f, 0x0742,
            0x8f24, 0x8425, 0x83dc, 0x0412, 0x9a43, 0x000a, 0x12fa, 0x980d,
        ],
        0,
    ),
];

#[test]
fn sums_from_the_hardware() {
    let halves = (Factor::F16, Accumulator::F16);
    let singles = (Factor::Bf16, Accumulator::F32);
    for (types, sums) in [(halves, &ROUNDED_FROM_BELOW[..]), (singles, &CUT_OFF)] {
        for &(a, b, c) in sums {
            assert_eq!(sum_bits(Model::HOPPER, types, [a, b], c), 0, "{a:x?}");
        }
    }
}

proptest! {
    /// The error is what the cutting off allows, against exact sums in f64 (the
    /// factors' exponents are held within the range where those are exact).
    #[test]
    fn errors_stay_within_the_model(
        a in prop::collection::vec(-1.0f64..1.0, 16),
        b in prop::collection::vec(-1.0f64..1.0, 16),
        c in -1.0f32..1.0,
    ) {
        let round = |x: &f64| f16::from_f64(*x).to_f64();
        let terms: Vec<f64> = a.iter().zip(&b).map(|(a, b)| round(a) * round(b)).collect();
        let exact = terms.iter().sum::<f64>() + f64::from(c);
        let largest = terms.iter().map(|t| t.abs()).fold(f64::from(c.abs()), f64::max);
        // Each of 17 terms is cut by less than one unit below the largest
        // exponent, of which the largest term is at least 1 (a product's
        // significand is in [1, 4)); the result by less than one of its own.
        for (model, groups) in [(Model::HOPPER, 1.0), (Model::AMPERE, 2.0)] {
            let unit = (-(model.fraction_bits as f64)).exp2() * largest.max(exact.abs());
            let bound = groups * (17.0 * unit + f64::from(f32::EPSILON) * (exact.abs() + 17.0 * unit));
            let got = f64::from(sum_f32(model, &a, &b, c));
            prop_assert!((got - exact).abs() <= bound, "{got} for {exact}, bound {bound:e}");
        }
    }

    /// One product and nothing else is exact in f32, whatever it is.
    #[test]
    fn single_products_are_exact(a: u16, b: u16) {
        let (x, y) = (f16::from_bits(a).to_f32(), f16::from_bits(b).to_f32());
        let types = (Factor::F16, Accumulator::F32);
        let got = sum_bits(Model::HOPPER, types, [&[a], &[b]], 0);
        let expected = x * y;
        if expected.is_nan() {
            prop_assert_eq!(got, 0x7FFF_FFFF);
        } else if expected == 0.0 {
            prop_assert_eq!(got, 0);
        } else {
            prop_assert_eq!(got, expected.to_bits());
        }
    }
}
