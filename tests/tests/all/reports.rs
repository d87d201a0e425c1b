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

/// Runs a kernel, once for its report and once to see that the report leads to the line.
macro_rules! report_of {
    ($kernel:ident $(, $argument:expr)?) => {{
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
        report
    }};
}

/// Kernels whose reports must have these words, and name the kernel's marked line first and that of
/// the library, if one is given, second.
macro_rules! reported {
    ($($kernel:ident$(($argument:expr))?: $words:literal $(, inside $file:literal)?;)*) => { $(
        let report = report_of!($kernel $(, $argument)?);
        let line = marked(stringify!($kernel), "here");
        // Of a race's two sides, that of the reported thread comes last.
        let last = report.lines().rfind(|line| line.contains("in kernel `"));
        let named = format!(", at {FILE}:{line}:");
        let is_named = last.is_some_and(|place| place.contains(&named));
        assert!(is_named, "not {named} first: {report}");
        assert!(report.contains($words), "{report}");
        $(
            let inside = concat!("\n    inside crates/cuda_std/src/", $file, ":");
            assert!(report.contains(inside), "no {inside}: {report}");
        )?
    )* };
}

#[test]
fn atomics() {
    reported! {
        atomic_past_the_end: "out of bounds: atomic", inside "atomic.rs";
        atomic_before_the_barrier: "race: atomic", inside "atomic.rs";
        atomic_in_a_macro: "out of bounds: atomic", inside "atomic.rs";
    }
}

#[test]
fn an_inlined_function_is_named_and_where_it_is_called() {
    let called = marked("atomic_in_a_function", "here");
    let text = std::fs::read_to_string(ptx::root().join(FILE)).expect("the kernels' source");
    let counts = text.lines().position(|line| line.ends_with("// <- counts"));
    let counts = counts.expect("the mark") + 1;
    let report = report_of!(atomic_in_a_function);
    for words in [
        format!(", at {FILE}:{counts}:"),
        format!("\n    inlined at {FILE}:{called}:"),
        "\n    inside crates/cuda_std/src/atomic.rs:".to_owned(),
    ] {
        assert!(report.contains(&words), "no {words}: {report}");
    }
}

#[test]
fn warp_wide_instructions() {
    reported! {
        shuffle_outside_the_mask: "it reads from lane 20", inside "warp.rs";
        vote_with_absent_lanes: "lanes 16-31 that never get here", inside "warp.rs";
        warp_barrier_of_two_masks: "masks that do not agree", inside "warp.rs";
    }
}

#[test]
fn barriers() {
    reported! {
        barrier_for_some: "barrier in divergent code", inside "thread.rs";
        barrier_of_two_counts: "a count of";
        arrival_without_a_barrier: "read of unwritten memory", inside "mbarrier.rs";
        too_few_arrivals: "it may never end";
        too_few_arrivals: "the barrier in memory";
        too_few_arrivals: "warps 0-1: run in the loop at tests/";
        lock_without_end: "it may never end";
        lock_without_end: "nothing releases";
        lock_without_end: ", lane 0: run";
    }
}

#[test]
fn copies_and_vectors() {
    reported! {
        copy_past_the_tile: "out of bounds: store of 4 bytes at shared", inside "cp_async.rs";
        copy_to_global_memory: "a global address used as a shared one", inside "cp_async.rs";
        misaligned_vector: "misaligned: store of 16 bytes", inside "vector.rs";
        constant_load_of_its_output: "assumed constant", inside "ldg.rs";
    }
}

/// In races and the like, the other side's line is named too.
#[test]
fn both_sides_are_named() {
    // In macros; the first warp goes first.
    reported! { race_in_macros: "race: store"; }
    for (kernel, report) in [
        ("race_in_macros", report_of!(race_in_macros)),
        ("barrier_of_two_counts", report_of!(barrier_of_two_counts)),
        (
            "constant_load_of_its_output",
            report_of!(constant_load_of_its_output),
        ),
    ] {
        let line = marked(kernel, "also");
        assert!(report.contains(&format!(", at {FILE}:{line}:")), "{report}");
    }
    for report in [
        report_of!(atomic_before_the_barrier),
        report_of!(constant_load_of_its_output),
    ] {
        assert_eq!(report.matches("in kernel `").count(), 2, "{report}");
    }
}

/// Calls in a loop that the compiler has unrolled: the instructions of the calls are
/// interleaved.
#[test]
fn calls_of_one_loop_are_told_apart() {
    reported! {
        waits_in_two_halves(6u32): "it may never end", inside "mbarrier.rs";
        copies_in_a_loop: "out of bounds: store of 4 bytes at shared", inside "cp_async.rs";
    }
}
