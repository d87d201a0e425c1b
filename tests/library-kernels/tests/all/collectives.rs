//! Reductions, scans and exchanges of warps and blocks: results for every type and block, and costs.

use crate::bench::{Bench, count, opcodes, ptx, read};
use cuda_std::launch::{DevicePtrMut, DeviceSlice};
use half::f16;
use library_kernels::collectives::{self as kernels, EXCHANGED, N_RESULTS, then};

/// Blocks of one warp or more, with a last warp that is full or not.
const BLOCKS: [[u32; 3]; 9] = [
    [1, 1, 1],
    [7, 1, 1],
    [32, 1, 1],
    [33, 1, 1],
    [64, 1, 1],
    [10, 3, 2],
    [5, 25, 1],
    [1000, 1, 1],
    [1024, 1, 1],
];

/// What [`kernels::sums`] and its like give thread `i`.
fn expected<T: Copy>(x: &[T], i: usize, identity: T, op: impl Fn(T, T) -> T) -> [T; N_RESULTS] {
    let all = |x: &[T]| x.iter().fold(identity, |a, b| op(a, *b));
    let warp = x.chunks(32).nth(i / 32).expect("its own");
    let total = all(x);
    [
        all(warp),
        all(&warp[..=i % 32]),
        all(&warp[..i % 32]),
        total,
        all(&x[..i]),
        all(&x[..=i]),
        total,
        (1..x.len()).fold(total, |sum, _| op(sum, total)),
    ]
}

macro_rules! sums {
    ($($type:ident: $kernel:ident, $value:expr, $op:expr;)*) => { $(
        #[test]
        fn $kernel() {
            for block in BLOCKS {
                let n = block.iter().product::<u32>() as usize;
                let value: fn(u32) -> $type = $value;
                let x: Vec<$type> = (0..n as u32).map(value).collect();
                let bench = Bench::checked("library");
                let (on_device, results) = (bench.input(&x), bench.output(n * N_RESULTS));
                let args = (on_device.as_slice(), results.as_mut_ptr());
                let report = bench.try_launch(kernels::$kernel, [1, 1, 1], block, args);
                report.expect("it has no race").expect_bank_conflicts(0);
                for (i, found) in read(&results).chunks(N_RESULTS).enumerate() {
                    let expected = expected(&x, i, $type::default(), $op);
                    assert_eq!(found, expected, "thread {i} of {block:?}");
                }
            }
        }
    )* };
}
sums! {
    u32: sums_u32, |i| i.wrapping_mul(0x9E37_79B9), u32::wrapping_add;
    i32: sums_i32, |i| (i * 12345 % 701) as i32 - 350, i32::wrapping_add;
    u64: sums_u64, |i| u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15), u64::wrapping_add;
    i64: sums_i64, |i| i64::from(i * 12345 % 701) * (1 << 40) - (350 << 40), i64::wrapping_add;
    f32: sums_f32, |i| (i * 12345 % 15) as f32 - 7.0, |a, b| a + b;
    f64: sums_f64, |i| f64::from(i * 12345 % 701) * 1e6 - 3.5e8, |a, b| a + b;
    f16: sums_f16, |i| f16::from_f32(if i % 64 == 0 { 1.0 } else { 0.0 }), |a, b| a + b;
}

#[test]
fn operators_need_not_be_commutative() {
    for block in BLOCKS {
        let n = block.iter().product::<u32>() as usize;
        let x: Vec<[u32; 2]> = (0..n as u32).map(|i| [2 * i + 3, i * i + 1]).collect();
        let bench = Bench::of("library");
        let on_device = bench.input(&x);
        let results = bench.output::<[u32; 2]>(n * N_RESULTS);
        // The kernel has tuples.
        let on_device = DeviceSlice::new(on_device.address(), n as u64);
        let args = (on_device, DevicePtrMut::new(results.address()));
        let launched = bench.try_launch(kernels::compositions, [1, 1, 1], block, args);
        launched.unwrap_or_else(|error| panic!("{error}"));
        for (i, found) in read(&results).chunks(N_RESULTS).enumerate() {
            let expected = expected(&x, i, [1, 0], then);
            assert_eq!(found, expected, "thread {i} of {block:?}");
        }
    }
}

