//! `lockstep run-all`: every selected kernel, verified and measured.

use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::progress::{Progress, say};
use super::resume::Walk;
use super::tools::Tool;
use super::{baselines, devices, lead, modules, pages, profile, schedules};
use crate::choose::{self, Chosen, EngineChoice, SimOptions, choose, fuel};
use crate::report::devices::Row;
use crate::report::json::Report;
use crate::report::style::{BAD, GOOD, UNSURE};
use crate::report::table;
use crate::report::width::{Width, hint, indented};
use host::hints;
use lesson::room;
use lesson::run::{self, Tally};
use lesson::schedules::Orders;
use lesson::{Case, CaseResult, Clocking, Effort, Registered, Status};
use lockstep::engine::sim::Sim;
use lockstep::engine::{EngineKind, Machine, Timing};
use lockstep::record::Recorded;
use ptx_sim::Schedule;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options of `run-all`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The engine that runs the kernels.
    #[arg(long, value_enum, default_value_t)]
    engine: EngineChoice,

    #[command(flatten)]
    chosen: Chosen,

    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Also write a page of what ran to this folder, as `index.html`: for a browser,
    /// without a network.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    /// Run the kernels of this PTX file instead of our own: their entries must have
    /// the same names and parameters.
    #[arg(long, value_name = "FILE")]
    ptx: Option<PathBuf>,

    /// GPU: also compile the CUDA C++ baselines in this folder (`bench/baselines`) with nvcc,
    /// and time them alternately with the kernels.
    #[arg(long, alias = "peers", value_name = "DIR")]
    baselines: Option<PathBuf>,

    /// Simulator: warp instructions that a launch may execute, over all its blocks.
    /// A kernel that needs more fails: it is assumed never to end. By
    /// default a launch fails when its blocks make no progress, and a block after
    /// 1,073,741,824 and 33,554,432 more for each of its warps.
    #[arg(long, value_name = "N", value_parser = fuel)]
    fuel: Option<u64>,

    /// Simulator: also look for races, for reads of memory that was never
    /// written, and for other faults that a GPU does not report (docs/checks.md). At the
    /// quick shapes unless --full is given: it is many times slower.
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    schedules: schedules::Options,

    /// Launch each kernel once on each single shape of the simulator's run,
    /// whatever the engine: no sweeps over many shapes, no timing. For profilers.
    #[arg(long)]
    once: bool,

    /// With --once: kernels that have only a sweep run it. For `sanitize`.
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
            _ if self.check || self.schedules.given().is_some() => Effort::Quick,
            _ => Effort::Default,
        }
    }

    /// An option that was given and that only the simulator has.
    fn for_the_simulator(&self) -> Option<&'static str> {
        match (self.check, self.schedules.given(), self.fuel) {
            (true, _, _) => Some("--check"),
            (false, Some(option), _) => Some(option),
            (false, None, Some(_)) => Some("--fuel"),
            (false, None, None) => None,
        }
    }

    /// The arguments that run one case again, under this schedule.
    fn replay(&self, kernel: &str, schedule: Schedule) -> String {
        let mut words = vec!["run-all".to_owned()];
        let mut add = |option: &str, value: &dyn std::fmt::Display| {
            words.extend([option.to_owned(), value.to_string()]);
        };
        add("--filter", &kernel);
        add("--schedule", &schedule);
        if let Some(fuel) = self.fuel {
            add("--fuel", &fuel);
        }
        if let Some(path) = &self.ptx {
            add("--ptx", &path.display());
        }
        let flags = [
            (self.check, "--check"),
            (self.full, "--full"),
            (self.once, "--once"),
        ];
        let given = flags.iter().filter(|(is_given, _)| *is_given);
        words.extend(given.map(|(_, flag)| (*flag).to_owned()));
        hints::command(&hints::shell_words(&words))
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    refuse_on_gpu(args)?;
    let orders = args.schedules.orders()?;
    let selected = args.chosen.kernels().map_err(Stop::usage)?;
    let report = args.report.as_deref().map(pages::file_in).transpose()?;
    let outputs = Outputs::open(
        &[
            ("--json", args.json.as_deref()),
            ("--report", report.as_deref()),
        ],
        &[args.ptx.as_deref()],
    )?;
    let modules = match &args.ptx {
        Some(path) => vec![modules::read_module(path)?],
        None => modules::modules()?,
    };
    let options = SimOptions {
        fuel: args.fuel,
        check: args.check,
        record: report.is_some(),
        asked_by: args.for_the_simulator(),
    };
    let (engine, why) = choose(args.engine, modules.clone(), options).map_err(Stop::nothing_ran)?;
    let ahead = match (&args.ptx, &engine) {
        (Some(_), _) => None,
        (None, Machine::Sim(_)) => Some(modules::compile_ahead(&selected)?),
        // Nothing else is to run while kernels are timed.
        (None, Machine::Gpu(_)) => {
            modules::modules_for(&selected)?;
            None
        }
    };
    say(&format!("engine: {why}"));
    if let Some(folder) = &args.baselines {
        load_baselines(engine.timing(), folder)?;
    }
    let cases = cases(args, &selected, engine.engine().kind());
    room::check_cases(&cases, engine.engine().kind(), args.check).map_err(|what| {
        Stop::usage(format!(
            "{what}; --quick needs less, and so do fewer kernels"
        ))
    })?;

    let mut walk = Walk::through(&cases);
    let simulator = || choose::simulator(modules.clone(), options);
    let recorded = run_cases(args, &engine, simulator, (&cases, &orders), &mut walk);
    if let Some(ahead) = ahead {
        ahead.end().map_err(modules::no_kernels)?;
    }
    let several = runs_several(args, &engine).then(|| devices::quick_rows(args.check));
    let seconds = walk.elapsed().as_secs_f64();
    let results = walk.results;
    let tally = Tally::of(&results);
    let verdict = match several.as_deref().map(devices::verdict_of) {
        Some(Exit::Failed) => Exit::Failed,
        _ => exit_of(tally),
    };
    let mut ending = outputs.end(verdict);
    ending.json("--json", &Report::new(engine.engine(), &results));
    ending.file("--report", || {
        let is_own = args.ptx.is_none();
        let runs = pages::Runs::of(&modules, &results, recorded, is_own);
        Ok(runs.page(&engine, &why, &selected).html().into_bytes())
    });
    ending.print(|out| {
        write_results(out, args, &results)?;
        if let Some(rows) = &several {
            writeln!(
                out,
                "\nSeveral devices, simulated (`{}`)",
                hints::command("devices")
            )?;
            table_of_devices(out, rows)?;
        }
        write_tally(out, tally, &orders, seconds)
    });
    Ok(ending.exit())
}

