//! Triton's PTX, run on the simulator with every check and compared with the same
//! in Rust. `kernels.py` in this folder has the kernels, and made the PTX.
//!
//! Triton gives every kernel two parameters of its own at the end, for scratch
//! memory that these kernels do not use.

use common::Bench;
use common::numbers::singles;
use half::f16;
use ptx_sim::{Argument, Call, LaunchError, Report};

/// Numbers from -1 to 1.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    singles(seed, n, 1.0)
}

/// A launch with every check, in blocks of Triton's default of four warps, and with the two
/// parameters that Triton adds.
fn call<'a>(bench: &'a Bench, kernel: &'a str, arguments: &[&dyn Argument]) -> Call<'a> {
    let call = bench.call(kernel).block(128).check(true);
    call.args(arguments).arg(0_u64).arg(0_u64)
}

#[test]
fn add() {
    let n = 4992;
    let (x, y) = (numbers(n, 1), numbers(n, 2));
    let bench = Bench::new(include_str!("add.sm_90.ptx"));
    let on_device = (bench.upload(&x, "x"), bench.upload(&y, "y"));
    let out = bench.zeros::<f32>(n, "out");
    let arguments: [&dyn Argument; 4] = [&on_device.0, &on_device.1, &out, &(n as i32)];
    let report = call(&bench, "add", &arguments).grid(5).run().unwrap();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(bench.download(out), expected);
    // Two arrays of 19,968 bytes, each sector once.
    assert_eq!(report.counts.global_load_sectors, 1248);
    let instructions = report.instructions();
    let lines = instructions.iter().filter_map(|i| i.loc.as_ref());
    assert!(lines.clone().count() > 0);
    assert!(
        lines
            .clone()
            .all(|source| source.file.ends_with("kernels.py"))
    );
}

#[test]
fn softmax() {
    let (n_rows, n_columns, stride) = (3, 781, 800);
    let rows = numbers(n_rows * stride, 3);
    let bench = Bench::new(include_str!("softmax.sm_90.ptx"));
    let on_device = bench.upload(&rows, "rows");
    let out = bench.zeros::<f32>(n_rows * stride, "out");
    let arguments: [&dyn Argument; 4] = [&out, &on_device, &(stride as i32), &(n_columns as i32)];
    let call = call(&bench, "softmax", &arguments).grid(n_rows as u32);
    call.dynamic_shared_bytes(16).run().unwrap();
    let found = bench.download(out);
    for row in 0..n_rows {
        let values = &rows[row * stride..][..n_columns];
        let largest = values.iter().copied().fold(f32::MIN, f32::max);
        let shifted: Vec<f64> = values
            .iter()
            .map(|x| f64::from(x - largest).exp())
            .collect();
        let sum: f64 = shifted.iter().sum();
        for (column, e) in shifted.iter().enumerate() {
            let f = f64::from(found[row * stride + column]);
            assert!(
                (f - e / sum).abs() <= 1e-6 * e / sum,
                "{row}, {column}: {f}"
            );
        }
        assert!(
            found[row * stride + n_columns..][..19]
                .iter()
                .all(|&x| x == 0.0)
        );
    }
}

/// Multiplies matrices of 128×128 in blocks of 64×64; gives the report.
fn multiplied(ptx: &'static str, shared_bytes: u32) -> Report {
    let n = 128;
    let halves = |seed| -> Vec<f16> {
        numbers(n * n, seed)
            .into_iter()
            .map(f16::from_f32)
            .collect()
    };
    let (a, b) = (halves(4), halves(5));
    let bench = Bench::new(ptx);
    let on_device = (bench.upload(&a, "a"), bench.upload(&b, "b"));
    let c = bench.zeros::<f32>(n * n, "c");
    let arguments: [&dyn Argument; 4] = [&on_device.0, &on_device.1, &c, &(n as i32)];
    let call = call(&bench, "matmul", &arguments).grid([2, 2]);
    let report = call.dynamic_shared_bytes(shared_bytes).run();
    let report = report.unwrap_or_else(|e| panic!("{e}"));
    let found = bench.download(c);
    for row in 0..n {
        for column in 0..n {
            let product = |k: usize| f64::from(a[row * n + k]) * f64::from(b[k * n + column]);
            let expected: f64 = (0..n).map(product).sum();
            let f = f64::from(found[row * n + column]);
            assert!(
                (f - expected).abs() <= 1e-4,
                "{row}, {column}: {f}, {expected}"
            );
        }
    }
    report
}

