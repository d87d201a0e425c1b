//! The functions of `GpuFloat`: the same bits on host and device, and errors no larger than
//! `cuda_std::float` says.

use crate::bench::{Bench, read};
use astro_float_num::{BigFloat, Consts, RoundingMode};
use cuda_std::GpuFloat;
use library_kernels::math::{self as kernels, N_FUNCTIONS};
use lockstep::Report;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::f64::consts::FRAC_PI_2;

/// Arguments of one function, with the second of `powf`.
type Arguments = Vec<(f64, f64)>;

/// An argument for `f64`, or, if wanted, for `f32`.
type Generator = fn(&mut StdRng, bool) -> f64;

/// A function under test; the second argument is of those that have one.
struct Function {
    name: &'static str,
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
    /// In `f64`, by the host's own library.
    host: fn(f64, f64) -> f64,
    exact: fn(&Exact, f64, f64, &mut Consts) -> BigFloat,
    arguments: fn(&mut StdRng, bool) -> (f64, f64),
}

/// Arithmetic in this many bits.
struct Exact {
    bits: usize,
}

const ROUND: RoundingMode = RoundingMode::ToEven;

impl Exact {
    fn of(&self, x: f64) -> BigFloat {
        BigFloat::from_f64(x, self.bits)
    }
}

/// `$value`, where `$given` is given.
macro_rules! if_given {
    ($value:expr, $given:expr) => {
        $value
    };
}

macro_rules! functions {
    ($($name:ident($first:expr $(, $second:expr)? $(,)?): $exact:expr;)*) => {
        vec![$(
            Function {
                name: stringify!($name),
                single: |x, _y| GpuFloat::$name(x $(, if_given!(_y, $second))?),
                double: |x, _y| GpuFloat::$name(x $(, if_given!(_y, $second))?),
                host: |x, _y| x.$name($(if_given!(_y, $second))?),
                exact: |e, x, y, consts| {
                    let exact: fn(BigFloat, BigFloat, &Exact, &mut Consts) -> BigFloat = $exact;
                    exact(e.of(x), e.of(y), e, consts)
                },
                arguments: |rng, is_single| {
                    let (first, second): (Generator, &[Generator]) = ($first, &[$($second)?]);
                    let x = first(rng, is_single);
                    (x, second.first().map_or(0.0, |second| second(rng, is_single)))
                },
            },
        )*]
    };
}

/// Both signs, and as many numbers between 2^`low` and twice that as at any other power of
/// two.
fn log_uniform(rng: &mut StdRng, low: f64, high: f64) -> f64 {
    let sign = if rng.random_range(0..2) == 0 {
        1.0
    } else {
        -1.0
    };
    sign * rng.random_range(low..high).exp2()
}

/// Angles of all sizes, many of them near multiples of π/2.
fn angle(rng: &mut StdRng, _: bool) -> f64 {
    match rng.random_range(0..3) {
        0 => log_uniform(rng, -20.0, 60.0),
        1 => f64::from(rng.random_range(-1_000_000..1_000_000)) * FRAC_PI_2,
        _ => rng.random_range(-10.0..10.0),
    }
}

fn positive(rng: &mut StdRng, is_single: bool) -> f64 {
    let range = if is_single { 126.0 } else { 1022.0 };
    match rng.random_range(0..2) {
        0 => log_uniform(rng, -range, range).abs(),
        _ => 1.0 + log_uniform(rng, -15.0, -0.5),
    }
}

fn within_one(rng: &mut StdRng, _: bool) -> f64 {
    match rng.random_range(0..2) {
        0 => rng.random_range(-1.0..1.0),
        _ => log_uniform(rng, -20.0, 0.0),
    }
}

fn any_size(rng: &mut StdRng, _: bool) -> f64 {
    log_uniform(rng, -20.0, 40.0)
}