#[test]
fn one_lane_broadcasts() {
    let bench = Bench::of("library");
    let x: [f64; 64] = std::array::from_fn(|i| i as f64);
    let (x, product) = (bench.input(&x), bench.output(64));
    let args = (x.as_ptr(), product.as_mut_ptr());
    bench.launch(kernels::broadcasts, 1, 64, args);
    let found = read(&product);
    assert_eq!(found[..32], [5.0 * 31.0; 32]);
    assert_eq!(found[32..], [37.0 * 63.0; 32]);
}

#[test]
fn costs_are_those_of_the_documentation() {
    let text = ptx("library");
    let count = |kernel: &str, opcode: &str| count(&opcodes(&text, kernel), opcode);
    for (kernel, n_shuffles, n_barriers) in [
        ("warp_sum", 5, 0),
        ("block_sum", 10, 2),
        ("block_scan", 11, 2),
    ] {
        assert_eq!(count(kernel, "shfl.sync."), n_shuffles, "{kernel}");
        assert_eq!(count(kernel, "bar"), n_barriers, "{kernel}");
        let n_local = count(kernel, "ld.local") + count(kernel, "st.local");
        assert_eq!(n_local, 0, "{kernel}");
    }
    // A warp with all its lanes: nothing but shuffles and additions.
    assert_eq!(count("warp_sum", "add.rn.f32"), 5);
    assert_eq!(count("warp_sum", "setp") + count("warp_sum", "bra"), 0);
}

macro_rules! exchanges {
    ($($kernel:ident: $type:ident, $n:literal;)*) => { $(
        #[test]
        fn $kernel() {
            // A block with a last warp that is not full has conflicts.
            for (n_threads, whole) in [(32, true), (EXCHANGED, true), (77, false)] {
                let n = n_threads as usize * $n;
                let x: Vec<$type> = (0..n as u32).map(|i| (i * 7 % 1000) as $type).collect();
                let bench = Bench::checked("library");
                let (on_device, y) = (bench.input(&x), bench.output(n));
                let args = (on_device.as_ptr(), y.as_mut_ptr());
                let report = bench.launch(kernels::$kernel, 1, n_threads, args);
                report.expect_no_local_memory();
                if whole {
                    report.expect_bank_conflicts(0);
                }
                let running = |own: &[$type]| {
                    let sums = own.iter().scan($type::default(), |sum, x| {
                        *sum += *x;
                        Some(*sum)
                    });
                    sums.collect::<Vec<_>>()
                };
                let expected: Vec<$type> = x.chunks($n).flat_map(running).collect();
                assert_eq!(read(&y), expected);
            }
        }
    )* };
}
exchanges! {
    exchange_2_u32: u32, 2;
    exchange_3_u32: u32, 3;
    exchange_4_u32: u32, 4;
    exchange_6_u32: u32, 6;
    exchange_16_u32: u32, 16;
    exchange_2_f64: f64, 2;
    exchange_5_f64: f64, 5;
    exchange_12_f64: f64, 12;
}

#[test]
fn elements_go_where_their_ranks_say() {
    let n = 2 * EXCHANGED;
    let x: Vec<u32> = (0..n).map(|i| i * i).collect();
    let ranks: Vec<u32> = (0..n).map(|i| (i * 37 + 5) % n).collect();
    let bench = Bench::checked("library");
    let [on_device, on_ranks] = [&x, &ranks].map(|x| bench.input(x));
    let y = bench.output(n as usize);
    let args = (on_device.as_ptr(), on_ranks.as_ptr(), y.as_mut_ptr());
    bench.launch(kernels::scatters, 1, EXCHANGED, args);
    let mut expected = vec![0; n as usize];
    for (x, rank) in x.iter().zip(&ranks) {
        expected[*rank as usize] = *x;
    }
    assert_eq!(read(&y), expected);
}
