//! Every lesson, on every available engine, at its quick sizes, and the
//! catalogue's claims about its counts.

use cli::profile::run_case;
use host::registry::matching;
use lesson::run::{cases, run};
use lesson::{Case, CaseError, Effort, Status};
use lockstep::engine::gpu::Gpu;
use lockstep::engine::sim::Sim;
use lockstep::engine::{Engine, EngineKind, Timing};
use ptx_sim::LaunchOptions;
use std::rc::Rc;

fn all_must_pass(engine: &dyn Timing, effort: Effort, filters: &[String]) {
    let selected = matching(filters).expect("names are right");
    cases_must_pass(engine, &cases(&selected, engine.kind(), effort));
}

fn cases_must_pass(engine: &dyn Timing, cases: &[Case]) {
    assert!(!cases.is_empty());
    let not_passed: Vec<String> = run(engine, cases, None, |_| {}, |_| {})
        .into_iter()
        .filter(|result| result.status != Status::Passed)
        .map(|result| {
            let reason = result.reason.unwrap_or_default();
            format!(
                "{} {}: {:?}: {reason}",
                result.kernel, result.shape, result.status
            )
        })
        .collect();
    assert!(
        not_passed.is_empty(),
        "{} of {} cases have not passed:\n{}",
        not_passed.len(),
        cases.len(),
        not_passed.join("\n")
    );
}

/// With every check on: the catalogue is right, and raises no alarm.
#[test]
fn quick_run_passes_on_the_simulator() {
    let checked = Sim::new(lockstep_tests::ptx::modules()).with_check(true);
    all_must_pass(&checked, Effort::Quick, &[]);
}

#[test]
fn transposes_are_exact_up_to_64_by_64() {
    let selected = matching(&["transpose".to_owned()]).expect("names are right");
    let mut cases = cases(&selected, EngineKind::Sim, Effort::Default);
    cases.retain(|case| case.shape.is_sweep());
    cases_must_pass(&Sim::new(lockstep_tests::ptx::modules()), &cases);
}

#[test]
fn quick_run_passes_on_the_gpu() {
    match Gpu::new(lockstep_tests::ptx::modules()) {
        Ok(gpu) => {
            assert_eq!(gpu.kind(), EngineKind::Gpu);
            all_must_pass(&gpu, Effort::Quick, &[]);
        }
        Err(error) => eprintln!("not run, there is no GPU: {error}"),
    }
}

/// What the debugger is sent to. Something is written over after each launch of the kernel, in what
/// the lesson reads last.
#[test]
fn a_wrong_element_is_told_by_its_place() {
    let kernels = [
        "copy",
        "add_offset",
        "bank_store_rows",
        "transpose_shared",
        "tile_column_plain",
        "running_mean_local_16",
        "running_mean_shared",
        "mma_simple_plain",
        "address_order_plain",
        "matrix_power_plain",
        "multi_both_plain",
        "probe_ldmatrix",
        "sgemm_fast",
        "gemm_wgmma",
    ];
    let selected = matching(&kernels.map(str::to_owned)).expect("names are right");
    let mut all = cases(&selected, EngineKind::Sim, Effort::Quick);
    all.retain(|case| !case.shape.is_sweep());
    for kernel in kernels {
        // At some shapes the result has fewer elements.
        let mut shapes = all
            .iter()
            .filter(|case| case.registered.kernel.id == kernel);
        assert!(shapes.any(names_its_wrong_element), "{kernel}");
    }
}

fn names_its_wrong_element(case: &Case) -> bool {
    let kernel = case.registered.kernel.id;
    let module = host::kernels::module_with(kernel, None).expect("the kernels compile");
    let modules = cli::profile::with_helpers(&module);
    let run = |sim: &Sim| run_case(case.registered, &case.shape, sim);
    let sim = Sim::new(modules.clone());
    run(&sim).expect("it is right");
    let (first, n_bytes) = sim.last_read().expect("it reads the result");

    // Addresses are the same each time.
    let sim = Sim::new(modules);
    let address = first + 300 * n_bytes as u64;
    sim.launch_by(Some(Rc::new(move |sim, launch| {
        sim.launch_with(launch, LaunchOptions::default())?;
        if launch.entry() == kernel {
            // There may be no element 300.
            let _ = sim.write(address, &vec![0x41; n_bytes]);
        }
        Ok(())
    })));
    let Err(CaseError::Wrong { what, index }) = run(&sim) else {
        return false;
    };
    let Some(index) = index else {
        return false;
    };
    let (last, n_bytes) = sim.last_read().expect("it reads the result");
    let named = last + (index * n_bytes) as u64;
    assert_eq!(named, address, "{kernel} {}: {what}", case.shape);
    true
}
