//! The barrier of all blocks, and the clocks.

use crate::bench::{Bench, line_of, read};
use cuda_std::launch::{DevicePtrMut, Kernel};
use library_kernels::grids as kernels;

type Args = (DevicePtrMut<u32>, u32);

/// What `kernel` makes of the numbers from 0 on, in 3 rounds of 12 blocks.
fn around<K: Kernel<Args = Args>>(bench: Bench, kernel: K) -> Result<Vec<u32>, String> {
    let values: Vec<u32> = (0..12 * 48).collect();
    let values = bench.input(&values);
    let args = (values.as_mut_ptr(), 3);
    let launched = bench.try_launch(kernel, [4, 3, 1], [8, 3, 2], args);
    let report = launched.map_err(|error| error.to_string())?;
    report.expect_no_local_memory();
    Ok(read(&values))
}

#[test]
fn all_blocks_meet() {
    let n = 12 * 48;
    let mut expected: Vec<u32> = (0..n as u32).collect();
    for _ in 0..3 {
        expected = (0..n)
            .map(|i| expected[i] + expected[(i + 48) % n])
            .collect();
    }
    for bench in [Bench::of("library"), Bench::checked("library")] {
        assert_eq!(around(bench, kernels::adds_around).unwrap(), expected);
    }
}

#[test]
fn a_launch_that_is_not_cooperative_panics_at_the_barrier() {
    let error = around(Bench::of("library"), kernels::adds_around_unmarked).unwrap_err();
    let line = line_of(include_str!("../../src/grids.rs"), "grid::sync();");
    let place = format!("panicked at tests/library-kernels/src/grids.rs:{line}:");
    assert!(error.contains(&place), "{error}");
}

#[test]
fn more_blocks_than_are_resident_are_refused() {
    let bench = Bench::of("library");
    let values = bench.output(1);
    let args = (values.as_mut_ptr(), 1);
    let refused = bench.try_launch(kernels::adds_around, [133, 2, 1], [1024, 1, 1], args);
    let error = refused.expect_err("there is no room").to_string();
    let reason = "266 blocks that wait for each other, but only 264 of 1024 threads and 128 bytes of \
                  shared memory are resident at once: launch fewer, and let each do more";
    assert!(error.contains(reason), "{error}");
}

#[test]
fn clocks_go_forward() {
    let bench = Bench::of("library");
    let out = bench.output::<u64>(64 * 6);
    bench.launch(kernels::clocks, 2, 32, (out.as_mut_ptr(), 100));
    for thread in read(&out).chunks(6) {
        for clock in 0..3 {
            let (before, after) = (thread[clock], thread[3 + clock]);
            // Of the first, only the lower half.
            assert!(
                before < after || clock == 0 && before != after,
                "{thread:?}"
            );
        }
    }
}
