//! `lockstep sanitize`: the simulator's checks, and compute-sanitizer's four tools
//! where there is a GPU.
//!
//! The tools watch this very program: it starts itself under each of them, as
//! `run-all --engine gpu --once --quick`, and reads their output ([`log`]).
//! compute-sanitizer makes a kernel a hundred times slower, so sizes are small,
//! and every tool has a time limit ([`tool`]). What does not run is reported as such,
//! never as clean.

mod log;
mod tool;

use self::tool::{Sanitizer, Watched};
use super::exit::{Exit, Stop};
use super::progress::{Progress, say};
use super::{ending, lead, schedules};
use crate::report::grid::{self, Grid};
use crate::report::style::{BAD, FAINT, GOOD, UNSURE};
use crate::report::table::labelled;
use crate::report::width::{Width, indented};
use clap::ValueEnum;
use host::hints;
use host::registry;
use lesson::run;
use lesson::schedules::Orders;
use lesson::{CaseResult, Effort, Registered, Status};
use lockstep::engine::{EngineKind, sim::Sim};
use maps::banks::plural;
use std::io::{self, Write};
use std::time::Duration;

/// Options of `sanitize`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only kernels whose own or whose lesson's name contains this.
    #[arg(value_name = "KERNEL")]
    kernels: Vec<String>,

    /// The checkers to use.
    #[arg(long, value_enum, default_value_t)]
    with: With,

    /// Only this one of compute-sanitizer's tools; may be repeated.
    #[arg(long, value_enum, value_name = "TOOL")]
    tool: Vec<Sanitizer>,

    /// Seconds after which one of compute-sanitizer's tools is stopped [default: 600].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: Option<u64>,

    #[command(flatten)]
    schedules: schedules::Options,
}

/// Seconds that a tool has by default.
const TIME_LIMIT_S: u64 = 600;

/// The checkers to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
enum With {
    /// The simulator's checks, and compute-sanitizer if it and a GPU are available.
    #[default]
    All,
    /// Only the simulator's checks.
    Sim,
    /// Only compute-sanitizer; it is an error if it or a GPU is missing.
    Gpu,
}

/// One checker's result for one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cell {
    /// It ran, and nothing was found.
    Clean,
    /// This many reports.
    Findings(usize),
    /// This many reports, which are known false positives.
    Known(usize),
    /// The kernel itself failed, or its results were wrong.
    Failed,
    /// It did not run.
    NotRun,
    /// There is nothing to run it with.
    Absent,
}

/// A checker's column of the table.
struct Column {
    heading: &'static str,
    /// One for each selected kernel.
    cells: Vec<Cell>,
    /// Reports about kernels that are not in the table.
    n_elsewhere: usize,
    /// Its reports: the kernel, and the text.
    reports: Vec<(String, String)>,
    /// Why it did not run, or not to its end.
    remark: Option<String>,
}

