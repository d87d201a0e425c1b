//! Global, shared and constant memory, atomics, asynchronous copies.

use super::{Bench, assert_close, random, reals, singles, wide};

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
        let mut bench = Bench::new(include_str!("saxpy.ptx"));
        let on_device = bench.device.upload(&x, "x").unwrap();
        let out = bench.device.upload(&y, "y").unwrap();
        let report = bench
            .call(kernel)
            .grid(2)
            .block(threads)
            .arg(n as i32)
            .arg(2.5_f32)
            .arg(on_device)
            .arg(out)
            .run()
            .unwrap();
        assert_eq!(bench.device.download(out).unwrap(), expected, "{kernel}");
        // 4000 bytes are 125 sectors, which both kernels load twice.
        assert_eq!(report.counts.global_load_sectors, 250, "{kernel}");
    }
    let (x, y) = (reals(3, n, 10.0), reals(4, n, 10.0));
    let mut bench = Bench::new(include_str!("saxpy.ptx"));
    let on_device = bench.device.upload(&x, "x").unwrap();
    let out = bench.device.upload(&y, "y").unwrap();
    let call = bench.call("daxpy").grid(3).block(64);
    call.arg(n as i32)
        .arg(0.1_f64)
        .arg(on_device)
        .arg(out)
        .run()
        .unwrap();
    let expected: Vec<f64> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| 0.1_f64.mul_add(*x, *y))
        .collect();
    assert_eq!(bench.device.download(out).unwrap(), expected);
}

#[test]
fn histogram() {
    let bytes: Vec<u8> = random(5)
        .take(5000)
        .map(|r| ((r % 256) & (r >> 8)) as u8)
        .collect();
    let mut expected = vec![0_u32; 256];
    bytes.iter().for_each(|&b| expected[usize::from(b)] += 1);
    let mut bench = Bench::new(include_str!("histogram.ptx"));
    let data = bench.device.upload(&bytes, "bytes").unwrap();
    let bins = bench.device.zeros::<u32>(256, "bins").unwrap();
    let call = bench.call("histogram").grid(4).block(128);
    let report = call
        .arg(data)
        .arg(bytes.len() as i32)
        .arg(bins)
        .run()
        .unwrap();
    assert_eq!(bench.device.download(bins).unwrap(), expected);
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
    let mut bench = Bench::new(include_str!("matmul.ptx"));
    let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let a = bench.device.upload(&single(&a), "a").unwrap();
    let b = bench.device.upload(&single(&b), "b").unwrap();
    let c = bench.device.zeros::<f32>(n * n, "c").unwrap();
    let call = bench.call("matmul").grid([3, 3]).block([16, 16]);
    let report = call.arg(a).arg(b).arg(c).arg(n as i32).run().unwrap();
    assert_close(&wide(&bench.device.download(c).unwrap()), &expected, 1e-5);
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
    let mut bench = Bench::new(include_str!("stencil.ptx"));
    let single: Vec<f32> = data.iter().map(|&x| x as f32).collect();
    let input = bench.device.upload(&single, "in").unwrap();
    let out = bench.device.zeros::<f32>(n, "out").unwrap();
    for _ in 0..2 {
        let call = bench.call("stencil").grid(3).block(128);
        call.arg(input).arg(out).arg(n as i32).run().unwrap();
    }
    assert_close(&wide(&bench.device.download(out).unwrap()), &expected, 1e-6);
    // A `__device__` variable keeps its value between launches.
    let counter = bench.loaded.array::<u64>("n_points").unwrap();
    assert_eq!(bench.device.download(counter).unwrap(), [2 * n as u64]);
    let constants = bench.loaded.array::<f32>("coefficients").unwrap();
    assert_eq!(bench.device.download(constants).unwrap()[3], 1.0);
    // More threads than `__launch_bounds__` allows.
    let call = bench.call("stencil").grid(1).block(256);
    let error = call.arg(input).arg(out).arg(n as i32).run().unwrap_err();
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
    let y: Vec<i16> = random(10).take(n).map(|r| (r % 100) as i16 - 50).collect();
    let mut bench = Bench::new(include_str!("dynamic_shared.ptx"));
    let on_device = (
        bench.device.upload(&x, "x").unwrap(),
        bench.device.upload(&y, "y").unwrap(),
    );
    let out_x = bench.device.zeros::<f64>(n, "out_x").unwrap();
    let out_y = bench.device.zeros::<i16>(n + 1, "out_y").unwrap();
    let mut run = |shared| {
        let call = bench.call("reverse").block(64).dynamic_shared_bytes(shared);
        let call = call
            .arg(on_device.0)
            .arg(on_device.1)
            .arg(out_x)
            .arg(out_y)
            .arg(n as i32);
        call.run().map(|_| {
            (
                bench.device.download(out_x).unwrap(),
                bench.device.download(out_y).unwrap(),
            )
        })
    };
    let (reversed_x, reversed_y) = run(10 * n as u32).unwrap();
    assert!(reversed_x.iter().eq(x.iter().rev()));
    assert!(reversed_y[..n].iter().eq(y.iter().rev()));
    assert_eq!(reversed_y[n], y.iter().sum::<i16>());
    // Two bytes short.
    let error = run(10 * n as u32 - 2).unwrap_err().to_string();
    assert!(
        error
            .contains("just past the end of the launch's dynamic shared memory `pool` (998 bytes)"),
        "{error}"
    );
}

