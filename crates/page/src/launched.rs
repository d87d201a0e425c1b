//! A kernel as reported by one of the library's launches.

use crate::kernel::{Counted, Kernel, Measure, Run, State, Time};
use crate::listing;
use crate::player::Player;
use crate::touched::Touched;
use crate::work::rows;
use lockstep::Report;
use std::collections::BTreeMap;
use std::path::Path;

impl Kernel {
    /// The contents of a launch's report: counts, lines and PTX from the simulator, maps of what
    /// lanes touch and a player of the first block if it was traced
    /// ([`Simulator::trace`](lockstep::Simulator::trace)); the time from a GPU.
    /// Sources are read from the folder that the module names
    /// ([`PtxModule::with_sources`](lockstep::PtxModule::with_sources)).
    pub fn launched(report: &Report) -> Self {
        let place = report.place();
        let ptx = report.module().text().unwrap_or_default();
        let counted = counted(report, ptx);
        let sources = match (&counted, report.module().sources()) {
            (Ok(counted), Some(folder)) => texts(counted, folder),
            _ => BTreeMap::new(),
        };
        Self {
            runs: vec![Run {
                shape: place.config.to_string(),
                state: State::Ran,
                reason: None,
                notes: Vec::new(),
            }],
            counted,
            times: time(report).into_iter().collect(),
            ptx: listing::of(ptx, &place.kernel),
            touched: touched(report),
            player: player(report),
            sources,
            ..Self::new(place.kernel.clone())
        }
    }
}

fn counted(report: &Report, ptx: &str) -> Result<Counted, String> {
    let Some(totals) = report.counts() else {
        return Err("not counted: it ran on a GPU, where only a profiler can count".to_owned());
    };
    Ok(Counted {
        shape: String::new(),
        geometry: report.place().config.to_string(),
        n_launches: 1,
        others: Vec::new(),
        module: report.module().name.clone(),
        target: report.module().target_name().unwrap_or_default().to_owned(),
        file: report.file().to_owned(),
        rows: rows(&report.instructions(), ptx, report.file()),
        totals: *totals,
        remarks: Vec::new(),
        hardware: None,
    })
}

/// The maps of the block that was traced, if there is one.
fn touched(report: &Report) -> Option<Touched> {
    let trace = report.simulated()?.trace.as_ref()?;
    let caption = format!("The first block of {}.", report.place().config);
    Some(Touched::of(caption, trace, report.file()))
}

/// The player of the block that was traced, if there is one.
fn player(report: &Report) -> Option<Player> {
    let trace = report.simulated()?.trace.as_ref()?;
    let caption = format!("The first block of {}", report.place().config);
    let text_of = |file: &str| {
        let folder = report.module().sources()?;
        std::fs::read_to_string(folder.join(file)).ok()
    };
    Some(Player::of(caption, trace, report.file(), text_of))
}

fn time(report: &Report) -> Option<Time> {
    Some(Time {
        shape: report.place().config.to_string(),
        median: Measure::of(f64::from(report.time_ms()?))?,
        spread: None,
        n_runs: 1,
        on: "GPU, one launch between two events".to_owned(),
        beside: Vec::new(),
    })
}

/// The texts of the files that instructions come from, as far as they exist in the folder.
fn texts(counted: &Counted, folder: &Path) -> BTreeMap<String, String> {
    let files = counted.rows.iter().filter_map(|row| row.line.as_ref());
    let mut texts = BTreeMap::new();
    for place in files {
        if !texts.contains_key(&place.file)
            && let Ok(text) = std::fs::read_to_string(folder.join(&place.file))
        {
            texts.insert(place.file.clone(), text);
        }
    }
    texts
}
