//! A profile of a kernel's memory work: instruction by instruction, and line by line of its source.
//!
//! The simulator counts every access of every instruction, exactly and by the
//! hardware's rules. Here those counts are mapped to the source: which line of which file,
//! how much of its work is needed, how much is wasted, and why.
//!
//! A kernel whose result or counts are wrong is profiled like any other, since a
//! profile is most useful then.
//!
//! Reading order: this file (what a profile is), `lockstep::record` (how one is made),
//! `lockstep::source` (which line an instruction comes from), `lockstep_page::work` (what its
//! figures are) and `lockstep_page::verdict` (what they mean), `lesson::differences` (deviations
//! from the catalogue), [`sources`] (the text of the lines), [`hardware`] (the same
//! figures from a GPU), then the two ways to show it, [`text`] (with `listing`, the lines and
//! their heat) and [`html`], by `lockstep_page`. For runs that could not be profiled, [`excerpt`]
//! shows the lines at fault.
//!
//! Left out: time. A wavefront and a sector are work, and their cost depends
//! on what else the GPU has to do. Also left out: launches that did not end. Which
//! blocks had run when one of them failed depends on the host's threads.

pub mod excerpt;
pub mod hardware;
pub mod html;
mod listing;
pub mod sources;
pub mod text;

pub use lockstep_page::work::{Row, Space};

use lesson::differences::{Difference, differences};
use lesson::{CaseError, Effort, Registered, Shape};
use lockstep::counts::Counts;
use lockstep::engine::sim::Sim;
use lockstep::engine::{EngineKind, PtxModule, Timing};
use lockstep::record::{Launches, Recorded};
use lockstep_page::verdict::{Verdict, verdicts};
use lockstep_page::work::rows;
use serde::Serialize;

/// The memory work of one kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The kernel's entry.
    pub kernel: String,
    /// Its lesson.
    #[serde(skip)]
    pub lesson: &'static str,
    /// Its lesson's title.
    #[serde(skip)]
    pub title: &'static str,
    /// What its lesson shows.
    #[serde(skip)]
    pub idea: &'static str,
    /// What its lesson says about it.
    pub technique: &'static str,
    /// The file of its lesson, relative to the repository.
    pub source: &'static str,
    /// The shape's name.
    pub shape: String,
    /// The module that was run: `kernels.ptx`.
    pub module: String,
    /// The architecture it was compiled for: `sm_80`.
    pub target: String,
    /// Launches of the kernel.
    pub n_launches: usize,
    /// Geometry of the first launch.
    pub geometry: String,
    /// Other kernels that were launched with it, and how often.
    pub others: Vec<(String, usize)>,
    /// Its memory instructions, in the PTX's order.
    pub rows: Vec<Row>,
    /// All that was counted, by name.
    pub totals: Vec<(&'static str, u64)>,
    /// The same, in typed form.
    #[serde(skip)]
    pub counts: Counts,
    /// What went wrong, if the result was not right.
    pub trouble: Option<Trouble>,
    /// What differs from the catalogue.
    pub differences: Vec<Difference>,
    /// What is wasted, and what to do about it.
    pub verdicts: Vec<Verdict>,
    /// The same on a GPU; empty until it is requested.
    pub hardware: Vec<Figure>,
    /// The command that measures it there.
    pub command: String,
}

/// One figure as Nsight Compute names it, predicted and perhaps measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// Nsight Compute's name.
    pub metric: &'static str,
    /// The simulator's figure.
    pub predicted: u64,
    /// The hardware's figure, if it was measured.
    pub measured: Option<u64>,
}

/// What is wrong with a profiled run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// All launches ended, but the result is wrong.
    WrongResult(String),
    /// A launch failed. The launches before it were counted.
    Stopped(String),
    /// A launch could not be simulated. The launches before it were counted.
    NotRun(String),
}

impl Trouble {
    /// What happened, in a few words.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::WrongResult(_) => "the result is wrong",
            Self::Stopped(_) => "only the launches before this are counted",
            Self::NotRun(_) => "not all of it could be run",
        }
    }

    /// The details.
    pub fn reason(&self) -> &str {
        let (Self::WrongResult(what) | Self::Stopped(what) | Self::NotRun(what)) = self;
        what
    }
}

impl Profile {
    /// Whether the run ended with the right result, at the cost that the catalogue
    /// claims.
    pub fn is_right(&self) -> bool {
        self.trouble.is_none() && self.differences.is_empty()
    }

    /// The number of launches, if the geometry is the first of several.
    fn launches(&self) -> String {
        match self.n_launches {
            1 => String::new(),
            n => format!("{n} launches, the first of "),
        }
    }