#[test]
fn kinds_of_loads() {
    let n = 3000;
    let data: Vec<f32> = random(11).take(n).map(|r| (r % 64) as f32).collect();
    let mut bench = Bench::new(include_str!("loads.ptx"));
    let input = bench.device.upload(&data, "in").unwrap();
    let partial = bench.device.zeros::<f32>(5, "partial").unwrap();
    let done = bench.device.zeros::<u32>(1, "done").unwrap();
    let out = bench.device.zeros::<f32>(1, "out").unwrap();
    let call = bench.call("last_block").grid(5).block(128);
    call.arg(input)
        .arg(n as i32)
        .arg(partial)
        .arg(done)
        .arg(out)
        .run()
        .unwrap();
    assert_eq!(
        bench.device.download(out).unwrap(),
        [data.iter().sum::<f32>()]
    );
    assert_eq!(
        bench.device.download(done).unwrap(),
        [0],
        "ready for the next launch"
    );

    let words: Vec<[i32; 4]> = (0..128).map(|i| [i, 2 * i, 3 - i, i * i]).collect();
    let input = bench.device.upload(&words, "in").unwrap();
    let out = bench.device.zeros::<[i32; 4]>(32, "out").unwrap();
    bench
        .call("hints")
        .block(32)
        .arg(input)
        .arg(out)
        .run()
        .unwrap();
    let expected: Vec<[i32; 4]> = (0..32)
        .map(|i| {
            let [a, b, c, d] = [words[i], words[i + 32], words[i + 64], words[i + 96]];
            [a[0] + b[1], b[0] - c[1], c[0] * d[1], d[0] ^ a[1]]
        })
        .collect();
    assert_eq!(bench.device.download(out).unwrap(), expected);
}

#[test]
fn atomics() {
    let n = 500;
    let data: Vec<i32> = random(12)
        .take(n)
        .map(|r| (r % 20_001) as i32 - 10_000)
        .collect();
    let mut bench = Bench::new(include_str!("atomics.ptx"));
    let input = bench.device.upload(&data, "in").unwrap();
    let ints = bench
        .device
        .upload(&[0, i32::MAX, i32::MIN, 0, -1, 0, 0], "ints")
        .unwrap();
    let floats = bench.device.zeros::<f32>(1, "floats").unwrap();
    let doubles = bench.device.zeros::<f64>(1, "doubles").unwrap();
    let longs = bench.device.upload(&[0_u64, 1, 0], "longs").unwrap();
    // The compare-and-swap loop begins with a plain read, which strictly is a race; so this
    // runs without checks.
    let call = bench.call("atomics").grid(4).block(128).check(false);
    let call = call.arg(input).arg(n as i32).arg(ints).arg(floats);
    call.arg(doubles).arg(longs).run().unwrap();
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
    assert_eq!(bench.device.download(ints).unwrap(), expected);
    assert_eq!(bench.device.download(floats).unwrap(), [sum as f32]);
    assert_eq!(
        bench.device.download(doubles).unwrap(),
        [f64::from(sum) * 0.5]
    );
    let largest = data
        .iter()
        .map(|&v| i64::from(v) as u64)
        .map(|v| v.wrapping_mul(v))
        .max();
    let product = data
        .iter()
        .fold(1, |p, &v| p * u64::from(v as u32 % 1000 + 1) % 1_000_003);
    assert_eq!(
        bench.device.download(longs).unwrap(),
        [largest.unwrap(), product, n as u64]
    );

    let count = bench.device.zeros::<i32>(1, "count").unwrap();
    let call = bench.call("locked").grid(40).block(32).check(false);
    call.arg(count).run().unwrap();
    assert_eq!(bench.device.download(count).unwrap(), [40]);
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
    let mut bench = Bench::new(include_str!("pipeline.ptx"));
    let input = bench.device.upload(&words, "in").unwrap();
    let out = bench
        .device
        .zeros::<[f32; 4]>(n_blocks * 128, "out")
        .unwrap();
    let call = bench.call("pipeline").grid(n_blocks as u32).block(128);
    call.arg(input).arg(out).arg(n_stages as i32).run().unwrap();
    assert_eq!(bench.device.download(out).unwrap(), expected);
}

#[test]
fn pipelines_and_barriers_of_libcudacxx() {
    let data: Vec<i32> = random(14).take(5 * 64).map(|r| (r % 1000) as i32).collect();
    let sums = |n: usize| -> Vec<i32> {
        (0..64)
            .map(|t| (0..n).map(|s| data[s * 64 + 63 - t]).sum())
            .collect()
    };
    let mut bench = Bench::new(include_str!("cuda_pipeline.ptx"));
    let input = bench.device.upload(&data, "in").unwrap();
    let out = bench.device.zeros::<i32>(64, "out").unwrap();
    let call = bench.call("by_pipeline").block(64);
    call.arg(input).arg(out).arg(5).run().unwrap();
    assert_eq!(bench.device.download(out).unwrap(), sums(5));
    bench
        .call("by_barrier")
        .block(64)
        .arg(input)
        .arg(out)
        .run()
        .unwrap();
    assert_eq!(bench.device.download(out).unwrap(), sums(3));
}

#[test]
fn bilinear() {
    let (width, height, out_width, out_height) = (13, 9, 30, 21);
    let image: Vec<[u8; 4]> = random(15)
        .take(width * height)
        .map(|r| (r as u32).to_le_bytes())
        .collect();
    let mut bench = Bench::new(include_str!("bilinear.ptx"));
    let input = bench.device.upload(&image, "in").unwrap();
    let out = bench
        .device
        .zeros::<[u8; 4]>(out_width * out_height, "out")
        .unwrap();
    let call = bench.call("bilinear").grid([4, 6]).block([8, 4]);
    let call = call.arg(input).arg(width as i32).arg(height as i32);
    call.arg(out)
        .arg(out_width as i32)
        .arg(out_height as i32)
        .run()
        .unwrap();
    let found = bench.device.download(out).unwrap();
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
