//! Global, shared and constant memory, atomics, asynchronous copies.

use common::numbers::{Numbers, reals, singles};
use common::says;

use super::{assert_close, bench, wide};

#[test]
fn saxpy() {
    let n = 1000;
    let (x, y) = (singles(1, n, 10.0), singles(2, n, 10.0));
    let expected: Vec<f32> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| 2.5_f32.mul_add(*x, *y))
        .collect();
    for (kernel, threads) in [("saxpy", 96), ("saxpy_vec4", 128)] {
        let bench = bench(include_str!("saxpy.ptx"));
        let on_device = bench.upload(&x, "x");
        let out = bench.upload(&y, "y");
        let report = bench.check(
            kernel,
            2,
            threads,
            &[&(n as i32), &2.5_f32, &on_device, &out],
        );
        assert_eq!(bench.download(out), expected, "{kernel}");
        // 4000 bytes are 125 sectors, which both kernels load twice.
        assert_eq!(report.counts.global_load_sectors, 250, "{kernel}");
    }
    let (x, y) = (reals(3, n, 10.0), reals(4, n, 10.0));
    let bench = bench(include_str!("saxpy.ptx"));
    let on_device = bench.upload(&x, "x");
    let out = bench.upload(&y, "y");
    bench.check("daxpy", 3, 64, &[&(n as i32), &0.1_f64, &on_device, &out]);
    let expected: Vec<f64> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| 0.1_f64.mul_add(*x, *y))
        .collect();
    assert_eq!(bench.download(out), expected);
}

#[test]
fn histogram() {
    let bytes: Vec<u8> = Numbers(5)
        .take(5000)
        .map(|r| ((r % 256) & (r >> 8)) as u8)
        .collect();
    let mut expected = vec![0_u32; 256];
    bytes.iter().for_each(|&b| expected[usize::from(b)] += 1);
    let bench = bench(include_str!("histogram.ptx"));
    let data = bench.upload(&bytes, "bytes");
    let bins = bench.zeros::<u32>(256, "bins");
    let report = bench.check("histogram", 4, 128, &[&data, &(bytes.len() as i32), &bins]);
    assert_eq!(bench.download(bins), expected);
    assert!(report.counts.shared_atomic_requests >= 5000 / 32);
}

#[test]
fn matmul() {
    // No multiple of the tile.
    let n = 37;
    let (a, b) = (reals(6, n * n, 1.0), reals(7, n * n, 1.0));
    let mut expected = vec![0.0; n * n];
    for row in 0..n {
        for col in 0..n {
            expected[row * n + col] = (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum();
        }
    }
    let bench = bench(include_str!("matmul.ptx"));
    let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let a = bench.upload(&single(&a), "a");
    let b = bench.upload(&single(&b), "b");
    let c = bench.zeros::<f32>(n * n, "c");
    let report = bench.check("matmul", [3, 3], [16, 16], &[&a, &b, &c, &(n as i32)]);
    assert_close(&wide(&bench.download(c)), &expected, 1e-5);
    assert_eq!(report.counts.shared_load_conflicts, 0);
}

#[test]
fn stencil() {
    let n = 300;
    let data = reals(8, n, 1.0);
    let coefficients = [-0.125, 0.25, 0.5, 1.0, 0.5, 0.25, -0.125];
    let expected: Vec<f64> = (0..n as i64)
        .map(|i| {
            let at = |j: i64| {
                usize::try_from(j)
                    .ok()
                    .and_then(|j| data.get(j))
                    .unwrap_or(&0.0)
            };
            (0..7)
                .map(|k| coefficients[k as usize] * at(i + k - 3))
                .sum()
        })
        .collect();
    let bench = bench(include_str!("stencil.ptx"));
    let single: Vec<f32> = data.iter().map(|&x| x as f32).collect();
    let input = bench.upload(&single, "in");
    let out = bench.zeros::<f32>(n, "out");
    for _ in 0..2 {
        bench.check("stencil", 3, 128, &[&input, &out, &(n as i32)]);
    }
    assert_close(&wide(&bench.download(out)), &expected, 1e-6);
    // A `__device__` variable keeps its value between launches.
    let counter = bench.loaded.array::<u64>("n_points").unwrap();
    assert_eq!(bench.download(counter), [2 * n as u64]);
    let constants = bench.loaded.array::<f32>("coefficients").unwrap();
    assert_eq!(bench.download(constants)[3], 1.0);
    // More threads than `__launch_bounds__` allows.
    let error = bench
        .call("stencil")
        .block(256)
        .args(&[&input, &out, &(n as i32)])
        .run()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the kernel declares at most 128"),
        "{error}"
    );
}