/// Exponents of e: small ones, and those without overflow.
fn exponent(rng: &mut StdRng, is_single: bool) -> f64 {
    match rng.random_range(0..2) {
        0 => log_uniform(rng, -20.0, 3.0),
        _ if is_single => rng.random_range(-87.0..88.0),
        _ => rng.random_range(-708.0..709.0),
    }
}

fn functions() -> Vec<Function> {
    let mut all = trigonometric();
    all.extend(exponential());
    all.extend(hyperbolic());
    all.extend(powers());
    all
}

fn trigonometric() -> Vec<Function> {
    functions! {
        sin(angle): |x, _, e, c| x.sin(e.bits, ROUND, c);
        cos(angle): |x, _, e, c| x.cos(e.bits, ROUND, c);
        tan(angle): |x, _, e, c| x.tan(e.bits, ROUND, c);
        asin(within_one): |x, _, e, c| x.asin(e.bits, ROUND, c);
        acos(within_one): |x, _, e, c| x.acos(e.bits, ROUND, c);
        atan(any_size): |x, _, e, c| x.atan(e.bits, ROUND, c);
        atan2(any_size, any_size): |y, x, e, c| {
            let angle = y.div(&x, e.bits, ROUND).atan(e.bits, ROUND, c);
            let half_turn = c.pi(e.bits, ROUND);
            match (x.is_negative(), y.is_negative()) {
                (false, _) => angle,
                (true, false) => angle.add(&half_turn, e.bits, ROUND),
                (true, true) => angle.sub(&half_turn, e.bits, ROUND),
            }
        };
    }
}

fn exponential() -> Vec<Function> {
    functions! {
        exp(exponent): |x, _, e, c| x.exp(e.bits, ROUND, c);
        exp2(|rng, is_single| {
            if is_single { rng.random_range(-125.0..127.0) } else { rng.random_range(-1021.0..1023.0) }
        }): |x, _, e, c| e.of(2.0).pow(&x, e.bits, ROUND, c);
        exp_m1(exponent): |x, _, e, c| x.exp(e.bits, ROUND, c).sub(&e.of(1.0), e.bits, ROUND);
        ln(positive): |x, _, e, c| x.ln(e.bits, ROUND, c);
        ln_1p(|rng, _| match rng.random_range(0..2) {
            0 => log_uniform(rng, -20.0, 60.0).abs(),
            _ => -rng.random_range(0.0..0.9999),
        }): |x, _, e, c| x.add(&e.of(1.0), 1100, ROUND).ln(e.bits, ROUND, c);
        log(positive, |rng, _| rng.random_range(1.1..20.0)): |x, base, e, c| {
            let base = base.ln(e.bits, ROUND, c);
            x.ln(e.bits, ROUND, c).div(&base, e.bits, ROUND)
        };
        log2(positive): |x, _, e, c| x.log2(e.bits, ROUND, c);
        log10(positive): |x, _, e, c| x.log10(e.bits, ROUND, c);
    }
}

fn hyperbolic() -> Vec<Function> {
    functions! {
        sinh(exponent): |x, _, e, c| x.sinh(e.bits, ROUND, c);
        cosh(exponent): |x, _, e, c| x.cosh(e.bits, ROUND, c);
        tanh(|rng, _| log_uniform(rng, -20.0, 4.5)): |x, _, e, c| x.tanh(e.bits, ROUND, c);
        asinh(any_size): |x, _, e, c| x.asinh(e.bits, ROUND, c);
        acosh(|rng, _| 1.0 + log_uniform(rng, -15.0, 40.0).abs()): |x, _, e, c| x.acosh(e.bits, ROUND, c);
        atanh(|rng, is_single| 0.9999 * within_one(rng, is_single)): |x, _, e, c| x.atanh(e.bits, ROUND, c);
    }
}

