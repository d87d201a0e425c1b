//! Behaviour that only a GPU can show: its faults, its compiler's log, its clock. Where there is
//! none, each test says so and does nothing.

use broken_kernels as broken;
use host::lessons::{copy, transpose};
use lesson::measure::Times;
use lesson::run::run;
use lesson::{Case, Clocking, KernelEntry, Shape, Status};
use lockstep::engine::gpu::Gpu;
use lockstep::engine::{
    BaselineModule, Buffer, Contender, Engine, EngineError, Fill, LaunchConfig, Observe, Prepared,
    PtxModule, Timed, Timing,
};
use lockstep_tests::{lesson_of, ptx, results};
use std::process::Command;

/// Set in the process that a test starts for itself.
const OWN_PROCESS: &str = "LOCKSTEP_TEST_OWN_PROCESS";

/// Runs the test `name` again in a process of its own, because a fault takes the
/// GPU away from the whole process. Returns whether this *is* that process.
fn is_own_process(name: &str) -> bool {
    if std::env::var_os(OWN_PROCESS).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("this test's program");
    let status = Command::new(program)
        .args(["--exact", name, "--nocapture"])
        .env(OWN_PROCESS, "1")
        .status()
        .expect("it runs again");
    assert!(status.success(), "`{name}` failed in its own process");
    false
}

fn gpu(ptx: &str) -> Option<Gpu> {
    gpu_with(vec![PtxModule::of_text("test.ptx", ptx.to_owned())])
}

fn gpu_with(modules: Vec<PtxModule>) -> Option<Gpu> {
    match Gpu::new(modules) {
        Ok(gpu) => Some(gpu),
        Err(error @ (EngineError::NoDriver(_) | EngineError::NoGpu)) => {
            eprintln!("not run: {error}");
            None
        }
        Err(error) => panic!("there is a GPU, and it does not work: {error}"),
    }
}

macro_rules! entry {
    ($kernel:ident) => {
        KernelEntry::of(broken::$kernel, "broken", |trial| {
            transpose::run(trial, broken::$kernel, transpose::by_input)
        })
    };
}

/// Runs the kernel on 64×64; the status and the reason.
fn outcome(gpu: &Gpu, kernel: KernelEntry) -> (Status, String) {
    let mut results = results(gpu, kernel, &[Shape::of(&[64, 64])]);
    let result = results.remove(0);
    (result.status, result.reason.unwrap_or_default())
}

#[test]
fn wrong_results_are_found() {
    let Some(gpu) = gpu(ptx::broken()) else {
        return;
    };
    assert_eq!(outcome(&gpu, entry!(off_by_one_row)).0, Status::Failed);
    assert_eq!(outcome(&gpu, entry!(writes_nan)).0, Status::Failed);
    let sweep = results(&gpu, entry!(transposed_shape), &[Shape::every(&[20, 20])]);
    assert_eq!(sweep[0].status, Status::Failed);
    let sweep = results(&gpu, entry!(writes_past_output), &[Shape::every(&[20, 20])]);
    let reason = sweep[0].reason.clone().unwrap_or_default();
    assert!(reason.contains("after the output"), "{reason}");
}

#[test]
fn after_a_fault_nothing_runs_and_nothing_passes() {
    if !is_own_process("after_a_fault_nothing_runs_and_nothing_passes") {
        return;
    }
    let Some(gpu) = gpu(ptx::broken()) else {
        return;
    };
    let (status, reason) = outcome(&gpu, entry!(misaligned_store));
    eprintln!("{reason}");
    assert_eq!(status, Status::Failed);
    assert!(
        reason.contains("misaligned_store") && reason.contains("716"),
        "{reason}"
    );

    let (status, reason) = outcome(&gpu, entry!(transposed_shape));
    assert_eq!(status, Status::NotRun);
    assert!(
        reason.contains("since a fault in `misaligned_store`"),
        "{reason}"
    );
}

#[test]
fn a_panic_names_its_source_line() {
    if !is_own_process("a_panic_names_its_source_line") {
        return;
    }
    let Some(gpu) = gpu(ptx::broken()) else {
        return;
    };
    let (status, reason) = outcome(&gpu, entry!(panics));
    eprintln!("{reason}");
    assert_eq!(status, Status::Failed);
    assert!(
        reason.contains("panicked at tests/broken-kernels/src/lib.rs:"),
        "{reason}"
    );
}

