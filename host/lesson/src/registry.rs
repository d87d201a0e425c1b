//! A registry of lessons and their kernels.
//!
//! A lesson is data with functions: the shapes to run, their work, and how to run
//! one kernel on one shape.
//!
//! Left out: the list of lessons, which each program makes for itself.

use crate::clocking::Clocking;
use crate::error::CaseError;
use crate::footprint::Footprint;
use crate::shape::{Effort, Shape, Work};
use crate::target::Target;
use crate::trial::{Subject, Trial};
use crate::verify::Tolerance;
use cuda_std::launch::{Kernel, KernelArgs, LaunchBounds};
use lockstep::counts::{Expectation, Metric};
use lockstep::engine::launch::topic_of;
use lockstep::engine::{EngineKind, Timing};

/// The lowest architecture of kernels that do not say otherwise: 80 for sm_80.
pub const BASE_SM: u32 = 80;

/// An idea of shared-memory programming and the kernels that show it.
pub struct Lesson {
    /// Short and unique: `transpose`.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its point, in one line.
    pub idea: &'static str,
    /// The file with the kernels, relative to the repository.
    pub source: &'static str,
    /// From the simplest kernel to the fastest.
    pub kernels: &'static [KernelEntry],
    /// The shapes to run on an engine.
    pub shapes: fn(EngineKind, Effort) -> Vec<Shape>,
    /// The bytes and operations of one launch on a shape.
    pub work: fn(&Shape) -> Work,
    /// The memory that a case on a shape takes.
    pub memory: fn(&Shape) -> Footprint,
    /// Whether the kernels' [`KernelEntry::expected`] holds for a shape.
    pub expects_at: fn(&Shape) -> bool,
    /// Targets for the speed of its kernels.
    pub targets: &'static [Target],
}

/// A kernel as its lesson describes it.
#[derive(Clone, Copy)]
pub struct KernelEntry {
    /// Entry name in the PTX; unique.
    pub id: &'static str,
    /// Its topic in its crate, which also determines the PTX module.
    pub topic: Option<&'static str>,
    /// What it does differently, in one line.
    pub technique: &'static str,
    /// Its parameters' names, as in the Rust source.
    pub param_names: &'static [&'static str],
    /// Sizes in bytes of its PTX parameters.
    pub param_sizes: fn() -> Vec<u32>,
    /// Its launch limits.
    pub bounds: Option<LaunchBounds>,
    /// Whether a launch may start before the one before it has ended; see
    /// `cuda_std::grid`.
    pub uses_pdl: bool,
    /// The oldest architecture it runs on: 80 for sm_80.
    pub min_sm: u32,
    /// The tolerance of its results.
    pub tolerance: Tolerance,
    /// The catalogue's claims about its counts.
    pub expected: &'static [Expectation],
    /// Times that others published for the same kernel.
    pub published: &'static [Published],
    /// Extents of the shapes that it is timed at when speed matters. If empty,
    /// the largest that its lesson runs on a GPU.
    pub timed_at: &'static [&'static [u32]],
    /// False positives of NVIDIA's tools.
    pub known_alarms: &'static [KnownAlarm],
    /// Runs it on one shape: uploads, launches, verifies, measures.
    pub run: fn(&mut Trial<'_>) -> Result<(), CaseError>,
}

/// A tool's reports on a kernel that is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAlarm {
    /// One of compute-sanitizer's tools.
    pub tool: &'static str,
    /// Why the report is wrong.
    pub reason: &'static str,
}

/// A time that others measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The machine, and how the kernel was compiled.
    pub machine: &'static str,
    /// The shape's name.
    pub shape: &'static str,
    /// Milliseconds per launch.
    pub time_ms: f64,
}

