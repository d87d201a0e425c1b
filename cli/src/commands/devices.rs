//! `lockstep devices`: the lessons of several devices.

use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::progress::say;
use crate::choose::EngineChoice;
use crate::report::devices::{self, Report, Row};
use crate::report::width::Width;
use host::several::{LESSONS, Lesson, Node, Way, across_processes};
use lockstep::collectives::Ranks;
use lockstep::{Device, Simulator};
use ptx_sim::Schedule;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Bytes over links are those that kernels load from and store to other devices' memory. On GPUs the \
times are medians, and the reference is: for jacobi, a step without halos; for all_reduce, NCCL; \
for transpose_to_all, a copy of the same bytes; for gemm_sharded, the product with nothing fetched.

With --processes this process is one of several, each with a device, which add numbers up by NCCL: \
`mpirun`, `torchrun` or a script sets RANK and WORLD_SIZE, or Open MPI's, MPICH's or Slurm's \
variables, and MASTER_ADDR and MASTER_PORT if rank 0 is on another machine.";

/// Options of `devices`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Only lessons or ways whose name contains one of these.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,

    /// How many devices; may be repeated. By default all GPUs, or 2 simulated devices.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    devices: Vec<u8>,

    /// GPUs or simulated devices.
    #[arg(long, value_enum, default_value_t)]
    engine: EngineChoice,

    /// This size instead of the lessons' own; may be repeated.
    #[arg(long, value_name = "N")]
    size: Vec<u32>,

    /// The quick sizes of the simulator, on GPUs as well.
    #[arg(long)]
    quick: bool,

    /// Simulator: look for races and similar defects, across devices.
    #[arg(long)]
    check: bool,

    /// Simulator: run in this many other orders as well.
    #[arg(long, value_name = "N", default_value_t = 0)]
    schedules: u64,

    /// Simulator: also show the memory work of each source line, and what of it crosses links.
    #[arg(long)]
    lines: bool,

    /// Also write the results to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Be one of several processes with a device each.
    #[arg(long, conflicts_with_all = ["devices", "check", "schedules", "json"])]
    processes: bool,

    /// With --processes: how often the numbers are added up.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "processes")]
    repetitions: u32,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    if args.processes {
        return run_process(args);
    }
    let selected = selected(&args.lessons)?;
    let outputs = Outputs::open(&[("--json", args.json.as_deref())], &[])?;
    let all = devices_of(args)?;
    let counts: Vec<usize> = match args.devices.is_empty() {
        true => vec![all.len()],
        false => args.devices.iter().map(|&n| usize::from(n)).collect(),
    };
    let mut rows = Vec::new();
    for &n in &counts {
        for &(lesson, way) in &selected {
            for size in sizes(args, lesson, &all) {
                rows.push(row(args, (lesson, way), (n, size), &all));
            }
        }
    }
    let mut of_lines = Vec::new();
    if args.lines && all[0].is_simulator() {
        for &(lesson, way) in &selected {
            of_lines.push((
                format!("{} {}", lesson.id, way.id),
                lines(args, (lesson, way), counts[0])?,
            ));
        }
    }
    let verdict = verdict_of(&rows);
    let nccl = nccl_version(&all);
    let mut ending = outputs.end(verdict);
    ending.print(|out| {
        let width = Width::of_stdout();
        devices::write(out, &rows, width)?;
        let lines = of_lines.iter();
        lines
            .clone()
            .try_for_each(|(name, lines)| devices::write_lines(out, name, lines, width))
    });
    ending.json("--json", &Report::new(&all, nccl, rows));
    Ok(ending.exit())
}

/// All ways of all lessons.
fn ways() -> impl Iterator<Item = (&'static Lesson, &'static Way)> {
    let ways = |lesson: &&'static Lesson| {
        let lesson = *lesson;
        lesson.ways.iter().map(move |way| (lesson, way))
    };
    LESSONS.iter().flat_map(ways)
}

/// The quick sizes of all lessons on two simulated devices.
pub(super) fn quick_rows(check: bool) -> Vec<Row> {
    let settings = Simulator {
        check,
        ..Simulator::default()
    };
    let row = |of: (&'static Lesson, &'static Way)| {
        let devices = Device::simulators_with(2, settings);
        Row::of(
            of,
            (2, of.0.quick),
            outcome(of.1, &devices, of.0.quick, None),
        )
    };
    ways().map(row).collect()
}

/// Whether all passed.
pub(super) fn verdict_of(rows: &[Row]) -> Exit {
    match rows.iter().all(|row| row.failure.is_none()) {
        true => Exit::Passed,
        false => Exit::Failed,
    }
}

