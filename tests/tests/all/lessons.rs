//! Every lesson, on every available engine, at its quick sizes, and the
//! catalogue's claims about its counts.

use host::registry::matching;
use lesson::run::{cases, run};
use lesson::{Case, Effort, Status};
use lockstep::engine::gpu::Gpu;
use lockstep::engine::sim::Sim;
use lockstep::engine::{Engine, EngineKind, Timing};

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