#[test]
fn dynamic_shared() {
    let n = 100;
    let x = reals(9, n, 5.0);
    let y: Vec<i16> = Numbers(10).take(n).map(|r| (r % 100) as i16 - 50).collect();
    let bench = bench(include_str!("dynamic_shared.ptx"));
    let on_device = (bench.upload(&x, "x"), bench.upload(&y, "y"));
    let out_x = bench.zeros::<f64>(n, "out_x");
    let out_y = bench.zeros::<i16>(n + 1, "out_y");
    let run = |shared| {
        bench
            .call("reverse")
            .block(64)
            .check(true)
            .dynamic_shared_bytes(shared)
            .args(&[&on_device.0, &on_device.1, &out_x, &out_y, &(n as i32)])
            .run()
            .map(|_| (bench.download(out_x), bench.download(out_y)))
    };
    let (reversed_x, reversed_y) = run(10 * n as u32).unwrap();
    assert!(reversed_x.iter().eq(x.iter().rev()));
    assert!(reversed_y[..n].iter().eq(y.iter().rev()));
    assert_eq!(reversed_y[n], y.iter().sum::<i16>());
    // Two bytes short.
    let error = run(10 * n as u32 - 2).unwrap_err().to_string();
    says(
        &error,
        &["just past the end of the launch's dynamic shared memory `pool` (998 bytes)"],
    );
}

#[test]
fn kinds_of_loads() {
    let n = 3000;
    let data: Vec<f32> = Numbers(11).take(n).map(|r| (r % 64) as f32).collect();
    let bench = bench(include_str!("loads.ptx"));
    let input = bench.upload(&data, "in");
    let partial = bench.zeros::<f32>(5, "partial");
    let done = bench.zeros::<u32>(1, "done");
    let out = bench.zeros::<f32>(1, "out");
    bench.check(
        "last_block",
        5,
        128,
        &[&input, &(n as i32), &partial, &done, &out],
    );
    assert_eq!(bench.download(out), [data.iter().sum::<f32>()]);
    assert_eq!(bench.download(done), [0], "ready for the next launch");

    let words: Vec<[i32; 4]> = (0..128).map(|i| [i, 2 * i, 3 - i, i * i]).collect();
    let input = bench.upload(&words, "in");
    let out = bench.zeros::<[i32; 4]>(32, "out");
    bench.check("hints", 1, 32, &[&input, &out]);
    let expected: Vec<[i32; 4]> = (0..32)
        .map(|i| {
            let [a, b, c, d] = [words[i], words[i + 32], words[i + 64], words[i + 96]];
            [a[0] + b[1], b[0] - c[1], c[0] * d[1], d[0] ^ a[1]]
        })
        .collect();
    assert_eq!(bench.download(out), expected);
}

#[test]
fn atomics() {
    let n = 500;
    let data: Vec<i32> = Numbers(12)
        .take(n)
        .map(|r| (r % 20_001) as i32 - 10_000)
        .collect();
    let bench = bench(include_str!("atomics.ptx"));
    let input = bench.upload(&data, "in");
    let ints = bench.upload(&[0, i32::MAX, i32::MIN, 0, -1, 0, 0], "ints");
    let floats = bench.zeros::<f32>(1, "floats");
    let doubles = bench.zeros::<f64>(1, "doubles");
    let longs = bench.upload(&[0_u64, 1, 0], "longs");
    // The compare-and-swap loop begins with a plain read, which strictly is a race; so this
    // runs without checks.
    bench
        .call("atomics")
        .grid(4)
        .block(128)
        .args(&[&input, &(n as i32), &ints, &floats, &doubles, &longs])
        .run()
        .unwrap();
    let sum: i32 = data.iter().sum();
    let expected = [
        sum,
        *data.iter().min().unwrap(),
        *data.iter().max().unwrap(),
        data.iter().fold(0, |a, b| a ^ b),
        data.iter().fold(-1, |a, b| a & (b | 0xff00)),
        data.iter().fold(0, |a, b| a | b),
        -sum,
    ];
    assert_eq!(bench.download(ints), expected);
    assert_eq!(bench.download(floats), [sum as f32]);
    assert_eq!(bench.download(doubles), [f64::from(sum) * 0.5]);
    let largest = data
        .iter()
        .map(|&v| i64::from(v) as u64)
        .map(|v| v.wrapping_mul(v))
        .max();
    let product = data
        .iter()
        .fold(1, |p, &v| p * u64::from(v as u32 % 1000 + 1) % 1_000_003);
    assert_eq!(bench.download(longs), [largest.unwrap(), product, n as u64]);

    let count = bench.zeros::<i32>(1, "count");
    bench
        .call("locked")
        .grid(40)
        .block(32)
        .arg(count)
        .run()
        .unwrap();
    assert_eq!(bench.download(count), [40]);
}

