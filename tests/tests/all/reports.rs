//! A report names the kernel's own line first, where the defect shows inside a function
//! of `cuda_std`, in a macro or in a function that was inlined; the library's line comes
//! second.

use broken_kernels::reports;
use lockstep::engine::sim::Sim;
use lockstep::engine::{Buffer, Engine, LaunchConfig, Observe, Prepared};
use lockstep_tests::debugged::leads_to_the_line;
use lockstep_tests::{ptx, simulator};

const FILE: &str = "tests/broken-kernels/src/reports.rs";

/// The line of a kernel with this mark.
fn marked(kernel: &str, mark: &str) -> usize {
    let text = std::fs::read_to_string(ptx::root().join(FILE)).expect("the kernels' source");
    let mut lines = (1..).zip(text.lines());
    lines
        .by_ref()
        .find(|(_, line)| line.contains(&format!("fn {kernel}(")))
        .expect("the kernel");
    let (number, _) = lines
        .find(|(_, line)| line.ends_with(&format!("// <- {mark}")))
        .expect("the mark");
    number
}

/// Runs a kernel; its report must begin with these words and name its marked line.
macro_rules! reported {
    ($kernel:ident, $words:expr $(, $argument:expr)?) => {{
        let run = |engine: &Sim| {
            let n = reports::BLOCK_THREADS;
            let input = Buffer::of(engine, "input", &vec![1.0f32; n as usize]).expect("room");
            let output = Buffer::of(engine, "output", &vec![0.0f32; n as usize]).expect("room");
            let config = LaunchConfig::new([1, 1, 1], [n, 1, 1]);
            let args = (input.as_ptr(), output.as_mut_ptr() $(, $argument)?);
            // SAFETY: one block, an element of each buffer for each thread.
            let launch = unsafe { Prepared::of::<reports::$kernel>(config, args) };
            engine.launch(&launch.expect("it fits"), Observe::Nothing)
        };
        let report = match run(&simulator(ptx::broken()).with_check(true)) {
            Ok(_) => panic!("nothing was found"),
            Err(error) => error.to_string(),
        };
        leads_to_the_line(&report, &simulator(ptx::broken()), |sim| drop(run(sim)));
        assert!(report.contains($words), "{report}");
        let line = marked(stringify!($kernel), "here");
        // Of a race's two sides, that of the reported thread comes last.
        let places = report.lines().filter(|line| line.contains("in kernel `"));
        let places: Vec<&str> = places.collect();
        let named = format!(", at {FILE}:{line}:");
        assert!(
            places.last().is_some_and(|place| place.contains(&named)),
            "not {named} first: {report}"
        );
        let n_places = places.len();
        (report, n_places)
    }};
}

/// The report also names a kernel's marked line.
fn names_line(report: &str, kernel: &str, mark: &str) {
    let line = marked(kernel, mark);
    assert!(report.contains(&format!(", at {FILE}:{line}:")), "{report}");
}

/// The library's line comes second.
#[track_caller]
fn names_library(report: &str, file: &str) {
    let inside = format!("\n    inside crates/cuda_std/src/{file}:");
    assert!(report.contains(&inside), "no {inside}: {report}");
}

#[test]
fn atomics() {
    let (report, _) = reported!(atomic_past_the_end, "out of bounds: atomic");
    names_library(&report, "atomic.rs");
    // Both sides are atomics or stores by the kernel's own lines.
    let (report, n_sides) = reported!(atomic_before_the_barrier, "race: atomic");
    names_library(&report, "atomic.rs");
    assert_eq!(n_sides, 2);
    let (report, _) = reported!(atomic_in_a_macro, "out of bounds: atomic");
    names_library(&report, "atomic.rs");
}

