//! The page of all lessons for a browser (`lockstep_page`): the simulator's counts of each
//! kernel, a GPU's measurements, and charts of them.
//!
//! Reading order: this file (from runs to a page), [`measured`] (times, from results), [`charts`]
//! (drawing), [`pictures`] (each lesson's pictures), [`graphene`] (a picture of
//! the neighbour lists).
//!
//! Left out: the page itself, which knows nothing of lessons; running kernels, which `cli` does.

pub mod charts;
pub mod graphene;
pub mod measured;
pub mod pictures;

use crate::explain;
use crate::profile::{self, Profile, html};
use host::hints;
use host::kernels;
use lesson::{CaseResult, Lesson, Registered, Status};
use lockstep::engine::PtxModule;
use lockstep::engine::sim::Sim;
use lockstep::record::Recorded;
use lockstep_page::kernel::{Kernel, Run, State};
use lockstep_page::listing::Listing;
use lockstep_page::page::{Group, Picture};
use lockstep_page::touched::{Map, Touched};
use lockstep_page::{Page, listing};
use measured::Measured;

/// A run of a case, and what was counted in it.
pub struct Ran {
    /// How it ended.
    pub result: CaseResult,
    /// What it cost, if that was counted.
    pub profile: Option<Profile>,
}

impl Ran {
    /// A run, with what was recorded of it.
    pub fn of(modules: &[PtxModule], result: CaseResult, recorded: Recorded) -> Self {
        let profile = || {
            let registered = host::registry::kernel(result.kernel).ok()?;
            if result.shape.is_sweep() {
                return None;
            }
            let module = kernels::with_entry(modules, registered)?;
            let profile = profile::recorded(registered, &result.shape, module, recorded).ok()??;
            // Differences are among the reasons of the result.
            let differences = Vec::new();
            Some(Profile {
                differences,
                ..profile
            })
        };
        Self {
            profile: profile(),
            result,
        }
    }
}

/// What the lanes of a kernel touch at a small size: its lesson is run once more; `None` if the
/// kernel is never reached.
pub fn touched(sim: &Sim, registered: Registered) -> Option<Touched> {
    let shape = explain::default_shape(registered)?;
    let explained = explain::on(sim, registered, &shape, 0).ok()??;
    let maps = explained.lines.iter();
    let maps = maps.map(|line| Map::of(line.line.clone(), &line.opcode, &line.access));
    let caption = format!(
        "Block {} of {}, at {}; for each instruction, the most wasteful access.",
        explained.block, explained.config, explained.shape
    );
    Some(Touched::with(caption, maps, &explained.timeline))
}

/// The contents of a page.
pub struct Content<'c> {
    /// The engine that ran the kernels, in words.
    pub engine: String,
    /// The kernels to show, in reading order.
    pub kernels: &'c [Registered],
    /// Their runs.
    pub runs: &'c [Ran],
    /// Why nothing was counted, if nothing was.
    pub uncounted: &'c str,
    /// The modules that were run.
    pub modules: &'c [PtxModule],
    /// Times of a GPU.
    pub measured: &'c Measured,
    /// What the lanes of a kernel touch, if that is known.
    pub touched: &'c dyn Fn(Registered) -> Option<Touched>,
    /// The picture of the neighbour lists, if it could be computed.
    pub graphene: Option<Picture>,
}

/// The page.
pub fn page(content: &Content<'_>) -> Page {
    let mut page = Page::new("Lockstep report");
    page.fact(format!("Run on: {}.", content.engine));
    page.fact(format!("Source: commit {}.", host::home::commit()));
    for fact in content.measured.facts() {
        page.fact(fact);
    }
    let mut rest = content.kernels;
    while let [first, ..] = rest {
        let lesson = first.lesson;
        let is_other = |registered: &Registered| registered.lesson.id != lesson.id;
        let end = rest.iter().position(is_other).unwrap_or(rest.len());
        let (own, others) = rest.split_at(end);
        page.groups.push(group(content, lesson, own));
        rest = others;
    }
    page
}

fn group(content: &Content<'_>, lesson: &'static Lesson, own: &[Registered]) -> Group {
    Group {
        id: lesson.id.to_owned(),
        title: lesson.title.to_owned(),
        idea: crate::report::markdown::sentence(lesson.idea),
        file: Some(lesson.source.to_owned()),
        kernels: own.iter().map(|&one| kernel(content, one)).collect(),
        pictures: {
            let mut pictures = pictures::of(lesson, own, content.measured);
            if lesson.id == host::lessons::neighbor::LESSON.id {
                pictures.extend(content.graphene.clone());
            }
            pictures
        },
    }
}

fn kernel(content: &Content<'_>, registered: Registered) -> Kernel {
    let id = registered.kernel.id;
    let own = || content.runs.iter().filter(|ran| ran.result.kernel == id);
    let shown = shown(registered, own());
    let base = match shown {
        Some(profile) => html::kernel(profile),
        None => Kernel {
            counted: Err(why_uncounted(content, own())),
            ..Kernel::new(id)
        },
    };
    Kernel {
        technique: registered.kernel.technique.to_owned(),
        runs: own().map(|ran| run(&ran.result)).collect(),
        times: content.measured.times(id),
        ptx: ptx(content.modules, registered),
        touched: (content.touched)(registered),
        command: Some(hints::command(&format!("profile {id}"))),
        ptx_command: Some(hints::command(&format!("ptx {id}"))),
        ..base
    }
}

/// The profile to show of a kernel: of a run that failed, else of a shape that the catalogue
/// makes claims about, else of the last one.
fn shown<'r>(
    registered: Registered,
    own: impl Iterator<Item = &'r Ran> + Clone,
) -> Option<&'r Profile> {
    let counted = || own.clone().filter(|ran| ran.profile.is_some());
    let failed = |ran: &&Ran| ran.result.status == Status::Failed;
    let claimed = |ran: &&Ran| {
        let shape = &ran.result.shape;
        !shape.is_sweep() && (registered.lesson.expects_at)(shape)
    };
    let best = counted().find(failed);
    let best = best.or_else(|| counted().filter(claimed).last());
    best.or_else(|| counted().last())?.profile.as_ref()
}

fn why_uncounted<'r>(content: &Content<'_>, own: impl Iterator<Item = &'r Ran>) -> String {
    let mut sweeps = 0;
    let mut others = 0;
    for ran in own {
        match ran.result.status {
            Status::Failed => return "not counted: a run failed".to_owned(),
            Status::NotRun => return "not counted: it was not run".to_owned(),
            Status::Passed if ran.result.shape.is_sweep() => sweeps += 1,
            Status::Passed => others += 1,
        }
    }
    match (content.uncounted, sweeps, others) {
        ("", 0, 0) => "not counted: it was not run".to_owned(),
        ("", _, 0) => "not counted: only a sweep over many shapes was run".to_owned(),
        ("", ..) => "not counted: its lesson launched other kernels only".to_owned(),
        (why, ..) => why.to_owned(),
    }
}

fn run(result: &CaseResult) -> Run {
    Run {
        shape: result.shape.to_string(),
        state: match result.status {
            Status::Passed => State::Passed,
            Status::Failed => State::Failed,
            Status::NotRun => State::NotRun,
        },
        reason: result.reason.clone(),
        notes: result.figures.notes.clone(),
    }
}

/// The listing of the kernel's PTX, out of the module that was run.
fn ptx(modules: &[PtxModule], registered: Registered) -> Option<Listing> {
    let module = kernels::with_entry(modules, registered)?;
    listing::of(module.text().ok()?, registered.kernel.id)
}
