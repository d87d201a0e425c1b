//! The test bench a lesson runs one kernel on: launches, verdicts, figures.

use crate::counts::Counts;
use crate::engine::{Buffer, Engine, EngineError, EngineKind, Observe, Prepared, Timed};
use crate::measure::{N_RUNS, N_WARMUP, Times};
use crate::registry::{KernelEntry, Lesson, Shape, Work};
use crate::verify::{Mismatch, Verified};

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
    /// Times of a device-to-device copy that moves as many bytes, measured in
    /// turn with the kernel.
    pub copy_times: Option<Times>,
    /// Times of the kernel's CUDA C++ twin, measured in turn with it.
    pub peer_times: Option<Times>,
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
    timed: bool,
    figures: Figures,
}

impl<'e> Bench<'e> {
    /// For one case of a run; if not `timed`, [`Bench::time`] and its like do
    /// nothing.
    pub fn new(
        engine: &'e dyn Engine,
        lesson: &'static Lesson,
        kernel: &'static KernelEntry,
        shape: &'e Shape,
        timed: bool,
    ) -> Self {
        Self {
            engine,
            lesson,
            kernel,
            shape,
            timed,
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

    /// Times the launch in turn with a copy of as many bytes, and with its CUDA
    /// C++ twin if there is one, where the engine has a clock that means
    /// something.
    pub fn time(&mut self, launch: &Prepared) -> Result<(), CaseError> {
        self.time_all(std::slice::from_ref(launch))
    }

    /// [`Bench::time`] of launches that do one thing together.
    pub fn time_all(&mut self, launches: &[Prepared]) -> Result<(), CaseError> {
        if !self.timed {
            return Ok(());
        }
        let sides = Sides::new(self, launches)?;
        let runs = self
            .engine
            .time(&sides.alternatives(launches), N_WARMUP, N_RUNS)?;
        self.keep_times(&sides, runs);
        Ok(())
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
        if !self.timed {
            return Ok(());
        }
        let sides = Sides::new(self, launches)?;
        let alternatives = sides.alternatives(launches);
        // One run of each, each after a reset.
        let once = || -> Result<Option<Vec<f32>>, EngineError> {
            let mut times = Vec::new();
            for alternative in &alternatives {
                reset()?;
                match self.engine.time(std::slice::from_ref(alternative), 0, 1)? {
                    Some(runs) => times.extend(runs.concat()),
                    None => return Ok(None),
                }
            }
            Ok(Some(times))
        };
        let Some(first_ms) = once()? else {
            return Ok(());
        };
        let round_ms: f32 = first_ms.iter().sum();
        let fitting =
            |n: u32| ((PATIENCE_MS / round_ms) as u32).clamp(FEWEST_RUNS, n.max(FEWEST_RUNS));
        for _ in 0..fitting(N_WARMUP) {
            once()?;
        }
        let mut runs = vec![Vec::new(); alternatives.len()];
        for _ in 0..fitting(N_RUNS) {
            for (runs, time) in runs.iter_mut().zip(once()?.into_iter().flatten()) {
                runs.push(time);
            }
        }
        self.keep_times(&sides, Some(runs));
        Ok(())
    }

    fn keep_times(&mut self, sides: &Sides<'_>, runs: Option<Vec<Vec<f32>>>) {
        let mut runs = runs.unwrap_or_default().into_iter();
        let mut next = || runs.next().as_deref().and_then(Times::of);
        self.figures.times = next();
        self.figures.copy_times = sides.copy.as_ref().and_then(|_| next());
        self.figures.peer_times = if sides.has_peer { next() } else { None };
    }

    /// What was measured, at the end.
    pub fn into_figures(self) -> Figures {
        self.figures
    }
}

/// What a kernel is timed in turn with.
struct Sides<'e> {
    /// Source and target of a copy that moves as many bytes as the kernel.
    copy: Option<(Buffer<'e, u8>, Buffer<'e, u8>)>,
    /// Whether there are CUDA C++ twins of all its launches.
    has_peer: bool,
}

impl<'e> Sides<'e> {
    fn new(bench: &Bench<'e>, launches: &[Prepared]) -> Result<Self, EngineError> {
        let engine = bench.engine;
        // Half of them read, half of them written.
        let half = ((bench.lesson.work)(bench.shape).bytes / 2) as usize;
        let copy = if half > 0 && engine.kind() == EngineKind::Gpu {
            let from = Buffer::poisoned(engine, "copy source", half)?;
            Some((from, Buffer::poisoned(engine, "copy target", half)?))
        } else {
            None
        };
        let has_peer = launches
            .iter()
            .all(|launch| engine.has_peer(launch.entry()));
        Ok(Self { copy, has_peer })
    }

    /// The kernel, the copy, the twin; what there is of them.
    fn alternatives<'a>(&self, launches: &'a [Prepared]) -> Vec<Timed<'a>> {
        let mut alternatives = vec![Timed::Launches(launches)];
        if let Some((from, to)) = &self.copy {
            alternatives.push(Timed::Copy {
                to: to.address(),
                from: from.address(),
                size_bytes: from.len() as u64,
            });
        }
        if self.has_peer {
            alternatives.push(Timed::Peers(launches));
        }
        alternatives
    }
}
