//! The test bench a lesson runs one kernel on: launches, verdicts, figures.

use crate::counts::Counts;
use crate::engine::{Buffer, Engine, EngineError, Observe, Prepared};
use crate::measure::{N_RUNS, N_WARMUP, Times};
use crate::registry::{KernelEntry, Lesson, Shape, Work};
use crate::verify::{Mismatch, Verified};
use std::cell::RefCell;
use std::collections::HashMap;

/// Why a case did not pass.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CaseError {
    /// It could not be run to its end.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It ran, and its result is wrong.
    #[error("{0}")]
    Wrong(String),
}

impl CaseError {
    /// Whether the kernel was never given a chance: neither passed nor failed.
    pub fn is_not_run(&self) -> bool {
        matches!(self, Self::Engine(error) if error.is_not_run())
    }

    /// The same error, with the size of a sweep that it happened at.
    #[must_use]
    pub fn at(self, size: impl std::fmt::Display) -> Self {
        match self {
            Self::Wrong(what) => Self::Wrong(format!("size {size}: {what}")),
            other => other,
        }
    }
}

impl From<Mismatch> for CaseError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Wrong(mismatch.to_string())
    }
}

/// What a case measured.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Elements compared with the reference.
    pub n_checked: usize,
    /// Largest difference from the reference.
    pub max_abs_error: Option<f64>,
    /// Times of the kernel, from a GPU.
    pub times: Option<Times>,
    /// Times of a device-to-device copy that moves as many bytes.
    pub copy_times: Option<Times>,
    /// Bytes and operations of one launch.
    pub work: Option<Work>,
    /// Counts of one launch, from the simulator.
    pub counts: Option<Counts>,
    /// Remarks, for people.
    pub notes: Vec<String>,
}

/// One kernel, one shape, one engine.
pub struct Bench<'e> {
    engine: &'e dyn Engine,
    lesson: &'static Lesson,
    kernel: &'static KernelEntry,
    shape: &'e Shape,
    copies: &'e CopySpeed,
    figures: Figures,
}

impl<'e> Bench<'e> {
    /// For one case of a run; `copies` is kept for the whole run.
    pub fn new(
        engine: &'e dyn Engine,
        lesson: &'static Lesson,
        kernel: &'static KernelEntry,
        shape: &'e Shape,
        copies: &'e CopySpeed,
    ) -> Self {
        Self {
            engine,
            lesson,
            kernel,
            shape,
            copies,
            figures: Figures::default(),
        }
    }