/// Whether the lessons of several devices run as well: on the simulator, with all others.
fn runs_several(args: &Args, engine: &Machine) -> bool {
    args.chosen.is_all() && args.ptx.is_none() && matches!(engine, Machine::Sim(_))
}

fn table_of_devices(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    crate::report::devices::write(out, rows, Width::of_stdout())
}

/// Options that only the simulator has are not silently ignored.
fn refuse_on_gpu(args: &Args) -> Result<(), Stop> {
    if args.engine != EngineChoice::Gpu {
        return Ok(());
    }
    let Some(option) = args.for_the_simulator() else {
        return Ok(());
    };
    Err(Stop::usage(format!(
        "{option} is for the simulator, and --engine gpu asks for the GPU; leave out one of them"
    )))
}

/// The cases to run: the shapes that suit the engine; with --once, each single shape of the
/// simulator's run.
fn cases(args: &Args, selected: &[Registered], engine: EngineKind) -> Vec<Case> {
    let sizes_of = if args.once { EngineKind::Sim } else { engine };
    let mut cases = run::cases(selected, sizes_of, args.effort());
    if args.once {
        match args.every_kernel {
            true => single_where_possible(&mut cases),
            false => cases.retain(|case| !case.shape.is_sweep()),
        }
    }
    cases
}

/// Leaves sweeps out where their kernel has another shape.
pub(super) fn single_where_possible(cases: &mut Vec<Case>) {
    let id = |case: &Case| case.registered.kernel.id;
    let single = cases.iter().filter(|case| !case.shape.is_sweep());
    let single: Vec<&str> = single.map(id).collect();
    cases.retain(|case| !case.shape.is_sweep() || !single.contains(&id(case)));
}

