//! Cases in orders other than the usual one.
//!
//! A launch on the simulator runs its blocks, warps and lanes in one order, always
//! the same. A kernel that is right in that order may be wrong in another, and a GPU
//! guarantees none. So a case runs again, from its inputs to its verdict, under one
//! schedule after another, until one fails; that one is reduced to the simplest that fails
//! (`ptx_sim::schedule`).
//!
//! Left out: counts, which are those of the usual order.

use crate::room;
use crate::run::{Case, CaseResult, run_case};
use crate::status::Status;
use lockstep::engine::sim::Sim;
use ptx_sim::{Schedule, schedule};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// The orders that a case runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Orders {
    /// The usual one.
    Usual,
    /// Only this one.
    One(Schedule),
    /// The usual one; if it passes, those of these seeds, up to the first that fails.
    Seeds(Range<u64>),
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => f.write_str("in the usual order"),
            Self::One(schedule) => write!(f, "under schedule {schedule}"),
            Self::Seeds(seeds) if seeds.end - seeds.start == 1 => {
                write!(f, "in the usual order and under schedule {}", seeds.start)
            }
            Self::Seeds(seeds) => write!(
                f,
                "in the usual order and under schedules {} to {}",
                seeds.start,
                seeds.end - 1
            ),
        }
    }
}

/// Runs the cases, several at a time, each on a simulator that `simulator` makes. `starting` is
/// called for each run of a case, with its schedule; `ended` for each case. Results are in the order
/// of the cases, each with what `ended` returned.
pub fn run<R: Send>(
    simulator: impl Fn() -> Sim + Sync,
    (cases, orders): (&[Case], &Orders),
    starting: impl Fn(&Case, Option<Schedule>) + Sync,
    ended: impl Fn(&Sim, &CaseResult) -> R + Sync,
) -> Vec<(CaseResult, R)> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    let take = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        Some((number, cases.get(number)?))
    };
    let run_rest = |sim: &Sim| {
        while let Some((number, case)) = take() {
            let result = run_in(sim, case, orders, |schedule| starting(case, schedule));
            let more = ended(sim, &result);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(number, (result, more));
        }
    };
    let first = simulator();
    let n_at_once = room::n_at_once(cases, first.is_checked());
    thread::scope(|scope| {
        for _ in 1..n_at_once {
            scope.spawn(|| run_rest(&simulator()));
        }
        run_rest(&first);
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_values().collect()
}

/// Runs a case in these orders. `starting` is called for each run, with its schedule.
pub fn run_in(
    sim: &Sim,
    case: &Case,
    orders: &Orders,
    starting: impl Fn(Option<Schedule>),
) -> CaseResult {
    let run_once = |schedule| {
        starting(schedule);
        match schedule {
            None => run_case(sim, case, None),
            Some(schedule) => under(sim, case, schedule),
        }
    };
    match orders {
        Orders::Usual => run_once(None),
        Orders::One(schedule) => run_once(Some(*schedule)),
        Orders::Seeds(seeds) => search(seeds.clone(), run_once),
    }
}

fn under(sim: &Sim, case: &Case, schedule: Schedule) -> CaseResult {
    sim.launch_by(Some(Rc::new(move |sim, launch| {
        sim.launch_under(launch, schedule)
    })));
    let result = run_case(sim, case, None);
    sim.launch_by(None);
    CaseResult {
        schedule: Some(schedule),
        ..result
    }
}

fn search(
    seeds: Range<u64>,
    mut run_once: impl FnMut(Option<Schedule>) -> CaseResult,
) -> CaseResult {
    let started = Instant::now();
    let usual = run_once(None);
    if usual.status != Status::Passed {
        return usual;
    }
    let n_schedules = seeds.end - seeds.start;
    let found = schedule::search(seeds, |schedule| {
        let result = run_once(Some(schedule));
        match result.status {
            Status::Passed => Ok(()),
            Status::Failed | Status::NotRun => Err(Box::new(result)),
        }
    });
    let (result, n_passed) = match found {
        None => (usual, n_schedules),
        Some(found) => (*found.error, found.n_passed),
    };
    CaseResult {
        n_schedules_passed: Some(n_passed),
        elapsed: started.elapsed(),
        ..result
    }
}
