//! Shared arrays of rows: results, bounds, and the code beside that for pointers.

use crate::bench::{Bench, line_of, opcodes, panicking, ptx};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use library_kernels::shared as kernels;

type Args = (DevicePtr<f32>, DevicePtrMut<f32>);

#[test]
fn indices_are_rows_and_columns() {
    fn transposes<K: Kernel<Args = Args>>(kernel: K) {
        let mut bench = Bench::checked("library");
        let x: Vec<u8> = (0..1024u16)
            .flat_map(|i| f32::from(i).to_le_bytes())
            .collect();
        let (x, y) = (bench.upload(&x), bench.output(4096));
        let args = (DevicePtr::new(x), DevicePtrMut::new(y));
        let report = bench.try_launch(kernel, [1, 1, 1], [32, 32, 1], args);
        report
            .unwrap_or_else(|error| panic!("{error}"))
            .expect_bank_conflicts(0);
        let expected: Vec<f32> = (0..1024u16)
            .map(|i| (i % 32 * 32 + i / 32).into())
            .collect();
        assert_eq!(bench.read_floats(y, 1024), expected, "{}", K::NAME);
    }
    transposes(kernels::transpose_rows);
    transposes(kernels::transpose_pointer);
    transposes(kernels::transpose_checked);

    const N: usize = kernels::COLUMNS;
    let mut bench = Bench::checked("library");
    let x: Vec<f64> = (0..8 * N).map(|i| (i * i) as f64).collect();
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    let (on_device, y) = (bench.upload(&bytes), bench.output(8 * N));
    let args = (DevicePtr::new(on_device), DevicePtrMut::new(y));
    bench.launch(kernels::sums_of_columns, 1, N as u32, args);
    let found: Vec<f64> = bench
        .read(y, N)
        .into_iter()
        .map(f64::from_le_bytes)
        .collect();
    let sum = |column: usize| (0..8).map(|row| x[row * N + column]).sum::<f64>() - x[7 * N];
    assert_eq!(found, (0..N).rev().map(sum).collect::<Vec<_>>());
}

#[test]
fn bounds_cost_what_the_documentation_says() {
    let text = ptx("library");
    let bounds = |opcodes: &[String]| {
        let compares = opcodes.iter().filter(|opcode| opcode.starts_with("setp"));
        compares.count()
    };
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
        let report = panicking("library", kernels::panics_outside, &place, |x, out| {
            (x, out)
        });
        let told = format!("panicked at tests/library-kernels/src/shared.rs:{line}:");
        assert!(report.contains(&told), "{place:?}: {report}");
    }
}