/// Runs the cases that have no result yet, and returns what was recorded of each, if that is
/// wanted. If a case takes the GPU away, a new process goes on.
fn run_cases(
    args: &Args,
    engine: &Machine,
    simulator: impl Fn() -> Sim + Sync,
    (cases, orders): (&[Case], &Orders),
    walk: &mut Walk,
) -> Vec<Recorded> {
    let progress = Progress::new(cases.len());
    let mut recorded = Vec::new();
    match engine {
        Machine::Sim(_) => {
            let starting = |case: &Case, schedule| progress.starting_under(case, schedule);
            let ended = |sim: &Sim, result: &CaseResult| {
                progress.ended(result);
                sim.take_recorded()
            };
            let ran = lesson::schedules::run(simulator, (cases, orders), starting, ended);
            (walk.results, recorded) = ran.into_iter().unzip();
        }
        Machine::Gpu(gpu) => {
            let clocking = (!args.once).then_some(Clocking::BRIEF);
            walk.results
                .iter()
                .for_each(|result| progress.ended(result));
            walk.go_through(gpu, cases, |case| {
                progress.starting(case);
                let result = run::run_case(gpu, case, clocking);
                progress.ended(&result);
                result
            });
        }
    }
    progress.finish();
    recorded
}

fn load_baselines(engine: &dyn Timing, folder: &Path) -> Result<(), Stop> {
    // Tried first with nothing, so that no one waits for nvcc in vain.
    engine.load_baselines(&[]).map_err(Stop::usage)?;
    Tool::Nvcc.find().map_err(Stop::nothing_ran)?;
    let baselines = baselines::compile(folder, engine.device().sm).map_err(Stop::usage)?;
    engine.load_baselines(&baselines).map_err(Stop::usage)?;
    say(&format!("baselines: {} CUDA C++ files", baselines.len()));
    Ok(())
}

fn exit_of(tally: Tally) -> Exit {
    match tally {
        Tally { n_failed: 1.., .. } => Exit::Failed,
        Tally { n_passed: 0, .. } => Exit::NothingRan,
        Tally { n_not_run: 1.., .. } => Exit::NotAllRan,
        _ => Exit::Passed,
    }
}

fn write_results(out: &mut dyn Write, args: &Args, results: &[CaseResult]) -> io::Result<()> {
    let width = Width::of_stdout();
    table::write(out, results, width)?;
    for result in results
        .iter()
        .filter(|result| result.status != Status::Passed)
    {
        table::write_trouble(
            out,
            result.status,
            result.kernel,
            &result.shape,
            result.reason.as_deref(),
            width,
        )?;
        if let Some(order) = schedules::told(result) {
            writeln!(out, "{}", indented(&order, 2, width.prose()))?;
        }
        if let Some(schedule) = result.schedule
            && args.schedules.is_search()
        {
            let command = args.replay(result.kernel, schedule);
            writeln!(out, "{}", hint("to run it again", &command, width))?;
        }
        if let Some(hint) = profile::hint(result, args.ptx.as_deref(), width) {
            writeln!(out, "{hint}")?;
        }
        // The debugger runs on the simulator, with our own PTX.
        if let Some(command) = lead::command(result, args.fuel).filter(|_| args.ptx.is_none()) {
            writeln!(out, "{}", hint("to step through it", &command, width))?;
        }
    }
    Ok(())
}

fn write_tally(out: &mut dyn Write, tally: Tally, orders: &Orders, seconds: f64) -> io::Result<()> {
    let part = |number: usize, style: anstyle::Style, words: &str| {
        let style = if number == 0 {
            anstyle::Style::new()
        } else {
            style
        };
        format!("{style}{number} {words}{style:#}")
    };
    let order = match orders {
        Orders::Usual => String::new(),
        other => format!(", {other},"),
    };
    writeln!(
        out,
        "\n{}, {}, {}{order} in {seconds:.1} s",
        part(tally.n_passed, GOOD, "passed"),
        part(tally.n_failed, BAD, "failed"),
        part(tally.n_not_run, UNSURE, "not run"),
    )
}

#[cfg(test)]
mod tests {
    use super::{Exit, exit_of};
    use lesson::run::Tally;

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
