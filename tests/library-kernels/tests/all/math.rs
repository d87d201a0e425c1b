//! The well-bounded functions: the same bits on host and device, and errors no larger
//! than `cuda_std::float` says.

use crate::bench::Bench;
use astro_float_num::{BigFloat, Consts, RoundingMode};
use cuda_std::float::GpuFloat;
use cuda_std::launch::{DevicePtrMut, DeviceSlice};
use library_kernels::math::{self as kernels, N_FUNCTIONS};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::f64::consts::FRAC_PI_2;

/// Arguments of one function, with the second of `powf`.
type Arguments = Vec<(f64, f64)>;

/// A function under test.
struct Function {
    name: &'static str,
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
    /// In `f64`, by the host's own library.
    host: fn(f64, f64) -> f64,
    exact: fn(&Exact, f64, f64, &mut Consts) -> BigFloat,
    /// Arguments for `f64`, or, if wanted, for `f32`.
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

macro_rules! functions {
    ($($name:ident: $arguments:expr, $exact:expr;)*) => {
        [$(
            Function {
                name: stringify!($name),
                single: |x, _| GpuFloat::$name(x),
                double: |x, _| GpuFloat::$name(x),
                host: |x, _| x.$name(),
                exact: |e, x, _, consts| {
                    let exact: fn(BigFloat, &Exact, &mut Consts) -> BigFloat = $exact;
                    exact(e.of(x), e, consts)
                },
                arguments: |rng, is_single| {
                    let arguments: fn(&mut StdRng, bool) -> f64 = $arguments;
                    (arguments(rng, is_single), 0.0)
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

fn functions() -> Vec<Function> {
    let mut all = Vec::from(functions! {
        sin: angle, |x, e, c| x.sin(e.bits, ROUND, c);
        cos: angle, |x, e, c| x.cos(e.bits, ROUND, c);
        tan: angle, |x, e, c| x.tan(e.bits, ROUND, c);
        asin: within_one, |x, e, c| x.asin(e.bits, ROUND, c);
        acos: within_one, |x, e, c| x.acos(e.bits, ROUND, c);
        atan: |rng, _| log_uniform(rng, -20.0, 40.0), |x, e, c| x.atan(e.bits, ROUND, c);
        exp: |rng, is_single| {
            if is_single { rng.random_range(-87.0..88.0) } else { rng.random_range(-708.0..709.0) }
        }, |x, e, c| x.exp(e.bits, ROUND, c);
        exp2: |rng, is_single| {
            if is_single { rng.random_range(-125.0..127.0) } else { rng.random_range(-1021.0..1023.0) }
        }, |x, e, c| e.of(2.0).pow(&x, e.bits, ROUND, c);
        ln: positive, |x, e, c| x.ln(e.bits, ROUND, c);
        log2: positive, |x, e, c| x.log2(e.bits, ROUND, c);
        log10: positive, |x, e, c| x.log10(e.bits, ROUND, c);
        tanh: |rng, _| log_uniform(rng, -20.0, 4.5), |x, e, c| x.tanh(e.bits, ROUND, c);
    });
    all.push(Function {
        name: "powf",
        single: |x, y| GpuFloat::powf(x, y),
        double: |x, y| GpuFloat::powf(x, y),
        host: f64::powf,
        exact: |e, x, y, consts| e.of(x).pow(&e.of(y), e.bits, ROUND, consts),
        arguments: |rng, is_single| {
            let x = log_uniform(rng, -8.0, 8.0).abs();
            let most = if is_single { 15.0 } else { 120.0 };
            (x, rng.random_range(-most..most))
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
    for (x, y) in arguments(function, 3000, false) {
        let found = (function.double)(x, y);
        let expected = (function.exact)(&exact, x, y, &mut consts);
        let difference = expected.sub(&exact.of(found), 256, ROUND);
        let Some((difference, at)) = leading(&difference) else {
            continue;
        };
        let (_, exponent) = leading(&expected).expect("no result is 0");
        let ulp = (exponent - 53).max(-1074);
        let error = difference * ((at - ulp) as f64).exp2();
        assert!(error < 10.0, "{}({x:e}, {y:e}) = {found:e}", function.name);
        largest = largest.max(error);
    }
    largest
}

/// Largest error of an `f32` function, in units of the last place.
fn error_single(function: &Function) -> f64 {
    let mut largest = 0.0f64;
    for (x, y) in arguments(function, 50_000, true) {
        let (x, y) = (x as f32, y as f32);
        let found = (function.single)(x, y);
        let expected = (function.host)(f64::from(x), f64::from(y));
        let exponent = expected.abs().log2().floor();
        let ulp = (exponent - 23.0).max(-149.0).exp2();
        let error = (f64::from(found) - expected).abs() / ulp;
        assert!(error < 10.0, "{}({x:e}, {y:e}) = {found:e}", function.name);
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

#[test]
fn host_and_device_give_the_same_bits() {
    let mut rng = StdRng::seed_from_u64(29);
    let mut x = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        1e-310,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    x.extend((0..250).map(|_| log_uniform(&mut rng, -30.0, 70.0)));
    x.resize(320, 0.75);
    let y: Vec<f64> = x.iter().map(|_| rng.random_range(-4.0..4.0)).collect();
    let mut bench = Bench::of("math");
    let bytes = |x: &[f64]| -> Vec<u8> { x.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let on_device = [&x, &y].map(|x| DeviceSlice::new(bench.upload(&bytes(x)), 320));
    let (single, double) = (
        bench.output(320 * N_FUNCTIONS * 4),
        bench.output(320 * N_FUNCTIONS * 8),
    );
    let args = (
        on_device[0],
        on_device[1],
        DevicePtrMut::new(single),
        DevicePtrMut::new(double),
    );
    bench.launch(kernels::all_functions, 10, 32, args);
    let singles = bench.read_floats(single, 320 * N_FUNCTIONS);
    let doubles = bench.read(double, 320 * N_FUNCTIONS);
    for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
        let (expected, wide) = (kernels::all(x as f32, y as f32), kernels::all(x, y));
        for k in 0..N_FUNCTIONS {
            let (a, b) = (singles[i * N_FUNCTIONS + k], expected[k]);
            assert!(
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                "f32 function {k} of {x:e} and {y:e}: {a:e} on the device, {b:e} on the host"
            );
            let (a, b) = (f64::from_le_bytes(doubles[i * N_FUNCTIONS + k]), wide[k]);
            assert!(
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                "f64 function {k} of {x:e} and {y:e}: {a:e} on the device, {b:e} on the host"
            );
        }
    }
}
