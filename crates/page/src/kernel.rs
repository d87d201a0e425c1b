//! Everything that a page knows about a kernel: the outcome of its runs, their cost, their time.

use crate::listing::Listing;
use crate::player::Player;
use crate::touched::Touched;
use crate::work::Row;
use lockstep::counts::Counts;
use std::collections::BTreeMap;

/// A kernel, or a way to launch one.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name; unique in its group.
    pub name: String,
    /// What it does differently, in one line.
    pub technique: String,
    /// Its runs and their outcome.
    pub runs: Vec<Run>,
    /// Its memory work on one shape, or why there is none to show.
    pub counted: Result<Counted, String>,
    /// Its times, shape by shape; empty if they were not measured.
    pub times: Vec<Time>,
    /// Its PTX, if it can be unfolded.
    pub ptx: Option<Listing>,
    /// What its lanes touch, if that was traced.
    pub touched: Option<Touched>,
    /// A block's run, frame by frame, if that was traced.
    pub player: Option<Player>,
    /// The command that prints its profile, if there is one.
    pub command: Option<String>,
    /// The command that prints its PTX, if there is one.
    pub ptx_command: Option<String>,
    /// Texts of the sources that its instructions come from, by file.
    pub sources: BTreeMap<String, String>,
}

/// One run of a kernel.
#[derive(Clone, Debug)]
pub struct Run {
    /// The shape's name.
    pub shape: String,
    /// Its outcome.
    pub state: State,
    /// Why it did not pass.
    pub reason: Option<String>,
    /// Remarks on the result.
    pub notes: Vec<String>,
}

/// The outcome of a run. A run that did not take place has not passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The result was wrong, or a claim about it.
    Failed,
    /// It was not run.
    NotRun,
    /// It ran, and nothing was compared.
    Ran,
    /// The result was compared, and right.
    Passed,
}

impl State {
    /// The outcome for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::NotRun => "not run",
            Self::Ran => "ran, not compared",
            Self::Passed => "passed",
        }
    }

    /// As a class of the page's style.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Failed => "bad",
            Self::NotRun => "unsure",
            Self::Ran => "faint",
            Self::Passed => "good",
        }
    }
}

/// The counts of a kernel's launches on one shape.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The shape's name; empty if the geometry says everything.
    pub shape: String,
    /// Geometry of the first launch.
    pub geometry: String,
    /// How many launches there were.
    pub n_launches: usize,
    /// Other kernels that were launched with it, and how often.
    pub others: Vec<(String, usize)>,
    /// The module: `kernels.ptx`.
    pub module: String,
    /// The architecture it was compiled for: `sm_80`.
    pub target: String,
    /// The file with the kernel.
    pub file: String,
    /// Its memory instructions, in the PTX's order.
    pub rows: Vec<Row>,
    /// The sums of its launches.
    pub totals: Counts,
    /// Deviations from what was expected.
    pub remarks: Vec<Remark>,
    /// The same figures by a GPU's counters.
    pub hardware: Option<Hardware>,
}

/// A deviation from what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// A label of a few words.
    pub label: String,
    /// The details.
    pub text: String,
}

/// Figures of a GPU's counters.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// Nsight Compute's name, the simulator's count, and the GPU's, if it was
    /// measured.
    pub figures: Vec<(String, u64, Option<u64>)>,
    /// The command that measures them.
    pub command: String,
}

/// A kernel's time on one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Time {
    /// The shape's name.
    pub shape: String,
    /// Half of the runs were faster; in milliseconds.
    pub median: Measure,
    /// A tenth of the runs were faster, and a tenth slower; in milliseconds.
    pub spread: Option<(Measure, Measure)>,
    /// Number of runs.
    pub n_runs: usize,
    /// The engine and device that were measured.
    pub on: String,
    /// The kernel's speed relative to others.
    pub beside: Vec<Beside>,
}

/// The kernel's speed relative to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The other.
    pub name: String,
    /// The ratio of medians: above 1, the kernel is faster.
    pub speed: Measure,
}

impl Beside {
    /// `1.04 × CUDA C++`.
    pub fn words(&self) -> String {
        format!("{:.2} × {}", self.speed.get(), self.name)
    }
}

/// A measured number: finite, and above 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Measure(f64);

impl Measure {
    /// `None` for numbers that cannot have been measured: NaN, infinities, 0 and below.
    pub fn of(number: f64) -> Option<Self> {
        (number.is_finite() && number > 0.0).then_some(Self(number))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Kernel {
    /// A kernel that was not run yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            technique: String::new(),
            runs: Vec::new(),
            counted: Err("not counted: it was not run".to_owned()),
            times: Vec::new(),
            ptx: None,
            touched: None,
            player: None,
            command: None,
            ptx_command: None,
            sources: BTreeMap::new(),
        }
    }

    /// The same under another name, for one of several launches of it.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Sets what it does differently.
    #[must_use]
    pub fn saying(self, technique: impl Into<String>) -> Self {
        Self {
            technique: technique.into(),
            ..self
        }
    }

    /// The worst outcome of its runs.
    pub fn state(&self) -> State {
        let states = self.runs.iter().map(|run| run.state);
        states.min().unwrap_or(State::NotRun)
    }

    /// The counts, if there are any.
    pub fn counted(&self) -> Option<&Counted> {
        self.counted.as_ref().ok()
    }

    /// The time on its largest shape: the last of [`Kernel::times`].
    pub fn time(&self) -> Option<&Time> {
        self.times.last()
    }
}
