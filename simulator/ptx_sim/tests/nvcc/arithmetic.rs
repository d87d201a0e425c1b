//! Arithmetic: wide integers, bits, half precision, and CUDA's mathematical
//! library, whose slow paths are long straight-line code.

use half::{bf16, f16};

use common::numbers::{Numbers, reals, singles};

use super::{assert_close, bench, wide};

/// A function of the library, as the host has it.
type Function = fn(f64) -> f64;

#[test]
fn wide_integers() {
    let n = 200;
    let mut numbers = Numbers(1);
    let mut number = || {
        let (r, shift) = (numbers.next().unwrap(), numbers.next().unwrap() % 64);
        (r >> shift) as i64 * if r & 1 == 0 { 1 } else { -1 }
    };
    let a: Vec<i64> = (0..n).map(|_| number()).collect();
    let b: Vec<i64> = (0..n)
        .map(|_| number())
        .map(|b| if b == 0 { 7 } else { b })
        .collect();
    let bench = bench(include_str!("integers.ptx"));
    let on_device = (bench.upload(&a, "a"), bench.upload(&b, "b"));
    let out = bench.zeros::<i64>(8 * n, "out");
    bench.check(
        "divide",
        2,
        128,
        &[&on_device.0, &on_device.1, &out, &(n as i32)],
    );
    let found = bench.download(out);
    for i in 0..n {
        let (a, b) = (a[i], b[i]);
        let (ua, ub) = (a as u64, b as u64);
        let mut gcd = (ua, ub);
        while gcd.1 != 0 {
            gcd = (gcd.1, gcd.0 % gcd.1);
        }
        let wide = i128::from(a) * i128::from(b) + i128::from(a);
        let expected = [
            a.wrapping_div(b),
            a.wrapping_rem(b),
            (ua / ub) as i64,
            (ua % ub) as i64,
            ((i128::from(a) * i128::from(b)) >> 64) as i64,
            gcd.0 as i64,
            (wide >> 37) as i64,
            a / 10 + a % 1000,
        ];
        for (k, e) in expected.iter().enumerate() {
            assert_eq!(found[k * n + i], *e, "result {k} of {a} and {b}");
        }
    }
}

#[test]
fn bits() {
    let n = 100;
    let a: Vec<u32> = Numbers(2).take(n).map(|r| (r >> (r % 40)) as u32).collect();
    let b: Vec<u32> = Numbers(3).take(n).map(|r| (r >> (r % 40)) as u32).collect();
    let bench = bench(include_str!("integers.ptx"));
    let on_device = (bench.upload(&a, "a"), bench.upload(&b, "b"));
    let out = bench.zeros::<u32>(7 * n, "out");
    bench.check(
        "bits",
        1,
        128,
        &[&on_device.0, &on_device.1, &out, &(n as i32)],
    );
    let found = bench.download(out);
    for i in 0..n {
        let (x, y) = (a[i], b[i]);
        let first_set = if y == 0 { 0 } else { y.trailing_zeros() + 1 };
        let both = [x.to_le_bytes(), y.to_le_bytes()].concat();
        let permuted = u32::from_le_bytes([both[6], both[4], both[1], both[5]]);
        let left = (u64::from(y) << 32 | u64::from(x)) << (y & 31) >> 32;
        let right = (u64::from(y) << 32 | u64::from(x)) >> 17;
        let dot: i32 = (0..4)
            .map(|k| i32::from(both[k] as i8) * i32::from(both[4 + k] as i8))
            .sum();
        let apart = i64::from(x as i32).abs_diff(i64::from(y as i32)) as u32;
        let bytes = |f: &dyn Fn(u8, u8) -> u8| {
            u32::from_le_bytes(std::array::from_fn(|k| f(both[k], both[4 + k])))
        };
        let low = |x: u32| i64::from((x << 8) as i32 >> 8);
        let expected = [
            x.count_ones() + 100 * x.leading_zeros() + 10_000 * first_set,
            x.reverse_bits() ^ permuted,
            (left as u32).wrapping_add(right as u32),
            (dot as u32)
                .wrapping_add(5)
                .wrapping_add(apart.wrapping_add(7)),
            bytes(&u8::wrapping_add)
                ^ bytes(&u8::abs_diff)
                ^ bytes(&|a, b| if a > b { 255 } else { 0 }),
            (((u64::from(x) + u64::from(y)) / 2) as u32)
                .wrapping_add(((u64::from(x) * u64::from(y)) >> 32) as u32)
                .wrapping_add((low(x) * low(y)) as u32),
            (x & y) | (!x & b[(i + 1) % n]),
        ];
        for (k, e) in expected.iter().enumerate() {
            assert_eq!(found[k * n + i], *e, "result {k} of {x:#x} and {y:#x}");
        }
    }
}

