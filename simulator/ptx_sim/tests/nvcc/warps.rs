//! Shuffles, votes, cooperative groups, tensor cores.

use super::bench;
use common::numbers::{Numbers, singles};
use half::f16;
use ptx_sim::{LaunchError, LaunchOptions, Schedule};

#[test]
fn scan() {
    let n = 500;
    let data: Vec<i32> = Numbers(1).take(n).map(|r| (r % 100) as i32 - 30).collect();
    let expected: Vec<i32> = data
        .chunks(256)
        .flat_map(|block| {
            block.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
        })
        .collect();
    for ptx in [include_str!("scan.ptx"), include_str!("scan.debug.ptx")] {
        let bench = bench(ptx);
        let input = bench.upload(&data, "in");
        let out = bench.zeros::<i32>(n, "out");
        bench.check("scan", 2, 256, &[&input, &out, &(n as i32)]);
        assert_eq!(bench.download(out), expected);
    }
}

#[test]
fn a_barrier_of_all_blocks() {
    const N: usize = 5 * 64;
    const ROUNDS: u32 = 3;
    let mut expected: Vec<u32> = (0..N as u32).collect();
    for _ in 0..ROUNDS {
        expected = (0..N)
            .map(|i| expected[i] + expected[(i + 64) % N])
            .collect();
    }
    let bench = bench(include_str!("grid_barrier.ptx"));
    let first: Vec<u32> = (0..N as u32).collect();
    let run = |cooperative, check, schedule| {
        let values = bench.upload(&first, "values");
        let call = bench.call("add_around");
        let options = LaunchOptions {
            cooperative,
            check,
            schedule,
            ..LaunchOptions::default()
        };
        let call = call.grid(5).block(64).arg(values).arg(ROUNDS);
        call.options(options).run()?;
        Ok::<_, LaunchError>(bench.download(values))
    };
    let before = bench.device.used_bytes();
    for check in [false, true] {
        assert_eq!(run(true, check, None).unwrap(), expected);
    }
    let schedule = Some(Schedule::new(7));
    assert_eq!(run(true, true, schedule).unwrap(), expected);
    // The memory given to launches for their barrier is freed.
    assert_eq!(bench.device.used_bytes() - before, 3 * 4 * N as u64);
    // Other launches have no barrier, and CUDA's header traps.
    let error = run(false, false, None).unwrap_err().to_string();
    assert!(error.contains("trap"), "{error}");
}

#[test]
fn votes() {
    let n = 64;
    let mut data: Vec<u32> = Numbers(2).take(n).map(|r| (r % 5000) as u32).collect();
    data[32..].iter_mut().for_each(|v| *v = *v % 90 + 1);
    let bench = bench(include_str!("votes.ptx"));
    let input = bench.upload(&data, "in");
    let out = bench.zeros::<u32>(7 * n, "out");
    bench.check("votes", 2, 32, &[&input, &out]);
    let found = bench.download(out);
    for i in 0..n {
        let (warp, lane) = (&data[i / 32 * 32..i / 32 * 32 + 32], i % 32);
        let v = data[i];
        let ballot =
            |f: &dyn Fn(u32) -> bool| (0..32).fold(0, |mask, l| mask | u32::from(f(warp[l])) << l);
        let any = u32::from(warp.contains(&0));
        let all = u32::from(warp.iter().all(|v| *v < 100));
        let same = warp.iter().all(|w| w / 1000 == v / 1000);
        let sum = warp.iter().sum::<u32>();
        let xor = warp.iter().fold(0, |a, b| a ^ b);
        // Groups of eight: lanes whose partner is in another keep their own.
        let down = if lane + 3 < 32 { warp[lane + 3] } else { v };
        let odd = ballot(&|_| false) | 0xaaaa_aaaa;
        let w = if lane % 2 == 1 {
            v + warp[(lane + 2) % 32] + odd
        } else {
            v
        };
        let of = |l: usize| {
            let w = if l % 2 == 1 {
                warp[l].wrapping_add(warp[(l + 2) % 32]).wrapping_add(odd)
            } else {
                warp[l]
            };
            u64::from(w) << 20 | (i / 32 * 32 + l) as u64
        };
        let expected = [
            ballot(&|w| w & 1 == 1) ^ any << 3 ^ all,
            ballot(&|w| w % 5 == v % 5),
            if same { u32::MAX.wrapping_add(1) } else { 0 },
            sum ^ xor ^ warp.iter().max().unwrap(),
            warp[v as usize % 32] + warp[lane ^ 5] + down,
            w,
            (of(31 - lane) >> 17) as u32,
        ];
        for (k, e) in expected.iter().enumerate() {
            assert_eq!(found[k * n + i], *e, "thread {i}, result {k}");
        }
    }
}