#[test]
fn a_bad_address_is_a_fault() {
    if !is_own_process("a_bad_address_is_a_fault") {
        return;
    }
    let Some(gpu) = gpu(ptx::broken()) else {
        return;
    };
    let nowhere = cuda_std::launch::DevicePtr::new(8);
    let output = Buffer::<f32>::poisoned(&gpu, "output", 1024).expect("memory");
    // SAFETY: none, that is the test: the device's memory protection must stop it.
    let launch = unsafe {
        Prepared::of::<broken::transposed_shape>(
            transpose::by_input(32, 32),
            (nowhere, output.as_mut_ptr(), 32, 32),
        )
    }
    .expect("its geometry is right");
    let error = gpu
        .launch(&launch, Observe::Nothing)
        .expect_err("it reads from address 8");
    eprintln!("{error}");
    assert!(matches!(error, EngineError::Fault { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("transposed_shape") && text.contains("700"),
        "{text}"
    );
    // Allocations from before the fault are gone, and that is reported.
    assert!(output.read().is_err());
}

#[test]
fn broken_ptx_brings_the_compilers_log() {
    let half = &ptx::broken()[..ptx::broken().len() / 2];
    let Some(gpu) = gpu(half) else {
        return;
    };
    let (status, reason) = outcome(&gpu, entry!(transposed_shape));
    eprintln!("{reason}");
    assert_eq!(status, Status::Failed);
    assert!(
        reason.contains("test.ptx") && reason.contains("error log"),
        "{reason}"
    );
    assert!(reason.contains("line"), "ptxas names the line: {reason}");
}

#[test]
fn launches_that_break_a_limit_are_refused() {
    let Some(gpu) = gpu(ptx::broken()) else {
        return;
    };
    let buffer = Buffer::<f32>::poisoned(&gpu, "both", 1024).expect("memory");
    let with_shared = |bytes| {
        let config = LaunchConfig::new([1; 3], [32, 32, 1]).with_shared(bytes);
        let args = (buffer.as_ptr(), buffer.as_mut_ptr(), 32, 32);
        // SAFETY: the buffer holds 32·32 elements; its use for both does no harm.
        let launch = unsafe { Prepared::of::<broken::transposed_shape>(config, args) };
        gpu.launch(&launch.expect("its geometry is right"), Observe::Nothing)
    };
    // Above 48 KB a kernel must opt in, which the engine does.
    assert!(with_shared(200 * 1024).is_ok());
    let error = with_shared(1024 * 1024).expect_err("no block has a megabyte");
    assert!(matches!(error, EngineError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("shared memory"), "{error}");
    // A refusal is not a fault: the context lives on.
    assert!(buffer.read().is_ok());
}

#[test]
fn times_are_plausible() {
    let Some(gpu) = gpu(ptx::broken()) else {
        return;
    };
    let shape = Shape::of(&[4096, 4096]);
    let registered = lesson_of(entry!(transposed_shape));
    let case = Case { registered, shape };
    let results = run(&gpu, &[case], Some(Clocking::BRIEF), |_| {}, |_| {});
    let times = results[0].figures.times().expect("a GPU has a clock");
    // 128 MiB moved: between 20 TB/s and 10 GB/s.
    assert!(
        times.median_ms > 0.006 && times.median_ms < 14.0,
        "{times:?}"
    );
    assert!(times.min_ms <= times.median_ms && times.median_ms <= times.max_ms);
}

/// Small data leaves the cache, because runs alternate between copies of it; and the timed
/// work is the same on all copies.
#[test]
fn small_data_is_timed_out_of_the_cache() {
    let Some(gpu) = gpu_with(ptx::modules()) else {
        return;
    };
    const N: usize = 1 << 20;
    let cache_bytes = u64::from(gpu.device().l2_cache_bytes.expect("a GPU has a cache"));
    let values = lesson::inputs::distinct(N);
    let input = Buffer::of(&gpu, "input", &values).expect("memory");
    let output = Buffer::<f32>::poisoned(&gpu, "output", N).expect("memory");
    // SAFETY: both hold N elements and are aligned to 256 bytes.
    let launch = unsafe { copy::best(input.as_ptr(), output.as_mut_ptr(), N as u32) };
    let contender = Contender {
        before: Vec::new(),
        timed: Timed::Launches(vec![launch.expect("it fits a grid")].into()),
    };
    let clocked = gpu
        .time(&[contender], &Clocking::BRIEF.conditions)
        .expect("it runs")
        .expect("a GPU has a clock");
    assert!(clocked.out_of_cache);
    assert!(u64::from(clocked.n_sets) * clocked.set_bytes >= 4 * cache_bytes);
    assert_eq!(clocked.runs_ms[0].len(), 100);
    assert_eq!(clocked.n_late, 0);
    assert_eq!(output.read().expect("memory"), values);
}

/// The preparation of a run is repeated before each, on the run's own buffers, and is not
/// timed.
#[test]
fn a_reset_precedes_every_run_and_takes_no_time() {
    let Some(gpu) = gpu_with(ptx::modules()) else {
        return;
    };
    const N: usize = 1 << 26;
    let input = Buffer::of(&gpu, "input", &[1.0f32]).expect("memory");
    let output = Buffer::<f32>::poisoned(&gpu, "output", 1).expect("memory");
    let large = Buffer::<f32>::poisoned(&gpu, "large", N).expect("memory");
    let fill = |buffer: &Buffer<'_, f32>, value| Fill {
        address: buffer.address(),
        size_bytes: buffer.size_bytes(),
        value,
    };
    // SAFETY: without elements, the kernel touches nothing.
    let nothing = unsafe { copy::best(input.as_ptr(), output.as_mut_ptr(), 0) };
    let launch = nothing.expect("it fits a grid");
    let contender = |before| Contender {
        before,
        timed: Timed::Launches(vec![launch.clone()].into()),
    };
    let reset = Timed::Fills(vec![fill(&large, 0), fill(&output, 0x3F)].into());
    let clocked = gpu
        .time(
            &[contender(vec![reset]), contender(Vec::new())],
            &Clocking::BRIEF.conditions,
        )
        .expect("it runs")
        .expect("a GPU has a clock");
    assert_eq!(
        output.read().expect("memory"),
        [f32::from_bits(0x3F3F_3F3F)]
    );
    // Filling 256 MiB takes 50 µs on the fastest memory there is.
    let times = Times::of(&clocked.runs_ms[0]).expect("runs");
    assert!(times.median_ms < 0.02, "{times:?}");
}

/// A cubin that the driver refuses is named.
#[test]
fn a_baseline_that_the_driver_refuses_is_named() {
    let Some(gpu) = gpu(ptx::broken()) else {
        return;
    };
    let baseline = BaselineModule {
        name: "baselines/nonsense.cu".to_owned(),
        image: b"no machine code".repeat(100),
    };
    let error = gpu.load_baselines(&[baseline]).expect_err("no cubin");
    assert!(
        error.to_string().contains("baselines/nonsense.cu"),
        "{error}"
    );
}