#[test]
fn double_precision() {
    let n = 256;
    let mut x = reals(4, n, 3.0);
    // Where sine needs its slow path.
    x[7] = 1e9;
    x[8] = -3.5e15;
    x[9] = 1e-300;
    let bench = bench(include_str!("doubles.ptx"));
    let input = bench.upload(&x, "x");
    let out = bench.zeros::<f64>(10 * n, "out");
    bench.check("doubles", 2, 128, &[&input, &out, &(n as i32)]);
    let found = bench.download(out);
    // Exact where IEEE 754 says so.
    let exact: [fn(f64) -> f64; 2] = [|v| 1.0 / v, |v| v.abs().sqrt()];
    for (k, f) in exact.iter().enumerate() {
        assert_eq!(
            found[k * n..][..n],
            x.iter().map(|&v| f(v)).collect::<Vec<_>>()
        );
    }
    let remainder: Vec<f64> = x.iter().map(|v| v % 0.7).collect();
    assert_eq!(found[6 * n..][..n], remainder);
    let close: [(usize, Function); 6] = [
        (2, f64::sin),
        (3, |v| (-v * v).exp()),
        (4, |v| (v.abs() + 1.0).ln()),
        (5, |v| v.abs().powf(1.25)),
        (7, |v| {
            v.round_ties_even() + v.floor() * 4.0 + v.ceil() * 16.0 + v.trunc() * 64.0
        }),
        (9, |v| v.atan2(1.5) + v.cbrt() + v.hypot(2.0)),
    ];
    for (k, f) in close {
        let expected: Vec<f64> = x.iter().map(|&v| f(v)).collect();
        assert_close(&found[k * n..][..n], &expected, 1e-15);
    }
    // Rounded down and up: never above, never below.
    for (v, directed) in x.iter().zip(&found[8 * n..]) {
        let nearest = (v + 1e-17) - v * 1.1;
        assert!(
            *directed <= nearest && (directed - nearest).abs() <= 1e-15 * v.abs(),
            "{v}"
        );
    }
}