#[test]
fn an_inlined_function_is_named_and_where_it_is_called() {
    let engine_line = marked("atomic_in_a_function", "here");
    let text = std::fs::read_to_string(ptx::root().join(FILE)).expect("the kernels' source");
    let counts = text.lines().position(|line| line.ends_with("// <- counts"));
    let counts = counts.expect("the mark") + 1;
    let engine = simulator(ptx::broken()).with_check(true);
    let n = reports::BLOCK_THREADS;
    let input = Buffer::of(&engine, "input", &vec![1.0f32; n as usize]).expect("room");
    let output = Buffer::of(&engine, "output", &vec![0.0f32; n as usize]).expect("room");
    let config = LaunchConfig::new([1, 1, 1], [n, 1, 1]);
    let args = (input.as_ptr(), output.as_mut_ptr());
    // SAFETY: one block, an element of each buffer for each thread.
    let launch = unsafe { Prepared::of::<reports::atomic_in_a_function>(config, args) };
    let launched = engine.launch(&launch.expect("it fits"), Observe::Nothing);
    let Err(error) = launched else {
        panic!("it adds behind the end");
    };
    let report = error.to_string();
    for words in [
        format!(", at {FILE}:{counts}:"),
        format!("\n    inlined at {FILE}:{engine_line}:"),
    ] {
        assert!(report.contains(&words), "no {words}: {report}");
    }
    names_library(&report, "atomic.rs");
}

#[test]
fn warp_wide_instructions() {
    let (report, _) = reported!(shuffle_outside_the_mask, "it reads from lane 20");
    names_library(&report, "warp.rs");
    let (report, _) = reported!(vote_with_absent_lanes, "lanes 16-31 that never get here");
    names_library(&report, "warp.rs");
    let (report, _) = reported!(warp_barrier_of_two_masks, "masks that do not agree");
    names_library(&report, "warp.rs");
}

#[test]
fn block_barriers() {
    let (report, _) = reported!(barrier_for_some, "barrier in divergent code");
    names_library(&report, "thread.rs");
    let (report, _) = reported!(barrier_of_two_counts, "a count of");
    names_line(&report, "barrier_of_two_counts", "also");
}

#[test]
fn barriers_in_memory() {
    let (report, _) = reported!(arrival_without_a_barrier, "read of unwritten memory");
    names_library(&report, "mbarrier.rs");
    let (report, _) = reported!(too_few_arrivals, "it may never end");
    assert!(report.contains("the barrier in memory"), "{report}");
    assert!(
        report.contains("warps 0-1: run in the loop at tests/"),
        "{report}"
    );
}

#[test]
fn locks() {
    let (report, _) = reported!(lock_without_end, "it may never end");
    assert!(report.contains("nothing releases"), "{report}");
    assert!(report.contains(", lane 0: run"), "{report}");
}

#[test]
fn copies_and_vectors() {
    let (report, _) = reported!(
        copy_past_the_tile,
        "out of bounds: store of 4 bytes at shared"
    );
    names_library(&report, "cp_async.rs");
    let (report, _) = reported!(
        copy_to_global_memory,
        "a global address used as a shared one"
    );
    names_library(&report, "cp_async.rs");
    let (report, _) = reported!(misaligned_vector, "misaligned: store of 16 bytes");
    names_library(&report, "vector.rs");
    let (report, n_sides) = reported!(constant_load_of_its_output, "assumed constant");
    names_library(&report, "ldg.rs");
    assert_eq!(n_sides, 2);
    names_line(&report, "constant_load_of_its_output", "also");
}

#[test]
fn macros_are_named_where_they_are_used() {
    // The first warp goes first.
    let (report, _) = reported!(race_in_macros, "race: store");
    names_line(&report, "race_in_macros", "also");
}

/// Calls in a loop that the compiler has unrolled: the instructions of the calls are
/// interleaved.
#[test]
fn calls_of_one_loop_are_told_apart() {
    let (report, _) = reported!(waits_in_two_halves, "it may never end", 6u32);
    names_library(&report, "mbarrier.rs");
    let (report, _) = reported!(
        copies_in_a_loop,
        "out of bounds: store of 4 bytes at shared"
    );
    names_library(&report, "cp_async.rs");
}