impl Column {
    fn new(heading: &'static str, n_kernels: usize, cell: Cell) -> Self {
        Self {
            heading,
            cells: vec![cell; n_kernels],
            n_elsewhere: 0,
            reports: Vec::new(),
            remark: None,
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Stop> {
    let of_tools = [
        ("--tool", !args.tool.is_empty()),
        ("--time-limit", args.time_limit.is_some()),
    ];
    if args.with == With::Sim
        && let Some((option, _)) = of_tools.iter().find(|(_, is_given)| *is_given)
    {
        return Err(Stop::usage(format!(
            "{option} is for compute-sanitizer, which --with sim leaves out; leave out one of them"
        )));
    }
    if args.with == With::Gpu
        && let Some(option) = args.schedules.given()
    {
        return Err(Stop::usage(format!(
            "{option} is for the simulator, which --with gpu leaves out; leave out one of them"
        )));
    }
    let orders = args.schedules.orders()?;
    let selected = registry::matching(&args.kernels).map_err(Stop::usage)?;
    let tools = if args.tool.is_empty() {
        Sanitizer::value_variants()
    } else {
        &args.tool
    };
    let mut columns = Vec::new();
    if args.with != With::Gpu {
        columns.push(simulated(args, &selected, &orders)?);
    }
    if args.with != With::Sim {
        let limit = Duration::from_secs(args.time_limit.unwrap_or(TIME_LIMIT_S));
        columns.extend(on_gpu(&selected, &args.kernels, tools, limit));
    }
    let verdict = exit_of(&columns, args.with);
    ending::print(verdict, |out| write(out, &selected, &columns))
}

/// The simulator's checks.
fn simulated(args: &Args, selected: &[Registered], orders: &Orders) -> Result<Column, Stop> {
    let order = match orders {
        Orders::Usual => String::new(),
        other => format!(", {other}"),
    };
    say(&format!("simulator: every check, small shapes{order}"));
    let modules = crate::commands::modules::modules_for(selected)?;
    let simulator = || Sim::new(modules.clone()).with_check(true);
    let cases = run::cases(selected, EngineKind::Sim, Effort::Quick);
    let progress = Progress::new(cases.len());
    let results = lesson::schedules::run(
        simulator,
        (&cases, orders),
        |case, schedule| progress.starting_under(case, schedule),
        |_, result| progress.ended(result),
    );
    progress.finish();
    let mut column = Column::new("simulator", selected.len(), Cell::NotRun);
    for (result, ()) in results {
        let Some(row) = row_of(selected, result.kernel) else {
            continue;
        };
        let cell = match result.status {
            Status::Passed => Cell::Clean,
            Status::NotRun => Cell::NotRun,
            Status::Failed => {
                let at = format!("{} {}", result.kernel, result.shape);
                column.reports.push((at, report(args, &result)));
                Cell::Findings(1)
            }
        };
        column.cells[row] = worse(&column.cells[row], cell);
    }
    Ok(column)
}

/// How a case failed on the simulator; under a schedule that was searched for, with the
/// command that runs it again.
fn report(args: &Args, result: &CaseResult) -> String {
    let mut report = result.reason.clone().unwrap_or_default();
    if let Some(part) = schedules::told(result) {
        report += &format!("\n{part}");
    }
    if let Some(schedule) = result.schedule
        && args.schedules.is_search()
    {
        let words = format!(
            "sanitize {} --with sim --schedule {schedule}",
            result.kernel
        );
        report += &format!("\nto run it again: {}", hints::command(&words));
    }
    if let Some(command) = lead::command(result, None) {
        report += &format!("\nto step through it: {command}");
    }
    report
}

/// The worse of the results for two shapes of a kernel.
fn worse(before: &Cell, now: Cell) -> Cell {
    match (before, now) {
        (Cell::Findings(a), Cell::Findings(b)) => Cell::Findings(a + b),
        (Cell::Findings(a), _) => Cell::Findings(*a),
        (Cell::Failed, _) => Cell::Failed,
        // A shape that ran says more than one that did not.
        (Cell::Clean, Cell::NotRun) => Cell::Clean,
        (_, now) => now,
    }
}

fn row_of(selected: &[Registered], kernel: &str) -> Option<usize> {
    selected.iter().position(|r| r.kernel.id == kernel)
}

/// compute-sanitizer's tools, one after another.
fn on_gpu(
    selected: &[Registered],
    filters: &[String],
    tools: &[Sanitizer],
    limit: Duration,
) -> Vec<Column> {
    let absent = |tool: &Sanitizer, why: &str| Column {
        remark: Some(format!("absent: {why}")),
        ..Column::new(tool.name(), selected.len(), Cell::Absent)
    };
    let program = match super::tools::Tool::ComputeSanitizer.find() {
        Ok(program) => program,
        Err(why) => return tools.iter().map(|tool| absent(tool, &why)).collect(),
    };
    let mut columns = Vec::new();
    let mut missing: Option<String> = None;
    for tool in tools {
        if let Some(why) = &missing {
            columns.push(absent(tool, why));
            continue;
        }
        say(&format!("{}: small shapes, each once", tool.name()));
        match tool::watch(&program, *tool, filters, limit) {
            Watched::NoGpu(why) => {
                columns.push(absent(tool, &why));
                missing = Some(why);
            }
            Watched::NotStarted(why) => columns.push(Column {
                remark: Some(format!("not run: {why}")),
                ..Column::new(tool.name(), selected.len(), Cell::NotRun)
            }),
            Watched::Ran(ran) => columns.push(column_of(selected, *tool, ran)),
        }
    }
    columns
}

/// The findings of a tool, kernel by kernel.
fn column_of(selected: &[Registered], tool: Sanitizer, ran: tool::Ran) -> Column {
    let mut column = Column::new(tool.name(), selected.len(), Cell::NotRun);
    column.remark = ran.cut_short;
    for (kernel, passed) in &ran.results {
        if let Some(row) = row_of(selected, kernel) {
            let cell = if *passed { Cell::Clean } else { Cell::Failed };
            column.cells[row] = worse(&column.cells[row], cell);
        }
    }
    for report in ran.log.reports {
        match report.kernel.as_deref().and_then(|k| row_of(selected, k)) {
            Some(row) => {
                let is_known = known_alarm(&selected[row], tool).is_some();
                let cell = &mut column.cells[row];
                *cell = match cell {
                    Cell::Known(n) => Cell::Known(*n + 1),
                    Cell::Findings(n) => Cell::Findings(*n + 1),
                    Cell::Failed => Cell::Failed,
                    _ if is_known => Cell::Known(1),
                    _ => Cell::Findings(1),
                };
            }
            None => column.n_elsewhere += 1,
        }
        let at = report.kernel.unwrap_or_else(|| "elsewhere".to_owned());
        column.reports.push((at, report.text));
    }
    column
}

/// Why a tool's reports on a kernel are known to be wrong.
fn known_alarm(registered: &Registered, tool: Sanitizer) -> Option<&'static str> {
    let alarms = registered.kernel.known_alarms;
    let alarm = alarms.iter().find(|alarm| alarm.tool == tool.name())?;
    Some(alarm.reason)
}

fn exit_of(columns: &[Column], with: With) -> Exit {
    let any = |wanted: fn(&Cell) -> bool| columns.iter().any(|c| c.cells.iter().any(wanted));
    let is_finding = |cell: &Cell| matches!(cell, Cell::Findings(_) | Cell::Failed);
    if any(is_finding) || columns.iter().any(|c| c.n_elsewhere > 0) {
        Exit::Failed
    } else if with == With::Gpu && !any(|cell| matches!(cell, Cell::Clean | Cell::Known(_))) {
        Exit::NothingRan
    } else if any(|cell| *cell == Cell::NotRun) || columns.iter().any(Column::is_cut_short) {
        Exit::NotAllRan
    } else {
        Exit::Passed
    }
}

impl Column {
    fn is_cut_short(&self) -> bool {
        self.remark.is_some() && !self.cells.contains(&Cell::Absent)
    }
}

fn words(cell: &Cell) -> (String, anstyle::Style) {
    match cell {
        Cell::Clean => ("clean".to_owned(), GOOD),
        Cell::Findings(n) => (format!("{n} found"), BAD),
        Cell::Known(n) => (format!("{n} known"), UNSURE),
        Cell::Failed => ("FAILED".to_owned(), BAD),
        Cell::NotRun => ("not run".to_owned(), UNSURE),
        Cell::Absent => ("absent".to_owned(), UNSURE),
    }
}

/// No style.
const PLAIN: anstyle::Style = anstyle::Style::new();

/// A row for each kernel.
fn write_table(
    out: &mut dyn Write,
    selected: &[Registered],
    columns: &[Column],
    width: Width,
) -> io::Result<()> {
    let mut headings = vec![grid::Column::words("kernel")];
    headings.extend(columns.iter().map(|c| grid::Column::numbers(c.heading)));
    let mut table = Grid::new(&headings);
    let mut lesson = "";
    for (row, registered) in selected.iter().enumerate() {
        if registered.lesson.id != lesson {
            lesson = registered.lesson.id;
            table.across(0, grid::Cell::new(lesson, FAINT));
        }
        let mut cells = vec![grid::Cell::from(registered.kernel.id)];
        cells.extend(columns.iter().map(|column| {
            let (text, style) = words(&column.cells[row]);
            grid::Cell::new(text, style)
        }));
        table.row(cells);
    }
    table.write(out, width)
}

/// The table, what was found, and remarks.
fn write(out: &mut dyn Write, selected: &[Registered], columns: &[Column]) -> io::Result<()> {
    let width = Width::of_stdout();
    write_table(out, selected, columns, width)?;
    for column in columns {
        write_reports(out, column, width)?;
    }
    writeln!(out)?;
    write_remarks(out, columns, width)?;
    for column in columns {
        write_known(out, selected, column, width)?;
        // Nothing more can be said of a tool that is missing.
        if !column.cells.contains(&Cell::Absent) {
            write_summary(out, column, width)?;
        }
    }
    Ok(())
}

/// A tool's reports, a few for each kernel.
fn write_reports(out: &mut dyn Write, column: &Column, width: Width) -> io::Result<()> {
    /// Reports of one tool on one kernel that are printed.
    const MOST: usize = 3;
    let mut printed: Vec<(&str, usize)> = Vec::new();
    for (at, text) in &column.reports {
        let known = printed.iter().position(|(name, _)| name == at);
        let place = known.unwrap_or_else(|| {
            printed.push((at, 0));
            printed.len() - 1
        });
        printed[place].1 += 1;
        if printed[place].1 <= MOST {
            let text = indented(text, 2, width.prose());
            writeln!(out, "\n{BAD}{}{BAD:#}: {at}\n{text}", column.heading)?;
        }
    }
    for (at, n) in printed.iter().filter(|(_, n)| *n > MOST) {
        let more = n - MOST;
        writeln!(out, "\n{}: {at}: {more} more reports", column.heading)?;
    }
    Ok(())
}

/// Why tools did not run, or not to their end; a remark that several share is printed once.
fn write_remarks(out: &mut dyn Write, columns: &[Column], width: Width) -> io::Result<()> {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for column in columns {
        let Some(remark) = column.remark.as_deref() else {
            continue;
        };
        match told.iter_mut().find(|(same, _)| *same == remark) {
            Some((_, headings)) => headings.push(column.heading),
            None => told.push((remark, vec![column.heading])),
        }
    }
    for (remark, headings) in told {
        let remark = labelled(&headings.join(", "), UNSURE, remark, width.prose());
        writeln!(out, "{remark}")?;
    }
    Ok(())
}

/// Why a tool's known false positives are wrong.
fn write_known(
    out: &mut dyn Write,
    selected: &[Registered],
    column: &Column,
    width: Width,
) -> io::Result<()> {
    for (row, registered) in selected.iter().enumerate() {
        if matches!(column.cells[row], Cell::Known(_))
            && let Some(tool) = Sanitizer::named(column.heading)
            && let Some(reason) = known_alarm(registered, tool)
        {
            let known = format!("{}: known: {reason}", registered.kernel.id);
            let known = labelled(column.heading, PLAIN, &known, width.prose());
            writeln!(out, "{known}")?;
        }
    }
    Ok(())
}

fn write_summary(out: &mut dyn Write, column: &Column, width: Width) -> io::Result<()> {
    let count = |wanted: fn(&Cell) -> bool| column.cells.iter().filter(|cell| wanted(cell)).count();
    let n_clean = count(|cell| matches!(cell, Cell::Clean | Cell::Known(_)));
    let n_bad = count(|cell| matches!(cell, Cell::Findings(_) | Cell::Failed));
    let n_left = column.cells.len() - n_clean - n_bad;
    let elsewhere = match column.n_elsewhere {
        0 => String::new(),
        n => format!("; {n} reports elsewhere"),
    };
    let clean = plural(n_clean as u64, "kernel");
    let sum = format!("{clean} without findings, {n_bad} with, {n_left} not run{elsewhere}");
    let sum = labelled(column.heading, PLAIN, &sum, width.prose());
    writeln!(out, "{sum}")
}

#[cfg(test)]
mod tests {
    use super::{Cell, Column, Exit, With, exit_of, worse};

    fn exit(cells: &[&[Cell]], with: With) -> Exit {
        let columns: Vec<Column> = cells
            .iter()
            .map(|cells| Column {
                cells: cells.to_vec(),
                ..Column::new("memcheck", 0, Cell::Clean)
            })
            .collect();
        exit_of(&columns, with)
    }

    #[test]
    fn findings_fail_and_absence_is_not_success_where_a_gpu_was_asked_for() {
        use Cell::{Absent, Clean, Failed, Findings, Known, NotRun};
        assert_eq!(exit(&[&[Clean, Known(2)]], With::Gpu), Exit::Passed);
        assert_eq!(exit(&[&[Clean], &[Findings(1)]], With::All), Exit::Failed);
        assert_eq!(exit(&[&[Clean], &[Failed]], With::All), Exit::Failed);
        assert_eq!(exit(&[&[Clean], &[Absent]], With::All), Exit::Passed);
        assert_eq!(exit(&[&[Absent]], With::Gpu), Exit::NothingRan);
        assert_eq!(exit(&[&[Clean, NotRun]], With::All), Exit::NotAllRan);
    }

    #[test]
    fn a_remark_on_a_tool_that_ran_is_not_success() {
        let column = Column {
            remark: Some("stopped".to_owned()),
            ..Column::new("memcheck", 1, Cell::Clean)
        };
        assert_eq!(exit_of(&[column], With::All), Exit::NotAllRan);
    }

    #[test]
    fn the_worse_shape_counts() {
        assert_eq!(worse(&Cell::Clean, Cell::Findings(1)), Cell::Findings(1));
        assert_eq!(worse(&Cell::Findings(1), Cell::Clean), Cell::Findings(1));
        assert_eq!(worse(&Cell::NotRun, Cell::Clean), Cell::Clean);
        assert_eq!(worse(&Cell::Failed, Cell::Clean), Cell::Failed);
    }
}