impl KernelEntry {
    /// The entry of `_kernel`, exact and without claims.
    pub const fn of<K: Kernel>(
        _kernel: K,
        technique: &'static str,
        run: fn(&mut Trial<'_>) -> Result<(), CaseError>,
    ) -> Self {
        Self {
            id: K::NAME,
            topic: topic_of(K::MODULE_PATH),
            technique,
            param_names: K::PARAM_NAMES,
            param_sizes: param_sizes::<K>,
            bounds: K::LAUNCH_BOUNDS,
            uses_pdl: K::USES_PDL,
            min_sm: BASE_SM,
            tolerance: Tolerance::Exact,
            expected: &[],
            published: &[],
            timed_at: &[],
            known_alarms: &[],
            run,
        }
    }

    /// With claims about its counts.
    pub const fn expecting(self, expected: &'static [Expectation]) -> Self {
        Self { expected, ..self }
    }

    /// With times that others published.
    pub const fn published(self, published: &'static [Published]) -> Self {
        Self { published, ..self }
    }

    /// With shapes to time it at.
    pub const fn timed_at(self, timed_at: &'static [&'static [u32]]) -> Self {
        Self { timed_at, ..self }
    }

    /// With a tolerance other than zero.
    pub const fn within(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// With false positives of NVIDIA's tools.
    pub const fn alarming(self, known_alarms: &'static [KnownAlarm]) -> Self {
        Self {
            known_alarms,
            ..self
        }
    }

    /// With a newer architecture required than for the rest.
    pub const fn since_sm(self, min_sm: u32) -> Self {
        Self { min_sm, ..self }
    }
}

/// The claim that a metric has exactly this value.
pub const fn exactly(metric: Metric, value: f64) -> Expectation {
    Expectation::exactly(metric, value)
}

/// The table of a lesson's kernels, `KERNELS`: each with its technique, how it runs, and what else
/// [`KernelEntry`] says about it. The row
///
/// ```text
/// copy: "one element per thread", run(one_a_thread), expecting(&claims(4.0));
/// ```
///
/// is `KernelEntry::of(copy, "…", |trial| run(trial, copy, one_a_thread)).expecting(&claims(4.0))`.
#[macro_export]
macro_rules! kernels {
    ($($kernel:path: $technique:expr, $run:ident($($argument:expr),*) $(, $says:ident($what:expr))*;)*) => {
        static KERNELS: &[$crate::KernelEntry] = &[$(
            $crate::KernelEntry::of($kernel, $technique, |trial| {
                $run(trial, $kernel $(, $argument)*)
            })
            $(.$says($what))*
        ),*];
    };
}

fn param_sizes<K: Kernel>() -> Vec<u32> {
    K::Args::param_sizes().collect()
}

/// A kernel of the registry with its lesson.
#[derive(Clone, Copy)]
pub struct Registered {
    /// The lesson.
    pub lesson: &'static Lesson,
    /// One of its kernels.
    pub kernel: &'static KernelEntry,
}

impl Registered {
    /// The shapes that it is timed at when speed matters.
    pub fn timed_shapes(&self) -> Vec<Shape> {
        if !self.kernel.timed_at.is_empty() {
            return self
                .kernel
                .timed_at
                .iter()
                .map(|dims| Shape::of(dims))
                .collect();
        }
        (self.lesson.shapes)(EngineKind::Gpu, Effort::Default)
            .into_iter()
            .filter(|shape| !shape.is_sweep())
            .max_by_key(|shape| (self.lesson.work)(shape).bytes)
            .into_iter()
            .collect()
    }

    /// A trial of it on a shape, timed as `clocking` says.
    pub fn trial<'e>(
        &self,
        engine: &'e dyn Timing,
        shape: &'e Shape,
        clocking: Option<Clocking>,
    ) -> Trial<'e> {
        let Self { lesson, kernel } = *self;
        let subject = Subject {
            source: lesson.source,
            work: lesson.work,
            tolerance: kernel.tolerance,
            expected: match (lesson.expects_at)(shape) {
                true => kernel.expected,
                false => &[],
            },
        };
        Trial::new(engine, subject, shape, clocking)
    }
}
