//! `lockstep run-all`: every selected kernel, verified and measured.

use super::progress::{Progress, say};
use super::{Exit, Stop, peers, profile};
use crate::bench::Clocking;
use crate::engine::{self, Engine, EngineChoice, EngineKind, PtxModule};
use crate::registry::{self, Effort};
use crate::report::json::Report;
use crate::report::table::{self, BAD, GOOD, UNSURE};
use crate::report::width::Width;
use crate::run::{self, Case, CaseResult, Status, Tally};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `run-all`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to run the kernels on.
    #[arg(long, value_enum, default_value_t)]
    engine: EngineChoice,

    /// Only kernels whose own or whose lesson's name contains this; may be
    /// repeated.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,

    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Run the kernels of this PTX file in the place of our own: their entries
    /// must bear the same names and parameters.
    #[arg(long, value_name = "FILE")]
    ptx: Option<PathBuf>,

    /// GPU: also compile the CUDA C++ twins in this folder (`peers`) with nvcc,
    /// and time them in turn with the kernels.
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,

    /// Simulator: warp instructions that a block may execute before its kernel
    /// is taken to never end.
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// Simulator: also look for races, for reads of memory that nothing was
    /// written to, and for what else a GPU lets pass (docs/checks.md). At the
    /// quick shapes unless --full is given: it is many times slower.
    #[arg(long)]
    check: bool,

    /// Launch each kernel once on each single shape of the simulator's run,
    /// whatever the engine: no sweeps over many shapes, no timing. For profilers.
    #[arg(long)]
    once: bool,

    /// With --once: kernels that have nothing but a sweep run that. For `sanitize`.
    #[arg(long, hide = true, requires = "once")]
    every_kernel: bool,

    /// Small shapes only, for a first look.
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// The catalogue's sizes, also on the simulator.
    #[arg(long)]
    full: bool,
}

impl Args {
    fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ if self.check => Effort::Quick,
            _ => Effort::Default,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let selected = registry::matching(&args.filter)
        .map_err(|error| Stop::Because(Exit::Usage, error.to_string()))?;
    if let Some(path) = &args.json {
        check_writable(path)?;
    }
    let modules = match &args.ptx {
        Some(path) => vec![read_module(path)?],
        None => super::modules_for(&selected)?,
    };
    let (engine, why) = engine::choose(args.engine, modules, args.fuel, args.check)
        .map_err(|error| Stop::Because(Exit::NothingRan, error.to_string()))?;
    say(&format!("engine: {why}"));

    if let Some(folder) = &args.peers {
        load_peers(&*engine, folder)?;
    }

    let started = Instant::now();
    let sizes_of = if args.once {
        EngineKind::Sim
    } else {
        engine.kind()
    };
    let mut cases = run::cases(&selected, sizes_of, args.effort());
    if args.once {
        let is_single = |case: &Case| !case.shape.is_sweep();
        let id = |case: &Case| case.registered.kernel.id;
        let once: Vec<&str> = cases.iter().filter(|c| is_single(c)).map(id).collect();
        let sweeps = |case: &Case| args.every_kernel && !once.contains(&id(case));
        cases.retain(|case| is_single(case) || sweeps(case));
    }
    let mut progress = Progress::new(cases.len());
    let ended = std::cell::RefCell::new(&mut progress);
    let results = run::run(
        &*engine,
        &cases,
        (!args.once).then_some(Clocking::BRIEF),
        |case| ended.borrow().starting(case),
        |result| ended.borrow_mut().ended(result),
    );
    progress.finish();

    // The file first: a reader of the table may have gone away.
    if let Some(path) = &args.json {
        Report::new(&*engine, &results)
            .write(path)
            .map_err(|error| {
                Stop::Because(
                    Exit::Failed,
                    format!("could not write {}: {error}", path.display()),
                )
            })?;
    }
    let tally = Tally::of(&results);
    let exit = exit_of(tally);
    let seconds = started.elapsed().as_secs_f64();
    match write_results(&results, args.ptx.as_deref(), tally, seconds) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(exit),
    }
}

fn load_peers(engine: &dyn Engine, folder: &Path) -> Result<(), Stop> {
    let because = |text: String| Stop::Because(Exit::Usage, text);
    // Asked first with nothing, so that nobody waits for nvcc in vain.
    let refused = |error: engine::EngineError| because(error.to_string());
    engine.load_peers(&[]).map_err(refused)?;
    let peers = peers::compile(folder, engine.device().sm).map_err(because)?;
    engine.load_peers(&peers).map_err(refused)?;
    say(&format!("peers: {} CUDA C++ files", peers.len()));
    Ok(())
}

pub(super) fn read_module(path: &Path) -> Result<PtxModule, Stop> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Stop::Because(
            Exit::Usage,
            format!("--ptx {} cannot be read: {error}", path.display()),
        )
    })?;
    Ok(PtxModule::of_text(path.display().to_string(), text))
}

/// Found out before minutes of work, not after.
pub(super) fn check_writable(path: &Path) -> Result<(), Stop> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let problem = match folder {
        Some(folder) if !folder.is_dir() => format!("there is no folder {}", folder.display()),
        _ if path.is_dir() => "it is a folder".to_owned(),
        _ => return Ok(()),
    };
    Err(Stop::Because(
        Exit::Usage,
        format!("{} cannot be written: {problem}", path.display()),
    ))
}

fn exit_of(tally: Tally) -> Exit {
    match tally {
        Tally { n_failed: 1.., .. } => Exit::Failed,
        Tally { n_passed: 0, .. } => Exit::NothingRan,
        Tally { n_not_run: 1.., .. } => Exit::NotAllRan,
        _ => Exit::Passed,
    }
}

fn write_results(
    results: &[CaseResult],
    ptx: Option<&Path>,
    tally: Tally,
    seconds: f64,
) -> io::Result<()> {
    let width = Width::of_stdout();
    let mut out = anstream::stdout().lock();
    table::write(&mut out, results, width)?;
    for result in results
        .iter()
        .filter(|result| result.status != Status::Passed)
    {
        table::write_trouble(
            &mut out,
            result.status,
            result.kernel,
            &result.shape,
            result.reason.as_deref(),
            width,
        )?;
        if let Some(hint) = profile::hint(result, ptx, width) {
            writeln!(out, "{hint}")?;
        }
    }
    let part = |number: usize, style: anstyle::Style, words: &str| {
        let style = if number == 0 {
            anstyle::Style::new()
        } else {
            style
        };
        format!("{style}{number} {words}{style:#}")
    };
    writeln!(
        out,
        "\n{}, {}, {} in {seconds:.1} s",
        part(tally.n_passed, GOOD, "passed"),
        part(tally.n_failed, BAD, "failed"),
        part(tally.n_not_run, UNSURE, "not run"),
    )?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::{Exit, exit_of};
    use crate::run::Tally;

    #[test]
    fn only_all_passed_is_success() {
        let exit = |n_passed, n_failed, n_not_run| {
            exit_of(Tally {
                n_passed,
                n_failed,
                n_not_run,
            })
        };
        assert_eq!(exit(3, 0, 0), Exit::Passed);
        assert_eq!(exit(3, 1, 1), Exit::Failed);
        assert_eq!(exit(3, 0, 1), Exit::NotAllRan);
        assert_eq!(exit(0, 0, 3), Exit::NothingRan);
        assert_eq!(exit(0, 0, 0), Exit::NothingRan);
    }
}
