//! Kernels whose defects the usual order of the warps hides: a search of other orders finds
//! them, and lets their corrected versions and the catalogue pass.

use broken_kernels::orders;
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use host::registry::matching;
use lesson::schedules::{Orders, run, run_in};
use lesson::verify::{Tolerance, compare};
use lesson::{CaseError, CaseResult, Effort, KernelEntry, Shape, Status, Trial};
use lockstep::engine::sim::Sim;
use lockstep::engine::{Buffer, EngineKind, LaunchConfig, Prepared};
use lockstep_tests::{cases, ptx, simulator};

const N: usize = orders::BLOCK_THREADS as usize;

/// Launches the kernel on one block, and compares its whole output.
fn judge<K: Kernel<Args = (DevicePtr<u32>, DevicePtrMut<u32>)>>(
    trial: &mut Trial<'_>,
    expected: fn(usize) -> u32,
) -> Result<(), CaseError> {
    let values: Vec<u32> = (7..).take(N).collect();
    let input = Buffer::of(trial.engine(), "input", &values)?;
    let output = Buffer::of(trial.engine(), "output", &[0u32; N])?;
    let config = LaunchConfig::new([1, 1, 1], [orders::BLOCK_THREADS, 1, 1]);
    // SAFETY: one block, an element of each buffer for each thread.
    let launch = unsafe { Prepared::of::<K>(config, (input.as_ptr(), output.as_mut_ptr())) }?;
    trial.launch(&launch)?;
    trial.verdict(compare(&output.read()?, expected, Tolerance::Exact))
}

/// The entry of a kernel that must leave this result.
macro_rules! entry {
    ($kernel:ident, $expected:expr) => {
        KernelEntry::of(orders::$kernel, "broken", |trial| {
            judge::<orders::$kernel>(trial, $expected)
        })
    };
}

fn handed_over(thread: usize) -> u32 {
    7 + thread as u32 % 32
}

fn added_up(element: usize) -> u32 {
    if element == 0 { 64 } else { 0 }
}

/// How the kernel ends in these orders.
fn result(kernel: &KernelEntry, sim: &Sim, orders: &Orders) -> CaseResult {
    let kernel = KernelEntry { ..*kernel };
    let cases = cases(kernel, &[Shape::of(&[orders::BLOCK_THREADS])]);
    run_in(sim, &cases[0], orders, |_| {})
}

const SEEDS: Orders = Orders::Seeds(0..40);

/// The usual order hides the defect, others show it, and so does the reported order when asked
/// for; the corrected version passes in all. Returns the reason.
fn only_others_show(kernel: &KernelEntry, corrected: &KernelEntry, sim: &Sim) -> String {
    let usual = result(kernel, sim, &Orders::Usual);
    assert_eq!(usual.status, Status::Passed, "{:?}", usual.reason);

    let found = result(kernel, sim, &SEEDS);
    assert_eq!(found.status, Status::Failed);
    let schedule = found.schedule.expect("not the usual one");
    assert!(schedule.varies.warps, "{schedule}");
    assert!(schedule.n_choices.is_some_and(|n| n < 1000), "{schedule}");
    assert!(found.n_schedules_passed.is_some_and(|n| n < 20));

    let schedule = schedule.to_string();
    let told = Orders::One(schedule.parse().expect("as it is written"));
    let again = result(kernel, sim, &told);
    assert_eq!((again.status, &again.reason), (found.status, &found.reason));
    assert_eq!(again.n_schedules_passed, None);

    let right = result(corrected, sim, &SEEDS);
    assert_eq!(right.status, Status::Passed, "{:?}", right.reason);
    assert_eq!((right.schedule, right.n_schedules_passed), (None, Some(40)));
    found.reason.expect("a failure has a reason")
}

#[test]
fn a_missing_barrier_behind_the_warp_that_goes_first() {
    let kernel = entry!(handed_over_without_barrier, handed_over);
    let corrected = entry!(handed_over_with_barrier, handed_over);
    let reason = only_others_show(&kernel, &corrected, &simulator(ptx::broken()));
    assert!(reason.contains("elements are wrong"), "{reason}");
}

#[test]
fn an_update_lost_between_two_atomic_steps() {
    let kernel = entry!(added_in_two_steps, added_up);
    let corrected = entry!(added_in_one_step, added_up);
    // It is not a race.
    for check in [false, true] {
        let sim = simulator(ptx::broken()).with_check(check);
        let reason = only_others_show(&kernel, &corrected, &sim);
        assert!(reason.contains("expected 64, got 32"), "{reason}");
    }
}

#[test]
fn a_deadlock_of_two_locks() {
    let kernel = entry!(locked_in_two_orders, added_up);
    let corrected = entry!(locked_in_one_order, added_up);
    let reason = only_others_show(&kernel, &corrected, &simulator(ptx::broken()));
    // An error of a launch names its order.
    assert!(reason.contains(", under schedule "), "{reason}");
    assert!(reason.contains("did not end"), "{reason}");
}

#[test]
fn what_fails_in_the_usual_order_is_told_without_a_schedule() {
    let kernel = entry!(added_in_one_step, |_| 1);
    let result = result(&kernel, &simulator(ptx::broken()), &SEEDS);
    assert_eq!(result.status, Status::Failed);
    assert_eq!((result.schedule, result.n_schedules_passed), (None, None));
}

/// Blocks and warps that wait for others get what they wait for, whichever begins first, and a
/// long wait is not a fault. Counts, which depend on what lanes do together, are not checked
/// against the catalogue's claims.
#[test]
fn kernels_that_wait_for_each_other_pass_in_other_orders() {
    let names = [
        "pass_between",
        "reduce",
        "cells_scan",
        "sgemm",
        "mma_simple",
    ];
    let selected = matching(&names.map(str::to_owned)).expect("they exist");
    let simulator = || Sim::new(ptx::modules());
    let mut cases = lesson::run::cases(&selected, EngineKind::Sim, Effort::Quick);
    cases.retain(|case| !case.shape.is_sweep());
    let in_others = (&cases[..], &Orders::Seeds(0..2));
    let results = run(simulator, in_others, |_, _| {}, |_, _| {});
    let places = results
        .iter()
        .map(|(result, ())| (result.kernel, &result.shape));
    assert!(
        places.eq(cases
            .iter()
            .map(|case| (case.registered.kernel.id, &case.shape)))
    );
    for (result, ()) in results {
        let order = result.schedule.map(|schedule| schedule.to_string());
        let what = format!("{} {}, {order:?}", result.kernel, result.shape);
        assert_eq!(result.status, Status::Passed, "{what}: {:?}", result.reason);
    }
}