    /// A total by its name.
    pub fn total(&self, name: &str) -> u64 {
        self.totals
            .iter()
            .find(|(other, _)| *other == name)
            .map_or(0, |&(_, value)| value)
    }
}

/// Runs a lesson's case for one kernel, its checks included.
///
/// # Errors
///
/// The case does not run to its end, or its result is wrong.
pub fn run_case(
    registered: Registered,
    shape: &Shape,
    engine: &dyn Timing,
) -> Result<(), CaseError> {
    let mut trial = registered.trial(engine, shape, None);
    (registered.kernel.run)(&mut trial)
}

/// The shape at which a kernel is profiled by default: one for which
/// the catalogue states its counts, or the largest. `None` if its lesson has no single
/// shape.
pub fn default_shape(registered: Registered) -> Option<Shape> {
    let lesson = registered.lesson;
    let mut shapes = (lesson.shapes)(EngineKind::Sim, Effort::Default);
    shapes.retain(|shape| !shape.is_sweep());
    let claimed = shapes.iter().rposition(|shape| (lesson.expects_at)(shape));
    match claimed {
        Some(index) => Some(shapes.swap_remove(index)),
        None => shapes.pop(),
    }
}

/// The simulator's profile of a kernel of `module` on a shape, even if its
/// result or its counts are wrong; `None` if the lesson never launched it.
///
/// # Errors
///
/// The case stopped before a launch of the kernel had ended.
pub fn simulate(
    registered: Registered,
    shape: &Shape,
    module: &PtxModule,
) -> Result<Option<Profile>, CaseError> {
    let sim = Sim::new(with_helpers(module)).with_record();
    let ended = run_case(registered, shape, &sim);
    let Some(mut profile) = recorded(registered, shape, module, sim.recorded())? else {
        return ended.map(|()| None);
    };
    match ended {
        Ok(()) => profile.differences.clear(),
        Err(CaseError::Counts { differences, .. }) => profile.differences = differences,
        // The lesson could not report the differences.
        Err(error) => {
            profile.trouble = Some(match &error {
                CaseError::Wrong { what, .. } => Trouble::WrongResult(what.clone()),
                other if other.is_not_run() => Trouble::NotRun(other.to_string()),
                other => Trouble::Stopped(other.to_string()),
            });
        }
    }
    Ok(Some(profile))
}

/// The module, followed by those of other topics for the same architecture: a lesson
/// may launch their kernels too.
pub fn with_helpers(module: &PtxModule) -> Vec<PtxModule> {
    let mut modules = vec![module.clone()];
    if let Some(topic) = module.topic() {
        let is_helper = |other: &PtxModule| {
            other.topic() != Some(topic) && other.target_name() == module.target_name()
        };
        let all = host::kernels::modules().unwrap_or_default();
        modules.extend(all.into_iter().filter(is_helper));
    }
    modules
}

/// The profile of the launches of a case, whose outcome is reported elsewhere, and its
/// differences from the catalogue, which is about single launches; `None` if it never launched
/// the kernel.
///
/// # Errors
///
/// The module's text is not available.
pub fn recorded(
    registered: Registered,
    shape: &Shape,
    module: &PtxModule,
    recorded: Recorded,
) -> Result<Option<Profile>, CaseError> {
    let Registered { lesson, kernel } = registered;
    let text = module.text()?;
    let is_own = |(entry, _): &(String, Launches)| entry == kernel.id;
    let (own, others): (Vec<_>, Vec<_>) = recorded.kernels.into_iter().partition(is_own);
    let Some((_, own)) = own.into_iter().next() else {
        return Ok(None);
    };
    let is_claimed = own.n_launches == 1 && (lesson.expects_at)(shape);
    let claimed = if is_claimed { kernel.expected } else { &[] };
    let rows = rows(&own.instructions, text, lesson.source);
    Ok(Some(Profile {
        kernel: kernel.id.to_owned(),
        lesson: lesson.id,
        title: lesson.title,
        idea: lesson.idea,
        technique: kernel.technique,
        source: lesson.source,
        shape: shape.to_string(),
        module: module.name.clone(),
        target: module.target_name().unwrap_or_default().to_owned(),
        n_launches: own.n_launches,
        geometry: own.config.to_string(),
        others: others
            .into_iter()
            .map(|(entry, launches)| (entry, launches.n_launches))
            .collect(),
        verdicts: verdicts(&rows),
        rows,
        totals: own.total.entries(),
        counts: own.total,
        trouble: None,
        differences: differences(claimed, &own.total, &own.instructions, lesson.source),
        hardware: Vec::new(),
        command: String::new(),
    }))
}