/// The lessons' ways whose names contain one of the words.
fn selected(words: &[String]) -> Result<Vec<(&'static Lesson, &'static Way)>, Stop> {
    let has = |(lesson, way): &(&Lesson, &Way), word: &String| {
        lesson.id.contains(word.as_str()) || way.id.contains(word.as_str())
    };
    let all: Vec<_> = ways().collect();
    if let Some(word) = words
        .iter()
        .find(|word| !all.iter().any(|of| has(of, word)))
    {
        let names: Vec<_> = LESSONS.iter().map(|lesson| lesson.id).collect();
        let names = names.join(", ");
        return Err(Stop::usage(format!(
            "no lesson matches `{word}`; there are {names}"
        )));
    }
    let is_wanted =
        |of: &(&Lesson, &Way)| words.is_empty() || words.iter().any(|word| has(of, word));
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// All devices that there are to choose from; on simulators, as many as are asked for.
fn devices_of(args: &Args) -> Result<Vec<Device>, Stop> {
    let most = args.devices.iter().copied().max().map(usize::from);
    let simulators = || Device::simulators_with(most.unwrap_or(2), settings(args));
    let is_asked = args.check || args.lines || args.schedules > 0;
    let devices = match args.engine {
        EngineChoice::Sim => simulators(),
        EngineChoice::Auto if is_asked => simulators(),
        EngineChoice::Gpu | EngineChoice::Auto => {
            let all = Device::all().map_err(Stop::nothing_ran)?;
            match all.iter().any(Device::is_simulator) {
                false => all,
                true if args.engine == EngineChoice::Gpu => {
                    return Err(Stop::nothing_ran(all[0].why()));
                }
                true => simulators(),
            }
        }
    };
    if let Some(wanted) = most.filter(|&most| most > devices.len()) {
        let there = devices.len();
        return Err(Stop::nothing_ran(format!(
            "{wanted} devices are asked for, there are {there}"
        )));
    }
    say(&format!(
        "devices: {} ({})",
        devices.len(),
        devices[0].why()
    ));
    Ok(devices)
}

fn settings(args: &Args) -> Simulator {
    Simulator {
        check: args.check,
        ..Simulator::default()
    }
}

fn sizes(args: &Args, lesson: &Lesson, devices: &[Device]) -> Vec<u32> {
    match args.size.is_empty() {
        false => args.size.clone(),
        true if args.quick || devices[0].is_simulator() => vec![lesson.quick],
        true => lesson.sizes.to_vec(),
    }
}

/// Runs a way on the first `n` devices; on simulators also in other orders.
fn row(
    args: &Args,
    of: (&'static Lesson, &'static Way),
    (n, size): (usize, u32),
    all: &[Device],
) -> Row {
    let devices = || match all[0].is_simulator() {
        // New ones, so that one that has failed does not matter to the next.
        true => Device::simulators_with(n, settings(args)),
        false => all[..n].to_vec(),
    };
    let mut ended = outcome(of.1, &devices(), size, None);
    if all[0].is_simulator() {
        for seed in 0..args.schedules {
            let schedule = Schedule::new(seed);
            ended = ended.and_then(|usual| {
                let other = outcome(of.1, &devices(), size, Some(schedule));
                let failed = |error| format!("under schedule {schedule}: {error}");
                other.map(|_| usual).map_err(failed)
            });
        }
    }
    Row::of(of, (n, size), ended)
}

/// The memory work of a way on simulators, line by line.
fn lines(
    args: &Args,
    (lesson, way): (&Lesson, &Way),
    n: usize,
) -> Result<Vec<lockstep::Line>, Stop> {
    let failed = |error: host::several::Failure| Stop::Because(Exit::Failed, error.to_string());
    let node = Node::new(&Device::simulators_with(n, settings(args)))
        .map_err(failed)?
        .with_lines();
    let size = args.size.first().copied().unwrap_or(lesson.quick);
    (way.run)(&node, size).map_err(failed)?;
    Ok(node.into_lines())
}

fn outcome(
    way: &Way,
    devices: &[Device],
    size: u32,
    schedule: Option<Schedule>,
) -> Result<host::several::Outcome, String> {
    let node = Node::new(devices).map_err(|error| error.to_string())?;
    let ended = (way.run)(&node.with_schedule(schedule), size);
    ended.map_err(|error| error.to_string())
}

/// NCCL's version, if the devices are GPUs and it is there.
fn nccl_version(devices: &[Device]) -> Option<u32> {
    if devices[0].is_simulator() {
        return None;
    }
    let ranks = lockstep::collectives::Communicator::of_devices(&devices[..1]).ok()?;
    ranks.first()?.nccl_version()
}

/// One of several processes.
fn run_process(args: &Args) -> Result<Exit, Stop> {
    let ranks = Ranks::from_env().map_err(Stop::usage)?;
    let Some(ranks) = ranks else {
        return Err(Stop::usage(
            "nothing says which of several processes this is: start it by `mpirun`, or set RANK and \
             WORLD_SIZE",
        ));
    };
    let n = args.size.first().copied().unwrap_or(1 << 16) as usize;
    let n_ranks = across_processes::run(&ranks, n, args.repetitions)
        .map_err(|error| Stop::Because(Exit::Failed, error.to_string()))?;
    say(&format!(
        "rank {} of {n_ranks}: the sum of {n} numbers is right",
        ranks.rank
    ));
    Ok(Exit::Passed)
}
