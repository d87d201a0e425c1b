//! `lockstep check-counters`: the counting rules against measured accesses.

use super::progress::say;
use super::{Exit, Stop, ncu};
use crate::accesses::file::{self, Numbered};
use crate::accesses::{Case, Counted, instructions, measure, patterns, rules};
use crate::engine::{self, EngineChoice, EngineError, EngineKind, PtxModule};
use crate::report::table::{BAD, GOOD, labelled};
use crate::report::width::{Width, indented, shell};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
A case is one instruction of one warp. The columns:
  instruction            such as ld.shared.v2.u32
  bytes_per_lane         1, 2, 4, 8 or 16
  active_mask_hex        lane l takes part if bit l is set
  lane_byte_offsets      32 offsets with spaces between
  shared_wavefronts, shared_bank_conflicts
  global_requests, global_sectors
What an instruction does not have stays empty. For ld.local and st.local the last
two are those of local memory.";

/// What is taken for the architecture where ncu was run by hand.
const NCU_SM: u32 = 90;

/// Options of `check-counters`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Measured cases, as CSV.
    #[arg(value_name = "FILE.csv", required_unless_present = "fresh")]
    file: Option<PathBuf>,

    /// In the place of a file, cases made by this random number: each is
    /// launched, and measured by Nsight Compute on a GPU.
    #[arg(long, value_name = "SEED", conflicts_with = "file")]
    fresh: Option<u64>,

    /// Fresh cases of each instruction.
    #[arg(long, value_name = "N", default_value_t = 10, requires = "fresh")]
    each: usize,

    /// Only instructions whose name contains this.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        requires = "fresh",
        hide_default_value = true
    )]
    only: String,

    /// What measures fresh cases. The simulator's own launches can be held
    /// against the rules too, which shows nothing about hardware.
    #[arg(long, value_enum, default_value_t, requires = "fresh")]
    engine: EngineChoice,

    /// What Nsight Compute printed of these cases, where it was run by hand; see
    /// --command.
    #[arg(long, value_name = "CSV", requires = "fresh")]
    ncu: Option<PathBuf>,

    /// Print the command that measures these cases.
    #[arg(long, requires = "fresh", conflicts_with = "ncu")]
    command: bool,

    /// Also write the measured cases to this file.
    #[arg(long, value_name = "FILE", requires = "fresh")]
    write: Option<PathBuf>,

    /// Only launch the fresh cases; what runs under Nsight Compute.
    #[arg(long, hide = true, requires = "fresh")]
    launch_only: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    if let (true, Some(seed)) = (args.command, args.fresh) {
        let arguments = launch_arguments(args, seed).join(" ");
        let command = ncu::command_line(None, &measure::all_metrics(), &arguments);
        let command = shell(&command, Width::of_stdout().prose());
        writeln!(anstream::stdout().lock(), "{command}")?;
        return Ok(Exit::Passed);
    }
    let cases = match (args.fresh, &args.file) {
        (Some(seed), _) => match fresh(args, seed)? {
            Some(cases) => cases,
            None => return Ok(Exit::Passed),
        },
        (None, Some(path)) => read(path)?,
        (None, None) => Vec::new(),
    };
    compare(&cases)
}