#[test]
fn cooperative_groups() {
    let n = 700;
    let data: Vec<i32> = Numbers(3).take(n).map(|r| (r % 1000) as i32).collect();
    let bench = bench(include_str!("cooperative.ptx"));
    let input = bench.upload(&data, "in");
    let out = bench.zeros::<i32>(1, "out");
    bench.check("sum", 2, 128, &[&input, &out, &(n as i32)]);
    assert_eq!(bench.download(out), [data.iter().sum::<i32>()]);

    let values = singles(4, 128, 10.0);
    let on_device = bench.upload(&values, "values");
    let out = bench.zeros::<f32>(16, "out");
    bench.check("maxima", 2, 64, &[&on_device, &out]);
    let expected: Vec<f32> = values
        .chunks(8)
        .map(|part| part.iter().copied().fold(f32::MIN, f32::max))
        .collect();
    assert_eq!(bench.download(out), expected);

    let out = bench.zeros::<i32>(n, "out");
    let count = bench.zeros::<i32>(1, "count");
    bench.check("filter", 6, 128, &[&input, &out, &count, &(n as i32)]);
    let mut expected: Vec<i32> = data.into_iter().filter(|x| x % 3 == 0).collect();
    assert_eq!(bench.download(count), [expected.len() as i32]);
    let mut found = bench.download(out.slice(0..expected.len()));
    // Warps append in any order.
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn tensor_cores() {
    let bench = bench(include_str!("wmma.ptx"));
    // Small whole numbers: every order of summing them gives the same.
    let halves = |seed, n: usize| -> Vec<f16> {
        Numbers(seed)
            .take(n)
            .map(|r| f16::from_f32((r % 9) as f32 - 4.0))
            .collect()
    };
    let n = 48;
    let (a, b) = (halves(5, n * n), halves(6, n * n));
    let on_device = (bench.upload(&a, "a"), bench.upload(&b, "b"));
    let c = bench.zeros::<f32>(n * n, "c");
    bench.check(
        "wmma_matmul",
        [3, 3],
        32,
        &[&on_device.0, &on_device.1, &c, &(n as i32)],
    );
    let found = bench.download(c);
    for row in 0..n {
        for col in 0..n {
            let product = |k: usize| a[row * n + k].to_f32() * b[col * n + k].to_f32();
            let expected = 2.0 * (0..n).map(product).sum::<f32>();
            assert_eq!(found[row * n + col], expected, "{row}, {col}");
        }
    }

    let (a, b, c) = (halves(7, 512), halves(8, 128), halves(9, 256));
    let on_device = (bench.upload(&a, "a"), bench.upload(&b, "b"));
    let sum = bench.upload(&c, "c");
    bench.check("wmma_half", 1, 32, &[&on_device.0, &on_device.1, &sum]);
    let found = bench.download(sum);
    for row in 0..32 {
        for col in 0..8 {
            let product = |k: usize| a[k * 32 + row].to_f32() * b[k * 8 + col].to_f32();
            let expected = c[row * 8 + col].to_f32() + (0..16).map(product).sum::<f32>();
            assert_eq!(found[row * 8 + col].to_f32(), expected, "{row}, {col}");
        }
    }

    let bytes = |seed| -> Vec<i8> { Numbers(seed).take(256).map(|r| r as i8).collect() };
    let (a, b) = (bytes(10), bytes(11));
    let on_device = (bench.upload(&a, "a"), bench.upload(&b, "b"));
    let c = bench.zeros::<i32>(256, "c");
    bench.check("wmma_int8", 1, 32, &[&on_device.0, &on_device.1, &c]);
    let found = bench.download(c);
    for row in 0..16 {
        for col in 0..16 {
            let product = |k: usize| i32::from(a[row * 16 + k]) * i32::from(b[col * 16 + k]);
            assert_eq!(
                found[col * 16 + row],
                (0..16).map(product).sum::<i32>(),
                "{row}, {col}"
            );
        }
    }
}