/// Roots and powers.
fn powers() -> Vec<Function> {
    let mut all = functions! {
        cbrt(|rng, is_single| positive(rng, is_single).copysign(rng.random_range(-1.0..1.0))):
            |x, _, e, _| x.cbrt(e.bits, ROUND);
        hypot(any_size, any_size): |x, y, e, _| {
            let squares = [x, y].map(|x| x.mul(&x, e.bits, ROUND));
            squares[0].add(&squares[1], e.bits, ROUND).sqrt(e.bits, ROUND)
        };
        powf(
            |rng, _| log_uniform(rng, -8.0, 8.0).abs(),
            |rng, is_single| {
                let most = if is_single { 15.0 } else { 120.0 };
                rng.random_range(-most..most)
            },
        ): |x, y, e, c| x.pow(&y, e.bits, ROUND, c);
    };
    all.push(Function {
        name: "powi",
        single: |x, n| GpuFloat::powi(x, n as i32),
        double: |x, n| GpuFloat::powi(x, n as i32),
        host: |x, n| x.powi(n as i32),
        exact: |e, x, n, _| {
            let power = e.of(x).powi(n.abs() as usize, e.bits, ROUND);
            if n < 0.0 {
                power.reciprocal(e.bits, ROUND)
            } else {
                power
            }
        },
        arguments: |rng, _| {
            let n: i32 = rng.random_range(-16..=16);
            (log_uniform(rng, -7.0, 7.0), n.into())
        },
    });
    all
}

fn arguments(function: &Function, n: usize, is_single: bool) -> Arguments {
    let mut rng = StdRng::seed_from_u64(23);
    (0..n)
        .map(|_| (function.arguments)(&mut rng, is_single))
        .collect()
}

/// Leading bits of a number and their exponent: it is the first times two to the power of
/// the second. None for 0.
fn leading(x: &BigFloat) -> Option<(f64, i64)> {
    let (words, _, _, exponent, _) = x.as_raw_parts()?;
    let top = *words.last()?;
    (top != 0).then(|| (top as f64 / 2f64.powi(64), i64::from(exponent)))
}

/// Largest error of an `f64` function, in units of the last place.
fn error_double(function: &Function) -> f64 {
    let exact = Exact { bits: 192 };
    let mut consts = Consts::new().expect("there is memory");
    let mut largest = 0.0f64;
    for (x, y) in arguments(function, 5000, false) {
        let found = (function.double)(x, y);
        let expected = (function.exact)(&exact, x, y, &mut consts);
        let difference = expected.sub(&exact.of(found), 256, ROUND);
        let Some((difference, at)) = leading(&difference) else {
            continue;
        };
        let (_, exponent) = leading(&expected).expect("no result is 0");
        let ulp = (exponent - 53).max(-1074);
        let error = difference * ((at - ulp) as f64).exp2();
        assert!(error < 20.0, "{}({x:e}, {y:e}) = {found:e}", function.name);
        largest = largest.max(error);
    }
    largest
}

/// Largest error of an `f32` function, in units of the last place.
fn error_single(function: &Function) -> f64 {
    let mut largest = 0.0f64;
    for (x, y) in arguments(function, 200_000, true) {
        let (x, y) = (x as f32, y as f32);
        let found = (function.single)(x, y);
        let expected = (function.host)(f64::from(x), f64::from(y));
        let exponent = expected.abs().log2().floor();
        let ulp = (exponent - 23.0).max(-149.0).exp2();
        let error = (f64::from(found) - expected).abs() / ulp;
        assert!(error < 20.0, "{}({x:e}, {y:e}) = {found:e}", function.name);
        largest = largest.max(error);
    }
    largest
}