/// Tensor cores, asynchronous copies in three stages.
#[test]
fn matmul() {
    let report = multiplied(include_str!("matmul.sm_80.ptx"), 32_768);
    assert!(report.counts.ldmatrix_requests > 0);
    assert_eq!(report.counts.ldmatrix_conflicts, 0, "Triton swizzles");
}

/// By `wgmma`, of tiles that threads copy, so that they need a proxy fence.
#[test]
fn matmul_of_warpgroups() {
    multiplied(include_str!("matmul.sm_90.ptx"), 49_152);
}

/// Why a product of zeros ends badly.
fn refused(bench: &Bench) -> LaunchError {
    let n = 64;
    let data = bench.zeros::<f16>(n * n, "data");
    let c = bench.zeros::<f32>(n * n, "c");
    let call = call(bench, "matmul", &[&data, &data, &c, &(n as i32)]);
    call.dynamic_shared_bytes(49_152).run().unwrap_err()
}

/// Without it, the checks say what is missing, and where in the source.
#[test]
fn matmul_without_its_proxy_fence() {
    let ptx = include_str!("matmul.sm_90.ptx");
    let without = ptx.replace("fence.proxy.async.shared::cta;", "");
    assert_ne!(without, ptx);
    let bench = Bench::new(&without);
    let error = refused(&bench).to_string();
    assert!(error.starts_with("missing proxy fence"), "{error}");
    for line in ["kernels.py:33", "kernels.py:35"] {
        assert!(error.contains(line), "{line}: {error}");
    }
}

#[test]
fn histogram() {
    let n = 2000;
    let values: Vec<i32> = numbers(n, 6)
        .into_iter()
        .map(|x| ((x + 1.0) * 31.9) as i32)
        .collect();
    let bench = Bench::new(include_str!("histogram.sm_80.ptx"));
    let on_device = bench.upload(&values, "x");
    let out = bench.zeros::<i32>(64, "out");
    // Every warp sets the same bins to zero, which strictly is a race; so this runs without
    // checks.
    let call = call(&bench, "histogram", &[&on_device, &out, &(n as i32)]);
    let call = call.check(false).grid(4).dynamic_shared_bytes(256);
    call.run().unwrap();
    let mut expected = vec![0; 64];
    values.iter().for_each(|&v| expected[v as usize] += 1);
    // Elements past the end count in the last bin.
    expected[63] += 4 * 512 - n as i32;
    assert_eq!(bench.download(out), expected);
}

#[test]
fn scan() {
    let n = 500;
    let values: Vec<f32> = numbers(n, 7)
        .into_iter()
        .map(|x| (x * 8.0).round())
        .collect();
    let bench = Bench::new(include_str!("scan.sm_80.ptx"));
    let on_device = bench.upload(&values, "x");
    let out = bench.zeros::<f32>(n, "out");
    let call = call(&bench, "scan", &[&on_device, &out, &(n as i32)]);
    call.dynamic_shared_bytes(64).run().unwrap();
    let sums = values.iter().scan(0.0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    assert_eq!(bench.download(out), sums.collect::<Vec<f32>>());
}

#[test]
fn what_is_not_known_is_said_before_and_at_the_launch() {
    // As if compiled for sparse matrices, which the simulator does not support.
    let ptx = include_str!("matmul.sm_90.ptx");
    let bench = Bench::new(&ptx.replace("mma_async.sync", "mma_async.sp.sync"));
    let names: Vec<_> = bench
        .loaded
        .module()
        .unsupported()
        .iter()
        .map(|u| u.opcode.split('.').next().unwrap_or_default().to_owned())
        .collect();
    assert!(
        !names.is_empty() && names.iter().all(|name| name == "wgmma"),
        "{names:?}"
    );
    let error = refused(&bench);
    assert!(matches!(error, LaunchError::Unsupported { .. }), "{error}");
}
