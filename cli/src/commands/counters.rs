//! `lockstep counters`: the simulator's counts, compared with Nsight Compute's.

use super::ending::{self, Outputs};
use super::exit::{Exit, Stop};
use crate::input;
use crate::report::counters::{self, Comparison, METRICS};
use crate::report::ncu;
use crate::report::style::HEADING;
use crate::report::table::labelled;
use crate::report::width::{Width, shell};
use host::hints;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options of `counters`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the `ncu` command that measures what the simulator counts.
    #[arg(long, conflicts_with_all = ["ncu", "sim", "json"])]
    command: bool,

    /// The output of that command.
    #[arg(long, value_name = "CSV", required_unless_present = "command")]
    ncu: Option<PathBuf>,

    /// The output of `run-all --engine sim --once --full --json FILE`.
    #[arg(long, value_name = "JSON", required_unless_present = "command")]
    sim: Option<PathBuf>,

    /// Also write the comparison to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let (Some(ncu_path), Some(sim)) = (&args.ncu, &args.sim) else {
        return ending::print(Exit::Passed, write_command);
    };
    let outputs = Outputs::open(
        &[("--json", args.json.as_deref())],
        &[Some(ncu_path), Some(sim)],
    )?;
    let because = |path: &Path, what: String| Stop::usage(format!("{}: {what}", input::name(path)));
    let read = |path: &Path| input::text(path).map_err(Stop::usage);
    let hardware = ncu::read(&read(ncu_path)?).map_err(|what| because(ncu_path, what))?;
    let simulator = serde_json::from_str(&read(sim)?)
        .map_err(|error| because(sim, format!("no results file: {error}")))?;
    let comparison = counters::compare(&hardware, &simulator).map_err(|what| because(sim, what))?;

    let mut ending = outputs.end(if comparison.compared.is_empty() {
        Exit::NothingRan
    } else {
        Exit::Passed
    });
    ending.json("--json", &comparison);
    ending.print(|out| write(out, &comparison));
    Ok(ending.exit())
}

/// The command that measures what the simulator counts.
fn write_command(out: &mut dyn Write) -> io::Result<()> {
    let metrics: Vec<_> = METRICS.iter().map(|metric| metric.ncu).collect();
    let command = format!(
        "ncu --csv --page raw --clock-control none --metrics {} {} run-all --engine gpu --once --full > ncu.csv",
        metrics.join(","),
        hints::program_words()
    );
    writeln!(out, "{}", shell(&command, Width::of_stdout().prose()))
}

fn write(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let columns = Width::of_stdout().prose();
    let agree = |row: &&counters::Compared| row.simulator == row.hardware;
    for row in comparison.compared.iter().filter(|row| !agree(row)) {
        let excess = row.hardware as f64 / row.simulator as f64 - 1.0;
        let figures = format!(
            "{} {} by rule, {} on the hardware ({:+.3}%)",
            row.metric,
            row.simulator,
            row.hardware,
            100.0 * excess
        );
        let label = format!("{} {}", row.kernel, row.shape);
        writeln!(out, "{}", labelled(&label, HEADING, &figures, columns))?;
    }
    for kernel in &comparison.left_out {
        writeln!(out, "{}", labelled("left out", HEADING, kernel, columns))?;
    }
    let n_agree = comparison.compared.iter().filter(agree).count();
    writeln!(
        out,
        "{n_agree} of {} counts are equal",
        comparison.compared.len()
    )
}
