//! Races and similar defects in Rust kernels, as `run-all --check` reports them: both
//! accesses, each with thread and source line. That the catalogue raises no alarm is tested
//! where its lessons are (`lessons.rs`).

use broken_kernels::{reduction, unseen};
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use host::lessons::transpose;
use lesson::{KernelEntry, Shape, Status};
use lockstep::engine::sim::Sim;
use lockstep::engine::{Buffer, Engine, EngineError, LaunchConfig, Observe, Prepared};
use lockstep_tests::debugged::leads_to_the_line;
use lockstep_tests::{ptx, results, simulator};
use std::rc::Rc;

/// Both accesses are named, with places in `file`.
fn names_both(report: &str, file: &str) {
    for words in ["race:", "the earlier one:", "the later one:", "thread ("] {
        assert!(report.contains(words), "`{words}` is missing in: {report}");
    }
    let n_places = report.matches(&format!("{file}:")).count();
    assert!(n_places >= 2, "{n_places} places in {file}: {report}");
}

fn report_of(launched: Result<impl Sized, EngineError>) -> String {
    match launched {
        Ok(_) => panic!("no race was found"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn transpose_without_a_barrier() {
    let checked = simulator(ptx::broken()).with_check(true);
    let entry = KernelEntry::of(broken_kernels::missing_barrier, "broken", |trial| {
        transpose::run(trial, broken_kernels::missing_barrier, transpose::by_input)
    });
    let results = results(&checked, entry, &[Shape::of(&[64, 64])]);
    assert_eq!(results[0].status, Status::Failed);
    names_both(
        results[0].reason.as_deref().unwrap_or_default(),
        "tests/broken-kernels/src/lib.rs",
    );
}

/// Runs the transposition without a barrier.
fn without_a_barrier(engine: &Sim) -> Result<(), EngineError> {
    let input = Buffer::of(engine, "input", &[1.0f32; 64 * 64]).expect("room");
    let output = Buffer::<f32>::poisoned(engine, "output", 64 * 64).expect("room");
    let args = (input.as_ptr(), output.as_mut_ptr(), 64, 64);
    let config = LaunchConfig::new([2, 2, 1], [32, 32, 1]);
    // SAFETY: both have 64 × 64 elements.
    let launch = unsafe { Prepared::of::<broken_kernels::missing_barrier>(config, args) };
    let launched = engine.launch(&launch.expect("it fits"), Observe::Nothing);
    launched.map(drop)
}

/// A launch that somebody looked at passes or fails as any other.
#[test]
fn checks_judge_a_launch_in_the_debugger() {
    for check in [true, false] {
        let engine = simulator(ptx::broken()).with_check(check);
        engine.launch_by(Some(Rc::new(|sim, launch| {
            sim.debug(launch, None, |session| {
                session.go_to(10);
            })
        })));
        match (check, without_a_barrier(&engine)) {
            (true, Err(error)) => names_both(&error.to_string(), "tests/broken-kernels/src/lib.rs"),
            (true, Ok(())) => panic!("no race was found"),
            (false, launched) => launched.expect("nobody looks for races"),
        }
    }
}

/// The report on a broken reduction by two blocks has these words.
fn reduction_races<K>(_: K, words: &str)
where
    K: Kernel<Args = (DevicePtr<f32>, DevicePtrMut<f32>, u32)>,
{
    let engine = simulator(ptx::broken()).with_check(true);
    let input = Buffer::of(&engine, "input", &[1.0f32; 256]).expect("room");
    let sums = Buffer::of(&engine, "sums", &[0.0f32; 2]).expect("room");
    let args = (input.as_ptr(), sums.as_mut_ptr(), 256);
    let config = LaunchConfig::new([2, 1, 1], [128, 1, 1]);
    // SAFETY: two blocks of 128 read 256 elements and write at most two sums.
    let launch = unsafe { Prepared::of::<K>(config, args) };
    let report = report_of(engine.launch(&launch.expect("it fits"), Observe::Nothing));
    names_both(&report, "tests/broken-kernels/src/reduction.rs");
    assert!(report.contains(words), "{report}");
}

#[test]
fn reductions_without_a_barrier_or_without_atomics() {
    reduction_races(reduction::reduce_without_barrier, "shared address");
    reduction_races(reduction::reduce_without_atomics, "`sums`");
}

/// Runs a kernel of [`unseen`] on a poisoned output; its report must hold all of
/// `words`.
macro_rules! must_report {
    ($kernel:ident, $words:expr) => {{
        let run = |engine: &Sim| {
            let n = unseen::BLOCK_THREADS;
            let input = Buffer::of(engine, "input", &vec![1.0f32; n as usize]).expect("room");
            let output = Buffer::<f32>::poisoned(engine, "output", n as usize).expect("room");
            let config = LaunchConfig::new([1, 1, 1], [n, 1, 1]);
            let args = (input.as_ptr(), output.as_mut_ptr());
            // SAFETY: one block, an element of each buffer for each thread.
            let launch = unsafe { Prepared::of::<unseen::$kernel>(config, args) };
            engine.launch(&launch.expect("it fits"), Observe::Nothing)
        };
        let report = report_of(run(&simulator(ptx::broken()).with_check(true)));
        leads_to_the_line(&report, &simulator(ptx::broken()), |sim| drop(run(sim)));
        for words in ["PTX line", "thread (", "what to do:"]
            .iter()
            .chain(&$words)
        {
            assert!(report.contains(words), "`{words}` is missing in: {report}");
        }
        report
    }};
}

#[test]
fn copies_and_a_tree_without_their_waits() {
    let words = [
        "asynchronous copy not waited for",
        "the copy:",
        "at tests/broken-kernels/src/unseen.rs:",
    ];
    must_report!(copy_without_wait, words);
    let words = ["race:", "asynchronous copy", "the earlier one:"];
    must_report!(copy_without_barrier, words);
    let report = must_report!(tree_without_warp_barrier, ["race:", "shared address"]);
    names_both(&report, "tests/broken-kernels/src/unseen.rs");
}

#[test]
fn unwritten_memory_and_absent_lanes() {
    let words = ["read of unwritten memory", "`output`", "src/unseen.rs:"];
    must_report!(adds_to_its_output, words);
    let words = ["it reads from lane 16", "only lanes 0-15 take part"];
    must_report!(shuffle_from_absent_lanes, words);
}
