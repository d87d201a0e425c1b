//! Pages for a browser: their files, and their content from a run.

use super::exit::Stop;
use super::progress::say;
use crate::web::measured::Measured;
use crate::web::{self, Content, Ran, graphene};
use host::home::home;
use lesson::{CaseResult, Registered};
use lockstep::engine::sim::Sim;
use lockstep::engine::{Machine, PtxModule};
use lockstep::record::Recorded;
use lockstep_page::Page;
use std::path::{Path, PathBuf};

/// The page's file in a folder, which is made if it is not there.
pub(super) fn file_in(folder: &Path) -> Result<PathBuf, Stop> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Stop::usage(format!(
            "--report: the folder {} cannot be made: {error}",
            folder.display()
        ))
    })?;
    Ok(folder.join("index.html"))
}

/// The runs, and the modules that they used.
pub(super) struct Runs<'m> {
    modules: &'m [PtxModule],
    runs: Vec<Ran>,
    /// Whether the kernels are the repository's own, which were measured before.
    is_own: bool,
}

impl<'m> Runs<'m> {
    /// Runs from results and from what was recorded of each, if anything was.
    pub fn of(
        modules: &'m [PtxModule],
        results: &[CaseResult],
        recorded: Vec<Recorded>,
        is_own: bool,
    ) -> Self {
        let recorded = recorded
            .into_iter()
            .chain(std::iter::repeat_with(Recorded::default));
        let results = results.iter().cloned().zip(recorded);
        let runs = results.map(|(result, recorded)| Ran::of(modules, result, recorded));
        Self {
            modules,
            runs: runs.collect(),
            is_own,
        }
    }

    /// The page, with this run's times if it was on a GPU, else with those that the repository
    /// keeps.
    pub fn page(&self, engine: &Machine, why: &str, selected: &[Registered]) -> Page {
        let measured = match engine {
            Machine::Gpu(_) => {
                let results: Vec<_> = self.runs.iter().map(|ran| ran.result.clone()).collect();
                Measured::of_run(&engine.engine().device().name, &results)
            }
            Machine::Sim(_) if self.is_own => kept(),
            Machine::Sim(_) => Measured::nothing(),
        };
        let uncounted = match engine {
            Machine::Gpu(_) => "not counted: it ran on a GPU, where only a profiler can count",
            Machine::Sim(_) => "",
        };
        self.page_with(engine, why, selected, &measured, uncounted)
    }

    /// The page with these times.
    pub fn page_with(
        &self,
        engine: &Machine,
        why: &str,
        selected: &[Registered],
        measured: &Measured,
        uncounted: &str,
    ) -> Page {
        let neighbor = host::lessons::neighbor::LESSON.id;
        let is_drawn = self.is_own && selected.iter().any(|one| one.lesson.id == neighbor);
        let graphene = is_drawn.then(|| graphene::picture(engine.engine()));
        if let Some(Err(reason)) = &graphene {
            say(&format!("no picture of the neighbour lists: {reason}"));
        }
        say("looking at what lanes touch");
        let sim = Sim::new(self.modules.to_vec());
        let touched = |registered: Registered| match engine {
            Machine::Sim(_) => web::touched(&sim, registered),
            Machine::Gpu(_) => None,
        };
        web::page(&Content {
            engine: why.to_owned(),
            kernels: selected,
            runs: &self.runs,
            uncounted,
            modules: self.modules,
            measured,
            touched: &touched,
            graphene: graphene.and_then(Result::ok),
        })
    }
}

/// The times that the repository keeps; none if there are none, or if they cannot be read,
/// which is reported.
fn kept() -> Measured {
    let kept = home()
        .map_err(|error| error.to_string())
        .and_then(Measured::kept);
    kept.unwrap_or_else(|reason| {
        say(&format!("times are left out: {reason}"));
        Measured::nothing()
    })
}
