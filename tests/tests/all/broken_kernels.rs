//! Every check can fail: each kernel has one defect, and the transpose
//! lesson, run as `run-all` runs it, must reject it and say why and where.

use broken_kernels as broken;
use host::lessons::transpose;
use lesson::{CaseResult, KernelEntry, Shape, Status};
use lockstep::counts::{Expectation, Metric};
use lockstep_tests::{ptx, results, simulator};

macro_rules! entry {
    ($kernel:ident) => {
        KernelEntry::of(broken::$kernel, "broken", |trial| {
            transpose::run(trial, broken::$kernel, transpose::by_input)
        })
    };
}

/// Runs the kernel on every small shape and on a whole number of tiles.
fn broken_results(kernel: KernelEntry) -> Vec<CaseResult> {
    let shapes = [Shape::every(&[34, 34]), Shape::of(&[64, 64])];
    results(&simulator(ptx::broken()), kernel, &shapes)
}

/// The first shape must fail, for a reason with all of these words.
fn must_fail(kernel: KernelEntry, words: &[&str]) {
    let results = broken_results(kernel);
    let first = &results[0];
    assert_eq!(first.status, Status::Failed, "{:?}", first.reason);
    let reason = first.reason.clone().expect("a failure has a reason");
    for word in words {
        assert!(reason.contains(word), "`{word}` is missing in: {reason}");
    }
}

/// A test for each kernel: the reason why it fails has these words.
macro_rules! fails {
    ($($kernel:ident: $($words:literal),+;)*) => { $(
        #[test]
        fn $kernel() {
            must_fail(entry!($kernel), &[$($words),+]);
        }
    )* };
}

fails! {
    missing_barrier: "elements are wrong", "row";
    // A single row has no row below; the first wrong shape has two.
    off_by_one_row: "size 2×1", "2 of 2 elements are wrong";
    reads_past_input:
        "reads_past_input", "past the end of `input`", "tests/broken-kernels/src/lib.rs:", "thread (";
    writes_past_output: "size 1×1", "after the output";
    leaves_a_column_out: "size 1×1", "1 were never written";
    writes_nan: "got NaN";
    misaligned_store: "misaligned", "tests/broken-kernels/src/lib.rs:";
    // The line itself is there, too.
    panics:
        "panicked at tests/broken-kernels/src/lib.rs:", "thread (0, 0, 0) of block (0, 0, 0)",
        "assert!(value < 0.0";
}

#[test]
fn transposed_shape_is_right_for_squares_only() {
    let results = broken_results(entry!(transposed_shape));
    assert_eq!(results[0].status, Status::Failed);
    assert_eq!(results[1].status, Status::Passed, "{:?}", results[1].reason);
}

#[test]
fn never_ends() {
    let simulator = simulator(ptx::broken());
    let results = results(&simulator, entry!(never_ends), &[Shape::of(&[1, 1])]);
    assert_eq!(results[0].status, Status::Failed);
    let reason = results[0].reason.as_deref().expect("a reason");
    let is_told = reason.contains("never_ends") && reason.contains("did not end");
    assert!(is_told, "{reason}");
}

#[test]
fn wrong_claims_about_counts_are_found() {
    // The right kernel for the wrong claim: it reads coalesced.
    const CLAIM: &[Expectation] = &[Expectation::exactly(
        Metric::GlobalLoadSectorsPerRequest,
        32.0,
    )];
    let kernel = entry!(transposed_shape).expecting(CLAIM);
    let results = broken_results(kernel);
    let reason = results[1].reason.as_deref().expect("a reason");
    assert_eq!(results[1].status, Status::Failed);
    assert!(reason.contains("expected 32, counted 4"), "{reason}");
}

#[test]
fn a_lesson_that_compares_nothing_fails() {
    let kernel = KernelEntry::of(broken::off_by_one_row, "broken", |_| Ok(()));
    must_fail(kernel, &["compared nothing"]);
}

#[test]
fn a_kernel_for_a_newer_device_is_not_run() {
    let results = broken_results(entry!(off_by_one_row).since_sm(100));
    for result in results {
        assert_eq!(result.status, Status::NotRun);
        assert!(result.reason.expect("a reason").contains("sm_100"));
    }
}
