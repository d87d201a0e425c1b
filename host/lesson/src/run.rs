//! One walk over the registry: every selected kernel on every shape.

use crate::clocking::Clocking;
use crate::error::Lead;
use crate::figures::Figures;
use crate::measurement::Measurement;
use crate::registry::Registered;
use crate::shape::{Effort, Shape};
use crate::status::Status;
use lockstep::engine::{Engine, EngineKind, Timing};
use ptx_sim::Schedule;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The result of one kernel on one shape. A file has it without the case and the order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseResult {
    /// The lesson's id.
    #[serde(skip)]
    pub lesson: &'static str,
    /// The kernel's id.
    #[serde(skip)]
    pub kernel: &'static str,
    /// The shape.
    #[serde(skip)]
    pub shape: Shape,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass.
    pub reason: Option<String>,
    /// Whether a profile shows more of why it failed.
    pub can_be_profiled: bool,
    /// Where the debugger shows why it failed.
    pub lead: Option<Lead>,
    /// The size that failed, if the shape is a sweep.
    #[serde(skip)]
    pub failed_size: Option<Shape>,
    /// Its measurements.
    pub figures: Figures,
    /// The total time of the case.
    pub elapsed: Duration,
    /// The order that it ran in, if not the usual one.
    #[serde(skip)]
    pub schedule: Option<Schedule>,
    /// Schedules that it passed under, in addition to the usual order, if some were tried.
    #[serde(skip)]
    pub n_schedules_passed: Option<u64>,
}

impl CaseResult {
    /// The shape to look at to see why it failed: the failed one of a sweep. Commands take none that
    /// is empty; a kernel that fails there mostly fails on one element, too.
    pub fn shape_to_look_at(&self) -> Shape {
        match &self.failed_size {
            Some(size) => Shape::of(&size.dims().iter().map(|&n| n.max(1)).collect::<Vec<_>>()),
            None => self.shape.clone(),
        }
    }

    /// Its record for a file, if it was timed or failed; `None` for a kernel that is never
    /// timed.
    pub fn measurement(&self) -> Option<Measurement> {
        let figures = &self.figures;
        let timings = &figures.timings;
        if timings.sides.is_empty() && self.status == Status::Passed {
            return None;
        }
        Some(Measurement {
            lesson: self.lesson.to_owned(),
            kernel: self.kernel.to_owned(),
            shape: self.shape.name(),
            status: self.status,
            reason: self.reason.clone(),
            bytes: figures.work.map_or(0, |work| work.bytes),
            flops: figures.work.map_or(0, |work| work.flops),
            n_sets: timings.n_sets,
            set_bytes: timings.set_bytes,
            out_of_cache: timings.out_of_cache,
            n_late: timings.n_late,
            sensors: timings.sensors,
            times: timings.sides.iter().copied().collect(),
            ratios: timings.ratios.iter().copied().collect(),
            choices: timings.choices.iter().cloned().collect(),
            times_in_row: timings.in_row.iter().copied().collect(),
            n_in_row: timings.n_in_row,
            alone: timings.alone.iter().copied().collect(),
        })
    }
}

/// One kernel on one shape, to be run.
#[derive(Clone)]
pub struct Case {
    /// The kernel and its lesson.
    pub registered: Registered,
    /// The shape.
    pub shape: Shape,
}

/// The cases of `selected` for an engine, in order.
pub fn cases(selected: &[Registered], engine: EngineKind, effort: Effort) -> Vec<Case> {
    let mut cases = Vec::new();
    for &registered in selected {
        for shape in (registered.lesson.shapes)(engine, effort) {
            cases.push(Case { registered, shape });
        }
    }
    cases
}

/// Runs the cases one after another, timed as `clocking` says. `starting` and
/// `ended` are called for each.
pub fn run(
    engine: &dyn Timing,
    cases: &[Case],
    clocking: Option<Clocking>,
    mut starting: impl FnMut(&Case),
    mut ended: impl FnMut(&CaseResult),
) -> Vec<CaseResult> {
    cases
        .iter()
        .map(|case| {
            starting(case);
            let result = run_case(engine, case, clocking);
            ended(&result);
            result
        })
        .collect()
}

/// Runs one case.
pub fn run_case(engine: &dyn Timing, case: &Case, clocking: Option<Clocking>) -> CaseResult {
    let Registered { lesson, kernel } = case.registered;
    let started = Instant::now();
    let (mut can_be_profiled, mut lead, mut failed_size) = (false, None, None);
    let (status, reason, figures) = match not_runnable(engine, case) {
        Some(reason) => (Status::NotRun, Some(reason), Figures::default()),
        None => {
            let mut trial = case.registered.trial(engine, &case.shape, clocking);
            let outcome = (kernel.run)(&mut trial);
            let figures = trial.into_figures();
            match outcome {
                Ok(()) if figures.n_checked == 0 => (
                    Status::Failed,
                    Some("its lesson compared nothing with the reference".to_owned()),
                    figures,
                ),
                Ok(()) => (Status::Passed, None, figures),
                Err(error) => {
                    (can_be_profiled, lead) = (error.can_be_profiled(), error.lead());
                    failed_size = error.size().cloned();
                    let status = if error.is_not_run() {
                        Status::NotRun
                    } else {
                        Status::Failed
                    };
                    (status, Some(error.to_string()), figures)
                }
            }
        }
    };
    CaseResult {
        lesson: lesson.id,
        kernel: kernel.id,
        shape: case.shape.clone(),
        status,
        reason,
        can_be_profiled,
        lead,
        failed_size,
        figures,
        elapsed: started.elapsed(),
        schedule: None,
        n_schedules_passed: None,
    }
}

/// The reason why the engine cannot run the kernel, if it cannot.
fn not_runnable(engine: &dyn Engine, case: &Case) -> Option<String> {
    let (needs, has) = (case.registered.kernel.min_sm, engine.device().sm);
    if needs > has {
        return Some(format!(
            "it needs sm_{needs}, and {} is sm_{has}",
            engine.device().name
        ));
    }
    engine.is_usable().err().map(|error| error.to_string())
}

/// Numbers of cases by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of [`Status::Passed`].
    pub n_passed: usize,
    /// Number of [`Status::Failed`].
    pub n_failed: usize,
    /// Number of [`Status::NotRun`].
    pub n_not_run: usize,
}

impl Tally {
    /// The tally of these results.
    pub fn of(results: &[CaseResult]) -> Self {
        let mut tally = Self::default();
        for result in results {
            match result.status {
                Status::Passed => tally.n_passed += 1,
                Status::Failed => tally.n_failed += 1,
                Status::NotRun => tally.n_not_run += 1,
            }
        }
        tally
    }
}
