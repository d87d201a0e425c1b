//! `lockstep sim-bench`: thread-instructions per second, kernel by kernel.

use super::ending::Outputs;
use super::exit::{Exit, Stop};
use super::progress::say;
use super::readme::replace_between;
use crate::input;
use crate::output::OutputFile;
use crate::report::width::Width;
use crate::sim_bench::report::{Report, Row, UNIT};
use crate::sim_bench::{LOOPS, Loop, Mode, Patience, measure, measure_loop};
use host::registry::{self, NoMatch};
use lesson::Registered;
use lockstep::engine::sim::Sim;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options of `sim-bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only kernels whose own or whose lesson's name contains this, and small
    /// loops whose name does; may be repeated.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,

    /// Also write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Compare the figures with those of this file.
    #[arg(long, value_name = "JSON")]
    compare: Option<PathBuf>,

    /// Measure nothing: update the table in the simulator's documentation from
    /// the results in the repository.
    #[arg(long, conflicts_with_all = ["filter", "json", "compare"])]
    document: bool,

    /// Only this mode; may be repeated. `bare` cannot be the only one, since it counts no
    /// instructions.
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Vec<Mode>,

    /// Milliseconds to spend on each launch, at least three rounds.
    #[arg(long, value_name = "MS", default_value_t = 300)]
    patience: u64,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    if args.document {
        return document();
    }
    if !args.mode.is_empty() && args.mode.iter().all(|&mode| mode == Mode::Bare) {
        return Err(Stop::usage(
            "--mode bare alone counts no instructions to divide by; add --mode counted",
        ));
    }
    let outputs = Outputs::open(&[("--json", args.json.as_deref())], &[])?;
    let before = args.compare.as_deref().map(read).transpose()?;
    let is_wanted = |mode: &Mode| args.mode.is_empty() || args.mode.contains(mode);
    let patience = Patience {
        modes: Mode::ALL.into_iter().filter(is_wanted).collect(),
        fewest: 3,
        time: Duration::from_millis(args.patience),
    };
    let failed = |name: &str, what: String| Stop::Because(Exit::Failed, format!("{name}: {what}"));
    let (loops, kernels) = chosen(&args.filter).map_err(Stop::usage)?;
    let sim = Sim::new(super::modules::modules_for(&kernels)?);
    let mut rows = Vec::new();
    for one in loops {
        say(&format!("{}: {} per round", one.0, one.1));
        let measured = measure_loop(one, &patience);
        let measured = measured.map_err(|error| failed(one.0, error.to_string()))?;
        rows.push(Row::new(one.0, "loop".to_owned(), &measured));
    }
    for registered in kernels {
        let name = registered.kernel.id;
        say(name);
        let (shape, measured) =
            measure(&sim, registered, &patience).map_err(|error| failed(name, error))?;
        rows.push(Row::new(name, shape, &measured));
    }
    let report = Report::new(rows);
    let mut ending = outputs.end(Exit::Passed);
    ending.json("--json", &report);
    ending.print(|out| {
        writeln!(out, "{UNIT}")?;
        report
            .table(before.as_ref())
            .write(out, Width::of_stdout())?;
        match report.small_launch() {
            Some(sentence) => writeln!(out, "{sentence}"),
            None => Ok(()),
        }
    });
    Ok(ending.exit())
}

/// The small loops and the kernels that the filters choose: all of them without a filter.
fn chosen(filters: &[String]) -> Result<(Vec<Loop>, Vec<Registered>), NoMatch> {
    let chooses = |filter: &String, one: &Loop| one.0.contains(filter.as_str());
    let loops = LOOPS
        .iter()
        .copied()
        .filter(|one| filters.is_empty() || filters.iter().any(|filter| chooses(filter, one)));
    let is_for_loops = |filter: &&String| {
        let only = registry::matching(std::slice::from_ref(*filter)).is_err();
        only && LOOPS.iter().any(|one| chooses(filter, one))
    };
    let of_kernels: Vec<String> = filters
        .iter()
        .filter(|filter| !is_for_loops(filter))
        .cloned()
        .collect();
    let kernels = match of_kernels.is_empty() && !filters.is_empty() {
        true => Vec::new(),
        false => registry::matching(&of_kernels)?,
    };
    Ok((loops.collect(), kernels))
}

fn usage(path: &Path, error: &dyn std::fmt::Display) -> Stop {
    Stop::usage(format!("{}: {error}", input::name(path)))
}

fn read(path: &Path) -> Result<Report, Stop> {
    let text = input::text(path).map_err(Stop::usage)?;
    serde_json::from_str(&text)
        .map_err(|error| usage(path, &format!("no figures of sim-bench: {error}")))
}

/// The file with the table, relative to the repository.
const DOCUMENT: &str = "simulator/ptx_sim/SPEED.md";
/// The current figures, and those before the work that it describes.
const RESULTS: [&str; 2] = [
    "bench/results/sim/sim-bench.json",
    "bench/results/sim/sim-bench-before.json",
];
const BEGIN: &str = "<!-- figures: written by `cargo xtask sim-bench --document` -->\n";
const END: &str = "<!-- end of figures -->";

/// `text` with the table between the markers.
fn renewed(text: &str, now: &Report, before: &Report) -> Result<String, String> {
    let (cores, processor) = (now.machine.n_cores, &now.machine.processor);
    let small = now.small_launch().map(|sentence| format!(" {sentence}"));
    let table = format!(
        "{UNIT}, on {cores} cores of an {processor}. \"Before\" is with counters, on one core.{}\n\n{}\n",
        small.unwrap_or_default(),
        now.table(Some(before)).markdown()
    );
    replace_between(text, BEGIN, END, &table)
}

fn document() -> Result<Exit, Stop> {
    let [now, before] = RESULTS.map(|path| read(Path::new(path)));
    let file = Path::new(DOCUMENT);
    let text = input::text(file).map_err(Stop::usage)?;
    let new = renewed(&text, &now?, &before?).map_err(|error| usage(file, &error))?;
    OutputFile::open(file)
        .map_err(Stop::usage)?
        .write(new.as_bytes())
        .map_err(|error| Stop::Because(Exit::Failed, error.to_string()))?;
    Ok(Exit::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_chooses_loops_and_kernels() {
        let names = |filters: &[&str]| {
            let filters: Vec<String> = filters.iter().map(ToString::to_string).collect();
            chosen(&filters).ok().map(|(loops, kernels)| {
                let loops: Vec<_> = loops.iter().map(|one| one.0).collect();
                let kernels: Vec<_> = kernels.iter().map(|k| k.kernel.id).collect();
                (loops, kernels)
            })
        };
        let (all_loops, all_kernels) = names(&[]).expect("all");
        assert_eq!(all_loops.len(), LOOPS.len());
        assert_eq!(all_kernels.len(), registry::kernels().count());
        let (loops, sgemm) = names(&["sgemm"]).expect("kernels");
        assert!(loops.is_empty() && !sgemm.is_empty() && sgemm.len() < all_kernels.len());
        let both = (vec!["arithmetic"], sgemm);
        assert_eq!(names(&["sgemm", "arithmetic"]), Some(both.clone()));
        assert_eq!(names(&["arithmetic", "sgemm"]), Some(both));
        assert_eq!(
            names(&["arithmetic"]),
            Some((vec!["arithmetic"], Vec::new()))
        );
        // A filter that chooses nothing is an error, whatever the other filters choose.
        assert_eq!(names(&["arithmetic", "no_such_kernel"]), None);
    }

    #[test]
    fn the_documented_figures_are_the_committed_ones() {
        let root = host::home::home()
            .expect("tests run in the repository")
            .source("");
        let text_of = |path: &str| std::fs::read_to_string(root.join(path)).expect("it is there");
        let [now, before]: [Report; 2] =
            RESULTS.map(|path| serde_json::from_str(&text_of(path)).expect("it is a report"));
        let text = text_of(DOCUMENT);
        assert_eq!(renewed(&text, &now, &before).as_ref(), Ok(&text));
    }
}