    /// What runs the kernel.
    pub fn engine(&self) -> &'e dyn Engine {
        self.engine
    }

    /// The shape to run it on.
    pub fn shape(&self) -> &'e Shape {
        self.shape
    }

    /// The kernel's description.
    pub fn kernel(&self) -> &'static KernelEntry {
        self.kernel
    }

    /// What was measured so far.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Launches once and keeps the counts as the case's.
    pub fn launch(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        let counts = self.engine.launch(launch, Observe::Counts)?;
        self.figures.counts = counts.map(|counts| counts.total);
        self.figures.work = Some((self.lesson.work)(self.shape));
        Ok(())
    }

    /// Launches once without counting: one of many shapes of a sweep.
    pub fn launch_uncounted(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        self.engine.launch(launch, Observe::Nothing)?;
        Ok(())
    }

    /// Takes the verdict on (a part of) the output.
    pub fn verdict(&mut self, compared: Result<Verified, Mismatch>) -> Result<(), CaseError> {
        let verified = match compared {
            Ok(verified) => verified,
            Err(mismatch) => {
                self.figures.max_abs_error = Some(mismatch.max_abs_error);
                return Err(mismatch.into());
            }
        };
        self.figures.n_checked += verified.n_checked;
        let so_far = self.figures.max_abs_error.unwrap_or(0.0);
        self.figures.max_abs_error = Some(so_far.max(verified.max_abs_error));
        Ok(())
    }

    /// Checks the catalogue's claims about the counts of the last
    /// [`Bench::launch`], where there are counts and claims.
    pub fn check_counts(&self) -> Result<(), CaseError> {
        let Some(counts) = &self.figures.counts else {
            return Ok(());
        };
        if !(self.lesson.expects_at)(self.shape) {
            return Ok(());
        }
        for expectation in self.kernel.expected {
            expectation.check(counts).map_err(CaseError::Wrong)?;
        }
        Ok(())
    }

    /// Takes the verdict on one number: it must be within `bound` of `expected`.
    pub fn verdict_within(&mut self, got: f64, expected: f64, bound: f64) -> Result<(), CaseError> {
        let error = (got - expected).abs();
        self.figures.n_checked += 1;
        let so_far = self.figures.max_abs_error.unwrap_or(0.0);
        if error.is_nan() || error > so_far || self.figures.max_abs_error.is_none() {
            self.figures.max_abs_error = Some(error);
        }
        // So that a NaN is wrong.
        if error <= bound {
            return Ok(());
        }
        Err(CaseError::Wrong(format!(
            "expected {expected} within {bound}, got {got}"
        )))
    }

    /// A remark on the result, for people.
    pub fn note(&mut self, note: String) {
        self.figures.notes.push(note);
    }

    /// Times the launch, beside a copy of as many bytes, where the engine has a
    /// clock that means something.
    pub fn time(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        self.time_all(std::slice::from_ref(launch))
    }

    /// [`Bench::time`] of launches that do one thing together.
    pub fn time_all(&mut self, launches: &[Prepared]) -> Result<(), CaseError> {
        let runs = self.engine.time(launches, N_WARMUP, N_RUNS)?;
        self.keep_times(runs)
    }

    /// [`Bench::time_all`] of launches that do something else the second time,
    /// unless `reset` comes before. Long ones get fewer runs.
    pub fn time_from(
        &mut self,
        launches: &[Prepared],
        reset: impl Fn() -> Result<(), EngineError>,
    ) -> Result<(), CaseError> {
        /// About as long as the runs may take, in milliseconds.
        const PATIENCE_MS: f32 = 2000.0;
        const FEWEST_RUNS: u32 = 10;
        let once = || -> Result<Option<f32>, EngineError> {
            reset()?;
            let times = self.engine.time(launches, 0, 1)?;
            Ok(times.and_then(|times| times.first().copied()))
        };
        let Some(first_ms) = once()? else {
            return Ok(());
        };
        let fitting =
            |n: u32| ((PATIENCE_MS / first_ms) as u32).clamp(FEWEST_RUNS, n.max(FEWEST_RUNS));
        for _ in 0..fitting(N_WARMUP) {
            once()?;
        }
        let mut runs = Vec::new();
        for _ in 0..fitting(N_RUNS) {
            runs.extend(once()?);
        }
        self.keep_times(Some(runs))
    }

    fn keep_times(&mut self, runs: Option<Vec<f32>>) -> Result<(), CaseError> {
        self.figures.times = runs.as_deref().and_then(Times::of);
        if self.figures.times.is_some() {
            let work = (self.lesson.work)(self.shape);
            self.figures.copy_times = self.copies.of(self.engine, work.bytes)?;
        }
        Ok(())
    }

    /// What was measured, at the end.
    pub fn into_figures(self) -> Figures {
        self.figures
    }
}

/// Speed of device-to-device copies in this run, measured once a size.
#[derive(Default)]
pub struct CopySpeed(RefCell<HashMap<u64, Option<Times>>>);

impl CopySpeed {
    /// Times of a copy that reads and writes `bytes` in sum.
    fn of(&self, engine: &dyn Engine, bytes: u64) -> Result<Option<Times>, EngineError> {
        if let Some(&times) = self.0.borrow().get(&bytes) {
            return Ok(times);
        }
        let half = bytes / 2;
        let from = Buffer::<u8>::poisoned(engine, "copy source", half as usize)?;
        let to = Buffer::<u8>::poisoned(engine, "copy target", half as usize)?;
        let runs = engine.time_copy(to.address(), from.address(), half, N_WARMUP, N_RUNS)?;
        let times = runs.as_deref().and_then(Times::of);
        self.0.borrow_mut().insert(bytes, times);
        Ok(times)
    }
}