#[test]
fn errors_are_those_of_the_table() {
    let documentation = include_str!("../../../../crates/cuda_std/src/float.rs");
    let rows = documentation
        .lines()
        .filter(|line| line.starts_with("//! | `"));
    let rows: Vec<&str> = rows.collect();
    let up = |error: f64| (error * 100.0).ceil() / 100.0;
    let seen: Vec<String> = functions()
        .iter()
        .map(|function| {
            let (single, double) = (error_single(function), error_double(function));
            format!(
                "//! | `{}` | {:.2} | {:.2} |",
                function.name,
                up(single),
                up(double)
            )
        })
        .collect();
    assert!(rows == seen, "the table is\n{}", seen.join("\n"));
}

/// Numbers of all sizes, and the special ones.
fn odd_numbers() -> [Vec<f64>; 2] {
    let mut rng = StdRng::seed_from_u64(29);
    let mut x = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        0.5f64.next_down(),
        -0.5f32.next_down() as f64,
        2.5,
        1e-310,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    x.extend((x.len()..2048).map(|_| log_uniform(&mut rng, -30.0, 70.0)));
    let y = x.iter().map(|_| rng.random_range(-4.0..4.0)).collect();
    [x, y]
}

/// Tests of what the device does with all functions of a type.
macro_rules! on_device {
    ($type:ident, $kernel:ident) => {
        mod $type {
            use super::*;

            /// Equal bits, or both not a number.
            fn same(a: $type, b: $type) -> bool {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }

            /// The launch's report, and the results.
            pub fn on_device([x, y]: &[Vec<$type>; 2]) -> (Report, Vec<$type>) {
                let bench = Bench::of("math");
                let n_blocks = x.len() as u32 / 32;
                let results = bench.output(x.len() * N_FUNCTIONS);
                let (x, y) = (bench.input(x), bench.input(y));
                let args = (x.as_slice(), y.as_slice(), results.as_mut_ptr());
                let report = bench.launch(kernels::$kernel, n_blocks, 32, args);
                (report, read(&results))
            }

            #[test]
            fn results_have_the_bits_of_the_hosts() {
                let numbers = odd_numbers().map(|x| x.into_iter().map(|x| x as $type).collect());
                let (_, found) = on_device(&numbers);
                let [x, y] = numbers;
                for ((x, y), found) in x.into_iter().zip(y).zip(found.chunks(N_FUNCTIONS)) {
                    let mut expected = Vec::new();
                    kernels::all(x, y, |value: $type| expected.push(value));
                    assert_eq!(expected.len(), N_FUNCTIONS);
                    let [sin, cos, of_sin, of_cos] = *expected.first_chunk().expect("all");
                    assert!(same(sin, of_sin) && same(cos, of_cos), "sin_cos of {x:e}");
                    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
                        assert!(
                            same(*a, b),
                            "function {k} of {x:e} and {y:e}: {a:e} on the device, {b:e} on the host"
                        );
                    }
                }
            }

            #[test]
            fn exact_functions_are_those_of_std() {
                let [x, y] = odd_numbers();
                for (x, y) in x.into_iter().zip(y) {
                    let (x, y) = (x as $type, y as $type);
                    for (found, expected) in [
                        (GpuFloat::fract(x), x.fract()),
                        (GpuFloat::round(x), x.round()),
                        (GpuFloat::abs(x), x.abs()),
                        (GpuFloat::signum(x), x.signum()),
                        (GpuFloat::copysign(x, y), x.copysign(y)),
                        (GpuFloat::div_euclid(x, y), x.div_euclid(y)),
                        (GpuFloat::rem_euclid(x, y), x.rem_euclid(y)),
                    ] {
                        assert!(same(found, expected), "{x:e} and {y:e}: {found:e}, {expected:e}");
                    }
                }
            }
        }
    };
}
on_device!(f32, functions_f32);
on_device!(f64, functions_f64);

#[test]
fn ordinary_f32_arguments_need_no_local_memory() {
    let mut rng = StdRng::seed_from_u64(31);
    let mut numbers = || (0..320).map(|_| rng.random_range(0.01..10.0)).collect();
    let (report, _) = f32::on_device(&[numbers(), numbers()]);
    report.expect_no_local_memory();
}
