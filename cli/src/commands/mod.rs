//! The program `lockstep`: its commands and their options.
//!
//! Results go to stdout, progress and reasons to stderr. The exit status says
//! how it ended: 0, everything passed; 1, something failed; 2, the command was
//! wrong; 3, nothing could be run at all; 4, nothing failed, but something was
//! not run. It is the same whether or not anyone reads the results (`ending`).

mod bench;
mod book;
mod browser;
mod check_counters;
mod counters;
mod devices;
mod ending;
mod exit;
mod explain;
mod gather;
mod lead;
mod learn;
mod list;
mod modules;
mod ncu;
mod neighbors;
mod pages;
mod baselines;
mod profile;
mod progress;
mod ptx;
mod readme;
mod report;
mod resume;
mod run_all;
mod sanitize;
mod schedules;
mod sim_bench;
mod tools;

use clap::{FromArgMatches, Parser, Subcommand};
use exit::Stop;
use host::hints;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Exit status:
  0  everything passed
  1  something failed
  2  the command was wrong
  3  nothing could be run at all
  4  nothing failed, but something was not run

Files to write: - is standard output, and the results then go to standard error.
Files to read: - is standard input.

Environment:
  LOCKSTEP_LIBCUDA=PATH     the CUDA driver's library, instead of libcuda.so.1
  LOCKSTEP_TIME_LIMIT_S=N   seconds after which a GPU kernel is assumed never to end (60)
  CUDA_VISIBLE_DEVICES      which GPU is used: the first of these
  CUDA_HOME                 where `ptx --sass` looks for ptxas and nvdisasm first
  NO_COLOR                  no colours
  COLUMNS                   width of tables if stdout is not a terminal (100)";

/// CUDA kernels in Rust, run and checked on a GPU or on the PTX simulator.
#[derive(Debug, Parser)]
#[command(name = "lockstep", version, about, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run kernels and compare them with their references.
    RunAll(run_all::Args),
    /// Time kernels on a GPU, against copies, CUDA C++, CUB and cuBLAS.
    Bench(bench::Args),
    /// Look for races, bad accesses and so on: the simulator's checks, and compute-sanitizer.
    Sanitize(sanitize::Args),
    /// Run the lessons of several devices.
    Devices(devices::Args),
    /// List lessons and kernels.
    List(list::Args),
    /// Build the neighbour list of atoms in a file, with the cell list's kernels.
    Neighbors(neighbors::Args),
    /// Solve exercises, judged on the simulator after every save.
    Learn(learn::Args),
    /// Print a kernel's PTX, or the machine code made from it.
    Ptx(ptx::Args),
    /// Compare the simulator's counts with a GPU's hardware counters.
    Counters(counters::Args),
    /// Show a kernel's memory work, line by line.
    Profile(profile::Args),
    /// Show which banks and sectors memory accesses touch, and find layouts without conflicts.
    Explain(explain::Args),
    /// Check the counting rules against measured accesses.
    CheckCounters(check_counters::Args),
    /// Measure how fast the simulator is.
    SimBench(sim_bench::Args),
    /// Make a page of all lessons for a browser: counts, times, source with heat, PTX.
    Report(report::Args),
    /// Update the generated parts of the documents.
    Readme(readme::Args),
    /// Write the contents of a bundle, except for this program.
    #[command(hide = true)]
    Gather(gather::Args),
    /// Write the book's chapters out.
    #[command(hide = true)]
    Book(book::Args),
}

/// The command line's description.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Checks a command line, without the program's name.
///
/// # Errors
///
/// It is not valid; the error says why.
pub fn understood(arguments: &[String]) -> Result<(), String> {
    let words = std::iter::once("lockstep").chain(arguments.iter().map(String::as_str));
    let parsed = command().try_get_matches_from(words);
    parsed.map(drop).map_err(|error| error.to_string())
}

/// The command line of this process; its help shows the command as it was typed.
fn parsed() -> Cli {
    let mut command = command().bin_name(hints::command_words());
    let matches = command.get_matches_mut();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let ended = match parsed().command {
        Command::RunAll(args) => run_all::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Sanitize(args) => sanitize::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::List(args) => list::run(&args),
        Command::Neighbors(args) => neighbors::run(&args),
        Command::Learn(args) => learn::run(&args),
        Command::Ptx(args) => ptx::run(&args),
        Command::Counters(args) => counters::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::CheckCounters(args) => check_counters::run(&args),
        Command::SimBench(args) => sim_bench::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Readme(args) => readme::run(&args),
        Command::Gather(args) => gather::run(&args),
        Command::Book(args) => book::run(&args, understood),
    };
    let exit = match ended {
        Ok(exit) => exit,
        Err(Stop::Because(exit, reason)) => {
            progress::say_error(&reason);
            exit
        }
    };
    ExitCode::from(exit as u8)
}
