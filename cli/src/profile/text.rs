//! A profile on a terminal: a table, the verdicts, the source with its heat, the
//! figures to measure, and at the end anything that is wrong with the run.

use super::{Figure, Profile, Row, Space, listing};
use crate::report::grid::{Cell, Column, Grid};
use crate::report::style::{BAD, FAINT, GOOD, HEADING};
use crate::report::table::labelled;
use crate::report::width::{Width, indented, shell, write_styled};
use anstyle::Style;
use lockstep_page::numbers::{grouped, quotient};
use std::io::{self, Write};

/// Writes the whole profile.
pub fn write(out: &mut dyn Write, profile: &Profile, width: Width) -> io::Result<()> {
    heading(out, profile, width)?;
    table(out, profile, width)?;
    writeln!(out)?;
    say_verdicts(out, profile, width)?;
    listing::write(out, profile, width)?;
    writeln!(out)?;
    hardware(out, profile, width)?;
    say_trouble(out, profile, width)
}

fn heading(out: &mut dyn Write, profile: &Profile, width: Width) -> io::Result<()> {
    let title = format!("{} at {}", profile.kernel, profile.shape);
    let title = labelled(&title, HEADING, profile.technique, width.columns());
    writeln!(out, "{title}")?;
    let mut faint = |text: String| write_styled(out, FAINT, &text, width.columns());
    faint(format!(
        "{}{}; {} for {}",
        profile.launches(),
        profile.geometry,
        profile.module,
        profile.target
    ))?;
    for (entry, n_launches) in &profile.others {
        faint(format!(
            "not included: {n_launches} × {entry}, launched with it"
        ))?;
    }
    writeln!(out)
}

const COLUMNS: [Column; 9] = [
    Column::words("source"),
    Column::numbers("PTX line"),
    Column::words("instruction"),
    Column::numbers("executed"),
    Column::numbers("wavefronts"),
    Column::numbers("ideal"),
    Column::numbers("n-way"),
    Column::numbers("sectors/request"),
    Column::numbers("ideal"),
];

fn table(out: &mut dyn Write, profile: &Profile, width: Width) -> io::Result<()> {
    let mut grid = Grid::new(&COLUMNS).with_indent(0);
    for row in &profile.rows {
        grid.row(cells(row));
    }
    grid.write(out, width)?;
    let sum = |of: fn(&Row) -> u64| profile.rows.iter().map(of).sum::<u64>();
    let total = format!(
        "wavefronts {} (ideal {}), bank conflicts {}, sectors {} (ideal {})",
        grouped(sum(|row| row.wavefronts)),
        grouped(sum(|row| row.ideal_wavefronts)),
        grouped(sum(|row| row.conflicts)),
        grouped(sum(|row| row.sectors)),
        grouped(sum(|row| row.ideal_sectors)),
    );
    let total = labelled("total", FAINT, &total, width.columns());
    writeln!(out, "{total}")
}

/// The cells of [`COLUMNS`].
fn cells(row: &Row) -> Vec<Cell> {
    let in_shared = row.wavefronts > 0 || row.space == Space::Shared;
    let in_sectors = row.space != Space::Shared;
    let cell = |holds: bool, is_bad: bool, text: String| {
        let text = if holds { text } else { "–".to_owned() };
        Cell::new(text, if is_bad { BAD } else { Style::new() })
    };
    let has_conflicts = row.wavefronts > row.ideal_wavefronts;
    let is_scattered = row.sectors > row.ideal_sectors;
    let [sectors, ideal_sectors] =
        [row.sectors, row.ideal_sectors].map(|sectors| quotient(sectors, row.requests));
    vec![
        source(row).into(),
        Cell::new(row.ptx_line.to_string(), FAINT),
        short(&row.opcode).into(),
        grouped(row.executions).into(),
        cell(in_shared, has_conflicts, grouped(row.wavefronts)),
        cell(in_shared, false, grouped(row.ideal_wavefronts)),
        cell(in_shared, has_conflicts, row.ways.to_string()),
        cell(in_sectors, is_scattered, sectors),
        cell(in_sectors, false, ideal_sectors),
    ]
}

/// The kernel's line, followed by the inlined function's.
fn source(row: &Row) -> String {
    let Some(line) = &row.line else {
        return "?".to_owned();
    };
    match &row.written_at {
        Some(at) => format!("{} ({})", line.short(), at.short()),
        None => line.short(),
    }
}

/// An opcode without the parts of long opcodes that never differ.
fn short(opcode: &str) -> String {
    opcode
        .replace(".sync.aligned.m8n8", "")
        .replace(".shared.b16", "")
        .replace(".shared.global", "")
}

fn say_verdicts(out: &mut dyn Write, profile: &Profile, width: Width) -> io::Result<()> {
    let columns = width.columns();
    if profile.rows.is_empty() {
        writeln!(out, "It accesses no memory but its parameters.")?;
    } else if profile.verdicts.is_empty() {
        let text = "no bank conflicts, and no more sectors than the accesses need.";
        writeln!(out, "{}", labelled("Nothing wasted", GOOD, text, columns))?;
    }
    for verdict in &profile.verdicts {
        let finding = labelled(&verdict.place, BAD, &verdict.finding, columns);
        writeln!(out, "{finding}:")?;
        writeln!(out, "{}.", indented(verdict.advice, 2, columns - 1))?;
    }
    Ok(())
}

fn hardware(out: &mut dyn Write, profile: &Profile, width: Width) -> io::Result<()> {
    writeln!(out, "The same on a GPU, by Nsight Compute's names:")?;
    let mut grid = Grid::new(&[
        Column::words("metric"),
        Column::numbers("predicted"),
        Column::numbers("measured"),
        Column::numbers("difference"),
    ])
    .with_indent(0);
    for figure in &profile.hardware {
        let measured = figure.measured.map_or_else(String::new, grouped);
        grid.row(vec![
            figure.metric.into(),
            grouped(figure.predicted).into(),
            measured.into(),
            difference(figure),
        ]);
    }
    grid.write(out, width)?;
    for line in shell(&profile.command, width.columns()).lines() {
        writeln!(out, "{FAINT}{line}{FAINT:#}")?;
    }
    Ok(())
}

fn difference(figure: &Figure) -> Cell {
    match figure.measured {
        Some(measured) if measured == figure.predicted => Cell::new("equal", GOOD),
        Some(measured) if figure.predicted > 0 => {
            let excess = 100.0 * (measured as f64 / figure.predicted as f64 - 1.0);
            Cell::from(format!("{excess:+.3}%"))
        }
        _ => Cell::default(),
    }
}

/// Deviations from what was expected.
fn say_trouble(out: &mut dyn Write, profile: &Profile, width: Width) -> io::Result<()> {
    if profile.is_right() {
        return Ok(());
    }
    writeln!(out)?;
    let mut say =
        |label: &str, text: &str| writeln!(out, "{}", labelled(label, BAD, text, width.prose()));
    if let Some(trouble) = &profile.trouble {
        say(trouble.label(), trouble.reason())?;
    }
    for difference in &profile.differences {
        say("differs from the catalogue", &difference.to_string())?;
    }
    Ok(())
}