#[test]
fn single_precision() {
    let n = 256;
    let mut x = singles(5, n, 3.0);
    x[7] = 1e6;
    x[9] = 1e-30;
    let bench = bench(include_str!("doubles.ptx"));
    let input = bench.upload(&x, "x");
    let out = bench.zeros::<f32>(10 * n, "out");
    bench.check("singles", 2, 128, &[&input, &out, &(n as i32)]);
    let found = bench.download(out);
    let exact: [fn(f32) -> f32; 2] = [|v| 1.0 / v, |v| v.abs().sqrt()];
    for (k, f) in exact.iter().enumerate() {
        assert_eq!(
            found[k * n..][..n],
            x.iter().map(|&v| f(v)).collect::<Vec<_>>()
        );
    }
    let close: [(usize, Function); 5] = [
        (2, |v| v.sin() + v.cos()),
        (3, |v| (-v.abs()).exp() + v.tanh()),
        (4, |v| (v.abs() + 1.0).ln() + (v.abs() + 0.5).log2()),
        (5, |v| v.abs().powf(1.25)),
        (7, |v| v.floor() + v.ceil() * 4.0 + v.round_ties_even()),
    ];
    for (k, f) in close {
        let expected: Vec<f64> = x.iter().map(|&v| f(f64::from(v))).collect();
        assert_close(&wide(&found[k * n..][..n]), &expected, 5e-7);
    }
    for (i, &v) in x.iter().enumerate() {
        let scaled = v * 2.0_f32.powi(i as i32 % 7 - 3);
        assert_eq!(
            found[8 * n + i],
            scaled + 2.0_f32.copysign(v) + v.mul_add(v, 1.0)
        );
    }
    let rough: Vec<f64> = x
        .iter()
        .map(|&v| f64::from(v))
        .map(|v| v / 3.0 + (v / 16.0).exp() + v.sin() + 1.0 / (v.abs() + 1.0).sqrt())
        .collect();
    for i in (0..n).filter(|&i| x[i].abs() < 4.0) {
        assert!(
            (f64::from(found[9 * n + i]) - rough[i]).abs() < 1e-5,
            "{}",
            x[i]
        );
    }
}

#[test]
fn half_precision() {
    let n = 128;
    let halves = |seed| -> Vec<[f16; 2]> {
        let values: Vec<f16> = reals(seed, 2 * n, 4.0)
            .into_iter()
            .map(f16::from_f64)
            .collect();
        values.as_chunks().0.to_vec()
    };
    let (x, y) = (halves(6), halves(7));
    let bench = bench(include_str!("halves.ptx"));
    let on_device = (bench.upload(&x, "x"), bench.upload(&y, "y"));
    let out = bench.zeros::<[f16; 2]>(6 * n, "out");
    bench.check(
        "halves",
        1,
        128,
        &[&on_device.0, &on_device.1, &out, &(n as i32)],
    );
    let found = bench.download(out);
    for i in 0..n {
        // Each operation in double precision, then rounded once: a product of
        // two halves, and a sum with a third, is exact there.
        let (a, b) = (x[i].map(f64::from), y[i].map(f64::from));
        let each = |f: &dyn Fn(usize) -> f64| [f16::from_f64(f(0)), f16::from_f64(f(1))];
        let round = |v: f64| f64::from(f16::from_f64(v));
        let expected = [
            each(&|k| a[k] * b[k] + 0.5),
            each(&|k| round(a[k] + b[k]) * round(a[k] - b[k])),
            each(&|k| a[k].max(-b[k])),
            [f16::from_f64(a[0].abs()), f16::from_f64(a[0].min(b[0]))],
            each(&|k| if a[k] > b[k] { 1.0 } else { 0.0 }),
        ];
        for (k, e) in expected.iter().enumerate() {
            assert_eq!(found[k * n + i], *e, "result {k} of {a:?} and {b:?}");
        }
        let [quotient, towards_zero] = found[5 * n + i].map(f64::from);
        assert!((quotient - a[0] / b[1]).abs() <= (a[0] / b[1]).abs() / 1024.0);
        let scaled = f64::from(x[i][1].to_f32() * 1.001);
        assert!(towards_zero.abs() <= scaled.abs());
        assert!((towards_zero - scaled).abs() <= scaled.abs() / 1024.0);
    }

    let brains: Vec<bf16> = reals(8, n, 4.0).into_iter().map(bf16::from_f64).collect();
    let input = bench.upload(&brains, "x");
    let out = bench.zeros::<f32>(n, "out");
    bench.check("brains", 1, 128, &[&input, &out, &(n as i32)]);
    let expected: Vec<f32> = brains
        .iter()
        .map(|&a| f64::from(a))
        .map(|a| {
            let b = f64::from(bf16::from_f64(a * a + 0.25));
            (b + f64::from(bf16::from_f64(a * b))) as f32
        })
        .collect();
    assert_eq!(bench.download(out), expected);
}