#[test]
fn asynchronous_copies() {
    let (n_stages, n_blocks) = (5, 3);
    let data = singles(13, n_blocks * n_stages * 128 * 4, 1.0);
    let words: Vec<[f32; 4]> = data.as_chunks().0.to_vec();
    let mut expected = vec![[0.0_f32; 4]; n_blocks * 128];
    for (i, sum) in expected.iter_mut().enumerate() {
        for stage in 0..n_stages {
            let from = words[(i / 128 * n_stages + stage) * 128 + 127 - i % 128];
            sum.iter_mut().zip(from).for_each(|(s, x)| *s += x);
        }
    }
    let bench = bench(include_str!("pipeline.ptx"));
    let input = bench.upload(&words, "in");
    let out = bench.zeros::<[f32; 4]>(n_blocks * 128, "out");
    bench.check(
        "pipeline",
        n_blocks as u32,
        128,
        &[&input, &out, &(n_stages as i32)],
    );
    assert_eq!(bench.download(out), expected);
}

#[test]
fn pipelines_and_barriers_of_libcudacxx() {
    let data: Vec<i32> = Numbers(14)
        .take(5 * 64)
        .map(|r| (r % 1000) as i32)
        .collect();
    let sums = |n: usize| -> Vec<i32> {
        (0..64)
            .map(|t| (0..n).map(|s| data[s * 64 + 63 - t]).sum())
            .collect()
    };
    let bench = bench(include_str!("cuda_pipeline.ptx"));
    let input = bench.upload(&data, "in");
    let out = bench.zeros::<i32>(64, "out");
    bench.check("by_pipeline", 1, 64, &[&input, &out, &5]);
    assert_eq!(bench.download(out), sums(5));
    bench.check("by_barrier", 1, 64, &[&input, &out]);
    assert_eq!(bench.download(out), sums(3));
}

#[test]
fn bilinear() {
    let (width, height, out_width, out_height) = (13, 9, 30, 21);
    let image: Vec<[u8; 4]> = Numbers(15)
        .take(width * height)
        .map(|r| (r as u32).to_le_bytes())
        .collect();
    let bench = bench(include_str!("bilinear.ptx"));
    let input = bench.upload(&image, "in");
    let out = bench.zeros::<[u8; 4]>(out_width * out_height, "out");
    bench.check(
        "bilinear",
        [4, 6],
        [8, 4],
        &[
            &input,
            &(width as i32),
            &(height as i32),
            &out,
            &(out_width as i32),
            &(out_height as i32),
        ],
    );
    let found = bench.download(out);
    for (i, pixel) in found.iter().enumerate() {
        let (x, y) = ((i % out_width) as f64, (i / out_width) as f64);
        let u = (x + 0.5) * width as f64 / out_width as f64 - 0.5;
        let v = (y + 0.5) * height as f64 / out_height as f64 - 0.5;
        let at = |dx: f64, dy: f64, channel: usize| {
            let column = (u.floor() + dx).clamp(0.0, width as f64 - 1.0) as usize;
            let row = (v.floor() + dy).clamp(0.0, height as f64 - 1.0) as usize;
            f64::from(image[row * width + column][channel])
        };
        let (fu, fv) = (u - u.floor(), v - v.floor());
        for channel in 0..3 {
            let row = |dy| at(0.0, dy, channel) * (1.0 - fu) + at(1.0, dy, channel) * fu;
            let value = row(0.0) * (1.0 - fv) + row(1.0) * fv;
            assert!(
                (f64::from(pixel[channel]) - value).abs() <= 0.501,
                "pixel {i}: {pixel:?}, {value}"
            );
        }
        assert_eq!(pixel[3], 255);
    }
}
