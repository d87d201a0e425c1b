//! `lockstep check-counters`: the counting rules, checked against measured accesses.

use super::ending::{self, Ending, Outputs};
use super::exit::{Exit, Stop};
use super::ncu;
use super::progress::say;
use crate::accesses::file::{self, Numbered};
use crate::accesses::{Case, Counted, instructions, measure, patterns, rules};
use crate::choose::{EngineChoice, SimOptions, choose};
use crate::input;
use crate::report::style::{BAD, GOOD};
use crate::report::table::labelled;
use crate::report::width::{Width, indented, shell};
use lockstep::engine::{EngineError, EngineKind, PtxModule};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
A case is one instruction of one warp. The columns:
  instruction            such as ld.shared.v2.u32
  bytes_per_lane         1, 2, 4, 8 or 16
  active_mask_hex        lane l takes part if bit l is set
  lane_byte_offsets      32 offsets separated by spaces
  shared_wavefronts, shared_bank_conflicts
  global_requests, global_sectors
Columns that do not apply to an instruction stay empty. For ld.local and st.local the
last two count local memory.";

/// The architecture that is assumed where ncu was run by hand.
const NCU_SM: u32 = 90;

/// Options of `check-counters`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Measured cases, as CSV.
    #[arg(value_name = "FILE.csv", required_unless_present = "fresh")]
    file: Option<PathBuf>,

    /// Instead of a file, cases made from this random seed: each is
    /// launched, and measured by Nsight Compute on a GPU.
    #[arg(long, value_name = "SEED", conflicts_with = "file")]
    fresh: Option<u64>,

    /// Fresh cases of each instruction.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "fresh", value_parser = clap::value_parser!(u32).range(1..))]
    each: u32,

    /// Only instructions whose name contains this.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        requires = "fresh",
        hide_default_value = true
    )]
    only: String,

    /// The engine that measures fresh cases; without a GPU, nothing is measured. With `sim`
    /// the rules are checked against the simulator's launches, which says nothing of hardware.
    #[arg(long, value_enum, default_value_t, requires = "fresh")]
    engine: EngineChoice,

    /// The output of Nsight Compute for these cases, where it was run by hand; see
    /// --command.
    #[arg(long, value_name = "CSV", requires = "fresh")]
    ncu: Option<PathBuf>,

    /// Print the command that measures these cases.
    #[arg(long, requires = "fresh", conflicts_with = "ncu")]
    command: bool,

    /// Also write the measured cases to this file.
    #[arg(long, value_name = "FILE", requires = "fresh")]
    write: Option<PathBuf>,

    /// Only launch the fresh cases; this is what runs under Nsight Compute.
    #[arg(long, hide = true, requires = "fresh")]
    launch_only: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    if let (true, Some(seed)) = (args.command, args.fresh) {
        let arguments = launch_arguments(args, seed).join(" ");
        let command = ncu::command_line(None, &measure::all_metrics(), &arguments);
        let command = shell(&command, Width::of_stdout().prose());
        return ending::print(Exit::Passed, |out| writeln!(out, "{command}"));
    }
    let outputs = Outputs::open(
        &[("--write", args.write.as_deref())],
        &[args.ncu.as_deref()],
    )?;
    let (cases, source) = match (args.fresh, &args.file) {
        (Some(seed), _) => match fresh(args, seed)? {
            Some((cases, source)) => (numbered(cases), source),
            None => return Ok(Exit::Passed),
        },
        (None, Some(path)) => (read(path)?, Source::Hardware),
        (None, None) => return Err(Stop::usage("give a file or --fresh")),
    };
    let differing = differing(&cases)?;
    let all = differing.is_empty();
    let mut ending = outputs.end(if all { Exit::Passed } else { Exit::Failed });
    write_cases(&mut ending, &cases);
    ending.print(|out| {
        for line in &differing {
            writeln!(out, "{line}")?;
        }
        let style = if all { GOOD } else { BAD };
        let (n, n_agree) = (cases.len(), cases.len() - differing.len());
        writeln!(
            out,
            "{style}{n_agree} of {n} cases agree{style:#}{}",
            source.remark()
        )
    });
    Ok(ending.exit())
}

/// The source of the figures that the rules are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Hardware,
    Simulator,
}

impl Source {
    fn remark(self) -> &'static str {
        match self {
            Self::Hardware => "",
            Self::Simulator => " with the simulator's launches; no hardware was measured",
        }
    }
}

fn numbered(cases: Vec<Case>) -> Vec<Numbered> {
    let numbered = |(index, case)| Numbered {
        line: index as u64 + 2,
        case,
    };
    cases.into_iter().enumerate().map(numbered).collect()
}

fn read(path: &Path) -> Result<Vec<Numbered>, Stop> {
    let because = |what: String| Stop::usage(format!("{}: {what}", input::name(path)));
    let bytes = input::bytes(path).map_err(Stop::usage)?;
    let cases = file::read(&bytes).map_err(|error| because(error.to_string()))?;
    if cases.is_empty() {
        return Err(because("there is no case in it".to_owned()));
    }
    for Numbered { line, case } in &cases {
        rules::predict(case).map_err(|error| because(format!("line {line}: {error}")))?;
    }
    Ok(cases)
}

