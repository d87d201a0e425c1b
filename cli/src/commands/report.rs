//! `lockstep report`: all lessons as one page for a browser.

use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::pages::{self, Runs};
use super::progress::{Progress, say};
use super::{browser, modules};
use crate::report::width::Width;
use crate::web::measured::Measured;
use host::home::{Home, home};
use host::registry;
use indicatif::HumanBytes;
use lesson::run::{self, Tally};
use lesson::{Case, CaseResult, Effort, Registered, room};
use lockstep::engine::sim::Sim;
use lockstep::engine::{EngineKind, Machine};
use lockstep::record::Recorded;
use maps::banks::plural;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder for the page, `index.html`; by default `target/report` of the
    /// repository.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Only kernels whose own or whose lesson's name contains this; may be repeated.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,

    /// Small shapes, for a first look.
    #[arg(long)]
    quick: bool,

    /// The folder with times from `bench --json`; by default `bench/results/h200` of the
    /// repository.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// Afterwards, test the page in a browser: Chromium, driven by Node.js.
    #[arg(long)]
    test: bool,

    /// With --test: write screenshots to this folder.
    #[arg(long, value_name = "DIR", requires = "test")]
    pictures: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let started = Instant::now();
    let selected = registry::matching(&args.filter).map_err(Stop::usage)?;
    let measured = measured(args)?;
    let file = pages::file_in(&dir(args)?)?;
    let outputs = Outputs::open(&[("DIR", Some(&file))], &[])?;
    let modules = modules::modules_for(&selected)?;
    let sim = Sim::new(modules.clone()).with_record();
    let cases = cases(&selected, args.quick);
    room::check_cases(&cases, EngineKind::Sim, false).map_err(Stop::usage)?;
    let (results, recorded) = run_cases(&sim, &cases);
    let tally = Tally::of(&results);

    let runs = Runs::of(&modules, &results, recorded, true);
    let engine = Machine::Sim(sim);
    let page = runs.page_with(&engine, "simulator", &selected, &measured, "");
    let html = page.html();
    let size = HumanBytes(html.len() as u64).to_string();
    let mut ending = outputs.end(exit_of(tally));
    ending.file("DIR", || Ok(html.into_bytes()));
    ending.print(|out| {
        writeln!(
            out,
            "{}: {}, {size}; runs: {} passed, {} failed, {} not run; {:.1} s",
            file.display(),
            plural(selected.len() as u64, "kernel"),
            tally.n_passed,
            tally.n_failed,
            tally.n_not_run,
            started.elapsed().as_secs_f64(),
        )?;
        for result in results.iter().filter(|result| result.reason.is_some()) {
            let reason = result.reason.as_deref();
            let (kernel, shape) = (result.kernel, &result.shape);
            let width = Width::of_stdout();
            crate::report::table::write_trouble(out, result.status, kernel, shape, reason, width)?;
        }
        Ok(())
    });
    let exit = ending.exit();
    if args.test && exit == Exit::Passed {
        return browser::test(&file, args.pictures.as_deref());
    }
    Ok(exit)
}

/// The output, as docs/tools.md shows it: only what is the same on every machine.
pub(super) fn example() -> String {
    let selected: Vec<Registered> = registry::kernels().collect();
    let (n_kernels, n_runs) = (selected.len(), cases(&selected, false).len());
    format!(
        "```console\n$ cargo xtask report\n…/target/report/index.html: {n_kernels} kernels, … MiB; \
         runs: {n_runs} passed, 0 failed, 0 not run; … s\n```\n"
    )
}

fn exit_of(tally: Tally) -> Exit {
    match tally {
        Tally { n_failed: 1.., .. } => Exit::Failed,
        Tally { n_not_run: 1.., .. } => Exit::NotAllRan,
        _ => Exit::Passed,
    }
}

/// The folder for the page.
fn dir(args: &Args) -> Result<PathBuf, Stop> {
    let no_home =
        |error: &dyn std::fmt::Display| Stop::Because(Exit::NothingRan, error.to_string());
    match (&args.dir, home().map_err(|error| no_home(&error))?) {
        (Some(dir), _) => Ok(dir.clone()),
        (None, Home::Checkout { root }) => Ok(root.join("target/report")),
        (None, Home::Bundle { .. }) => Ok("report".into()),
    }
}

fn measured(args: &Args) -> Result<Measured, Stop> {
    let read = |folder: &Path| Measured::read(folder, &folder.display().to_string());
    let measured = match &args.results {
        Some(folder) if !folder.is_dir() => Err(format!(
            "--results {}: there is no such folder",
            folder.display()
        )),
        Some(folder) => read(folder),
        None => home()
            .map_err(|error| error.to_string())
            .and_then(Measured::kept),
    };
    measured.map_err(Stop::usage)
}

/// For each kernel, a shape that is large enough to count and small enough to wait for; the
/// quick ones for a first look. Sweeps are not counted, so they are left out where there is
/// another shape.
fn cases(selected: &[Registered], is_quick: bool) -> Vec<Case> {
    let effort = if is_quick {
        Effort::Quick
    } else {
        Effort::Sample
    };
    let mut cases = run::cases(selected, EngineKind::Sim, effort);
    super::run_all::single_where_possible(&mut cases);
    cases
}

fn run_cases(sim: &Sim, cases: &[Case]) -> (Vec<CaseResult>, Vec<Recorded>) {
    say(&format!(
        "engine: simulator; {}",
        plural(cases.len() as u64, "run")
    ));
    let progress = Progress::new(cases.len());
    let ran = cases.iter().map(|case| {
        progress.starting(case);
        let result = run::run_case(sim, case, None);
        progress.ended(&result);
        (result, sim.take_recorded())
    });
    let ran = ran.unzip();
    progress.finish();
    ran
}