fn read(path: &Path) -> Result<Vec<Numbered>, Stop> {
    let because = |what: String| Stop::Because(Exit::Usage, format!("{}: {what}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| because(error.to_string()))?;
    let cases = file::read(&bytes).map_err(|error| because(error.to_string()))?;
    if cases.is_empty() {
        return Err(because("there is no case in it".to_owned()));
    }
    for Numbered { line, case } in &cases {
        rules::predict(case).map_err(|error| because(format!("line {line}: {error}")))?;
    }
    Ok(cases)
}

/// Holds every case against the rules, and prints those that differ.
fn compare(cases: &[Numbered]) -> Result<Exit, Stop> {
    let mut out = anstream::stdout().lock();
    let columns = Width::of_stdout().prose();
    let mut n_agree = 0;
    for Numbered { line, case } in cases {
        let by_rule = rules::predict(case)
            .map_err(|error| Stop::Because(Exit::Usage, format!("line {line}: {error}")))?;
        let differences = case.counted.differences(&by_rule);
        if differences.is_empty() {
            n_agree += 1;
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
        writeln!(
            out,
            "{}\n{}",
            labelled(&format!("line {line}"), BAD, &differences, columns),
            indented(&case, 2, columns)
        )?;
    }
    let all = n_agree == cases.len();
    let style = if all { GOOD } else { BAD };
    writeln!(
        out,
        "{style}{n_agree} of {} cases agree{style:#}",
        cases.len()
    )?;
    out.flush()?;
    Ok(if all { Exit::Passed } else { Exit::Failed })
}

/// Makes, launches and measures cases; none if they were only to be launched.
fn fresh(args: &Args, seed: u64) -> Result<Option<Vec<Numbered>>, Stop> {
    let (cases, counted) = match &args.ncu {
        Some(path) => {
            let because =
                |what: String| Stop::Because(Exit::Usage, format!("{}: {what}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| because(error.to_string()))?;
            let launches = crate::report::ncu::read(&text).map_err(because)?;
            let cases = cases(args, NCU_SM, seed);
            let counted = measure::of_hardware(&cases, &launches).map_err(because)?;
            (cases, counted)
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
    if let Some(path) = &args.write {
        write(path, &cases)?;
    }
    let numbered = |(index, case)| Numbered {
        line: index as u64 + 2,
        case,
    };
    Ok(Some(cases.into_iter().enumerate().map(numbered).collect()))
}

/// The arguments with which this program launches the cases and does no more.
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

/// The cases asked for, of the instructions that an architecture has.
fn cases(args: &Args, sm: u32, seed: u64) -> Vec<Case> {
    let wanted = instructions::on(sm).filter(|instruction| instruction.name.contains(&args.only));
    patterns::cases(wanted, args.each, seed)
}

/// Cases, and what was counted for each.
type Measured = (Vec<Case>, Vec<Counted>);

/// Cases, launched and counted; none if they were only to be launched.
fn measured(args: &Args, seed: u64) -> Result<Option<Measured>, Stop> {
    let stop = |error: EngineError| {
        let exit = if error.is_not_run() {
            Exit::NothingRan
        } else {
            Exit::Failed
        };
        Stop::Because(exit, error.to_string())
    };
    // Which instructions there are depends on the GPU, so it is asked first.
    let (sm, kind) = {
        let (asked, why) = engine::choose(args.engine, Vec::new(), None, false).map_err(stop)?;
        if !args.launch_only {
            say(&format!("engine: {why}"));
        }
        (asked.device().sm, asked.kind())
    };
    let cases = cases(args, sm, seed);
    if kind == EngineKind::Gpu && !args.launch_only {
        let arguments: Vec<OsString> = launch_arguments(args, seed)
            .into_iter()
            .map(OsString::from)
            .collect();
        let launches = ncu::run_self(None, &measure::all_metrics(), &arguments)?;
        let counted = measure::of_hardware(&cases, &launches)
            .map_err(|what| Stop::Because(Exit::Failed, what))?;
        return Ok(Some((cases, counted)));
    }
    let module = PtxModule::of_text("single accesses", instructions::ptx(sm));
    let choice = match kind {
        EngineKind::Gpu => EngineChoice::Gpu,
        EngineKind::Sim => EngineChoice::Sim,
    };
    let (engine, _) = engine::choose(choice, vec![module], None, false).map_err(stop)?;
    let counted = measure::launch_all(&*engine, &cases).map_err(stop)?;
    if args.launch_only {
        return Ok(None);
    }
    let counted = counted.into_iter().map(Option::unwrap_or_default).collect();
    Ok(Some((cases, counted)))
}

fn write(path: &Path, cases: &[Case]) -> Result<(), Stop> {
    std::fs::File::create(path)
        .and_then(|out| file::write(io::BufWriter::new(out), cases).map_err(io::Error::from))
        .map_err(|error| {
            let what = format!("{} cannot be written: {error}", path.display());
            Stop::Because(Exit::Usage, what)
        })
}