/// Checks every case against the rules; lists those that differ.
fn differing(cases: &[Numbered]) -> Result<Vec<String>, Stop> {
    let columns = Width::of_stdout().prose();
    let mut told = Vec::new();
    for Numbered { line, case } in cases {
        let by_rule =
            rules::predict(case).map_err(|error| Stop::usage(format!("line {line}: {error}")))?;
        let differences = case.counted.differences(&by_rule);
        if differences.is_empty() {
            continue;
        }
        let differences: Vec<_> = differences
            .into_iter()
            .map(|(column, expected, got)| {
                let got = got.map_or_else(|| "nothing".to_owned(), |got| got.to_string());
                format!("{column}: expected {expected}, got {got}")
            })
            .collect();
        let differences = differences.join("; ");
        let case = format!(
            "{}, {} bytes per lane, mask {:08x}, offsets {}",
            case.instruction,
            case.bytes,
            case.mask,
            case.offsets.map(|offset| offset.to_string()).join(" "),
        );
        told.push(format!(
            "{}\n{}",
            labelled(&format!("line {line}"), BAD, &differences, columns),
            indented(&case, 2, columns)
        ));
    }
    Ok(told)
}

/// Makes, launches and measures cases; none if they were only to be launched.
fn fresh(args: &Args, seed: u64) -> Result<Option<(Vec<Case>, Source)>, Stop> {
    let (cases, counted, source) = match &args.ncu {
        Some(path) => {
            let because = |what: String| Stop::usage(format!("{}: {what}", input::name(path)));
            let text = input::text(path).map_err(Stop::usage)?;
            let launches = crate::report::ncu::read(&text).map_err(because)?;
            let cases = cases(args, NCU_SM, seed)?;
            let counted = measure::of_hardware(&cases, &launches).map_err(because)?;
            (cases, counted, Source::Hardware)
        }
        None => match measured(args, seed)? {
            Some(measured) => measured,
            None => return Ok(None),
        },
    };
    let mut cases = cases;
    for (case, counted) in cases.iter_mut().zip(counted) {
        case.counted = counted;
    }
    Ok(Some((cases, source)))
}

/// The arguments with which this program only launches the cases.
fn launch_arguments(args: &Args, seed: u64) -> Vec<String> {
    vec![
        "check-counters".to_owned(),
        "--launch-only".to_owned(),
        "--engine=gpu".to_owned(),
        format!("--fresh={seed}"),
        format!("--each={}", args.each),
        format!("--only={}", args.only),
    ]
}

/// The requested cases, of the instructions that an architecture has.
fn cases(args: &Args, sm: u32, seed: u64) -> Result<Vec<Case>, Stop> {
    let wanted = instructions::on(sm).filter(|instruction| instruction.name.contains(&args.only));
    let cases = patterns::cases(wanted, args.each as usize, seed);
    if cases.is_empty() {
        let names: Vec<_> = instructions::on(sm).map(|known| known.name).collect();
        return Err(Stop::usage(format!(
            "--only {}: no instruction's name contains that; there are {}",
            args.only,
            names.join(", ")
        )));
    }
    Ok(cases)
}

/// Cases, the counts of each, and their source.
type Measured = (Vec<Case>, Vec<Counted>, Source);

/// Cases, launched and counted; none if they were only to be launched.
fn measured(args: &Args, seed: u64) -> Result<Option<Measured>, Stop> {
    let stop = |error: EngineError| Stop::failed(error.is_not_run(), error);
    // The simulator does not measure itself, unless that is asked for.
    let choice = match args.engine {
        EngineChoice::Sim => EngineChoice::Sim,
        EngineChoice::Auto | EngineChoice::Gpu => EngineChoice::Gpu,
    };
    // The GPU determines which instructions there are, so it is asked first.
    let (machine, why) = choose(choice, Vec::new(), SimOptions::default()).map_err(|error| {
        Stop::nothing_ran(format!(
            "fresh cases are measured on a GPU: {error}. Nothing was measured"
        ))
    })?;
    if !args.launch_only {
        say(&format!("engine: {why}"));
    }
    let sm = machine.engine().device().sm;
    let cases = cases(args, sm, seed)?;
    if machine.engine().kind() == EngineKind::Gpu && !args.launch_only {
        // The process that is measured gets the GPU to itself.
        drop(machine);
        let arguments: Vec<OsString> = launch_arguments(args, seed)
            .into_iter()
            .map(OsString::from)
            .collect();
        let launches = ncu::run_self(None, &measure::all_metrics(), &arguments)?;
        let counted = measure::of_hardware(&cases, &launches)
            .map_err(|what| Stop::Because(Exit::Failed, what))?;
        return Ok(Some((cases, counted, Source::Hardware)));
    }
    let module = PtxModule::of_text("single accesses", instructions::ptx(sm));
    machine.add_module(module).map_err(stop)?;
    let counted = measure::launch_all(machine.engine(), &cases).map_err(stop)?;
    if args.launch_only {
        return Ok(None);
    }
    let counted = counted.into_iter().map(Option::unwrap_or_default).collect();
    Ok(Some((cases, counted, Source::Simulator)))
}

/// Writes the measured cases, if that was asked for.
fn write_cases(ending: &mut Ending, cases: &[Numbered]) {
    ending.file("--write", || {
        let mut text = Vec::new();
        file::write(&mut text, cases.iter().map(|numbered| &numbered.case))
            .map_err(io::Error::from)?;
        Ok(text)
    });
}
