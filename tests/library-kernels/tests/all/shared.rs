//! Shared arrays of rows: results, bounds, and the code beside that for pointers.

use crate::bench::{Bench, count, line_of, opcodes, panicking, ptx, read};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use library_kernels::shared as kernels;

type Args = (DevicePtr<f32>, DevicePtrMut<f32>);

#[test]
fn indices_are_rows_and_columns() {
    fn transposes<K: Kernel<Args = Args>>(kernel: K) {
        let bench = Bench::checked("library");
        let x: Vec<f32> = (0..1024u16).map(f32::from).collect();
        let (x, y) = (bench.input(&x), bench.output(1024));
        let args = (x.as_ptr(), y.as_mut_ptr());
        let report = bench.try_launch(kernel, [1, 1, 1], [32, 32, 1], args);
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        report.expect_bank_conflicts(0);
        let expected = (0..1024u16).map(|i| f32::from(i % 32 * 32 + i / 32));
        assert_eq!(read(&y), expected.collect::<Vec<_>>(), "{}", K::NAME);
    }
    transposes(kernels::transpose_rows);
    transposes(kernels::transpose_pointer);
    transposes(kernels::transpose_checked);

    const N: usize = kernels::COLUMNS;
    let bench = Bench::checked("library");
    let x: Vec<f64> = (0..8 * N).map(|i| (i * i) as f64).collect();
    let (on_device, y) = (bench.input(&x), bench.output(N));
    let args = (on_device.as_ptr(), y.as_mut_ptr());
    bench.launch(kernels::sums_of_columns, 1, N as u32, args);
    let sum = |column: usize| (0..8).map(|row| x[row * N + column]).sum::<f64>() - x[7 * N];
    assert_eq!(read(&y), (0..N).rev().map(sum).collect::<Vec<_>>());
}

#[test]
fn bounds_cost_what_the_documentation_says() {
    let text = ptx("library");
    let bounds = |opcodes: &[String]| count(opcodes, "setp");
    for (rows, pointer) in [
        ("transpose_rows", "transpose_pointer"),
        ("sums_of_columns", "sums_of_columns_pointer"),
    ] {
        let (rows, pointer) = (opcodes(&text, rows), opcodes(&text, pointer));
        assert_eq!(bounds(&rows), 0, "{rows:?}");
        assert!(rows.len() <= pointer.len() + 1, "{rows:?}\n{pointer:?}");
    }
    // x, y, and x ^ y.
    assert_eq!(bounds(&opcodes(&text, "transpose_checked")), 3);
}

#[test]
fn an_index_outside_panics() {
    let line = line_of(
        include_str!("../../src/shared.rs"),
        "tile[place[0]][place[1]] = 1;",
    );
    for place in [[8, 0], [0, 16], [u32::MAX, 0]] {
        let kernel = kernels::panics_outside;
        let report = panicking("library", kernel, &place, |x, out| (x, out));
        let told = format!("panicked at tests/library-kernels/src/shared.rs:{line}:");
        assert!(report.contains(&told), "{place:?}: {report}");
    }
}

#[test]
fn padding_may_be_handed_on() {
    let bench = Bench::checked("library");
    let (handed, y) = (bench.output(3 * 32), bench.output(32));
    let args = (handed.as_mut_ptr(), y.as_mut_ptr());
    bench.launch(kernels::hands_on_padded, 1, 32, args);
    let expected = (0..32).map(|lane| 3 * ((lane + 3) % 32));
    assert_eq!(read(&y), expected.collect::<Vec<u32>>());
    handed.read().expect_err("with the padding");
}
