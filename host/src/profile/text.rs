//! A profile on a terminal: a table, the verdicts, the source with its heat.

use super::hardware::Figure;
use super::verdict::verdicts;
use super::{Profile, Row, Space, sources};
use crate::report::table::{BAD, FAINT, GOOD, HEADING, grouped};
use anstyle::{AnsiColor, Style};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Needed work.
const NEEDED: Style = AnsiColor::Cyan.on_default();
/// Characters of the longest bar.
const BAR: usize = 24;
/// Lines shown before and after a line with memory work.
const CONTEXT: u32 = 2;

/// Writes the whole profile.
pub fn write(
    out: &mut dyn Write,
    profile: &Profile,
    figures: &[Figure],
    command: &str,
) -> io::Result<()> {
    heading(out, profile)?;
    table(out, profile)?;
    writeln!(out)?;
    say_verdicts(out, profile)?;
    listing(out, profile)?;
    writeln!(out)?;
    hardware(out, figures, command)
}

fn heading(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let launches = match profile.n_launches {
        1 => String::new(),
        n => format!("{n} launches, the first of "),
    };
    writeln!(
        out,
        "{HEADING}{}{HEADING:#} at {}: {}",
        profile.kernel, profile.shape, profile.technique
    )?;
    writeln!(
        out,
        "{FAINT}{launches}{}; {} for {}{FAINT:#}",
        profile.geometry, profile.module, profile.target
    )?;
    for (entry, n_launches) in &profile.others {
        writeln!(
            out,
            "{FAINT}not in here: {n_launches} × {entry}, launched with it{FAINT:#}"
        )?;
    }
    writeln!(out)
}

/// The headings, over the cells of [`cells`].
const HEADINGS: [&str; 9] = [
    "source",
    "PTX line",
    "instruction",
    "executed",
    "wavefronts",
    "ideal",
    "n-way",
    "sectors/request",
    "ideal",
];

fn table(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let rows: Vec<[String; 9]> = profile.rows.iter().map(cells).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells
            .max()
            .unwrap_or(0)
            .max(HEADINGS[column].chars().count())
    };
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let mut line = |cells: &[&str; 9], styles: [Style; 9]| {
        let mut text = String::new();
        for (column, (cell, style)) in cells.iter().zip(styles).enumerate() {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            let (before, after) = if matches!(column, 0 | 2) {
                ("", &*padding)
            } else {
                (&*padding, "")
            };
            text.push_str(&format!("{before}{style}{cell}{style:#}{after}  "));
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(&HEADINGS, [HEADING; 9])?;
    for (row, cells) in profile.rows.iter().zip(&rows) {
        let mut styles = [Style::new(); 9];
        styles[1] = FAINT;
        if row.wavefronts > row.ideal_wavefronts {
            styles[4] = BAD;
            styles[6] = BAD;
        }
        if row.sectors > row.ideal_sectors {
            styles[7] = BAD;
        }
        line(&cells.each_ref().map(String::as_str), styles)?;
    }
    let sum = |of: fn(&Row) -> u64| profile.rows.iter().map(of).sum::<u64>();
    writeln!(
        out,
        "{FAINT}total{FAINT:#}  wavefronts {} (ideal {}), bank conflicts {}, sectors {} (ideal {})",
        grouped(sum(|row| row.wavefronts)),
        grouped(sum(|row| row.ideal_wavefronts)),
        grouped(sum(|row| row.conflicts)),
        grouped(sum(|row| row.sectors)),
        grouped(sum(|row| row.ideal_sectors)),
    )
}

fn cells(row: &Row) -> [String; 9] {
    let none = || "–".to_owned();
    let in_shared = row.wavefronts > 0 || row.space == Space::Shared;
    let in_sectors = row.space != Space::Shared;
    let when = |holds: bool, text: String| if holds { text } else { none() };
    [
        source(row),
        row.ptx_line.to_string(),
        short(&row.opcode),
        grouped(row.executions),
        when(in_shared, grouped(row.wavefronts)),
        when(in_shared, grouped(row.ideal_wavefronts)),
        when(in_shared, row.ways.to_string()),
        when(in_sectors, per_request(row.sectors, row)),
        when(in_sectors, per_request(row.ideal_sectors, row)),
    ]
}

/// The kernel's line, and the inlined function's behind it.
fn source(row: &Row) -> String {
    let Some(line) = &row.line else {
        return "?".to_owned();
    };
    match &row.written_at {
        Some(at) => format!("{} ({})", line.short(), at.short()),
        None => line.short(),
    }
}

/// Without the parts of a long opcode that never differ.
fn short(opcode: &str) -> String {
    opcode
        .replace(".sync.aligned.m8n8", "")
        .replace(".shared.b16", "")
        .replace(".shared.global", "")
}

fn per_request(sectors: u64, row: &Row) -> String {
    if row.requests == 0 {
        return "–".to_owned();
    }
    let text = format!("{:.2}", sectors as f64 / row.requests as f64);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn say_verdicts(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let verdicts = verdicts(profile);
    if profile.rows.is_empty() {
        writeln!(out, "It accesses no memory but its parameters.")?;
    } else if verdicts.is_empty() {
        writeln!(
            out,
            "{GOOD}Nothing wasted{GOOD:#}: no bank conflicts, and every byte of every sector is used."
        )?;
    }
    for verdict in verdicts {
        writeln!(
            out,
            "{BAD}{}{BAD:#}: {HEADING}{}{HEADING:#}:\n  {}.",
            verdict.place, verdict.finding, verdict.advice
        )?;
    }
    Ok(())
}

fn listing(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let total = profile.work();
    if total == 0 {
        return Ok(());
    }
    let mut files: BTreeMap<&str, Vec<(u32, u64, u64)>> = BTreeMap::new();
    let lines = profile.lines();
    for (place, &(work, wasted)) in &lines {
        let lines = files.entry(&place.file).or_default();
        lines.push((place.line, work, wasted));
    }
    let most = lines.values().map(|&(work, _)| work).max().unwrap_or(1);
    // The lesson's own file first.
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(file, _)| *file != profile.source);
    for (file, hot) in files {
        writeln!(out)?;
        let Some(text) = sources::text(file) else {
            writeln!(out, "{FAINT}{file}: its text is not here{FAINT:#}")?;
            for (line, work, wasted) in hot {
                writeln!(out, "{} {line}", heat(work, wasted, total, most))?;
            }
            continue;
        };
        writeln!(
            out,
            "{FAINT}{:>width$}{FAINT:#}  {HEADING}{file}{HEADING:#}",
            "share of wavefronts and sectors",
            width = BAR + 5
        )?;
        let source: Vec<&str> = text.lines().collect();
        let mut shown_to = 0;
        for (index, &(line, ..)) in hot.iter().enumerate() {
            let last = line + CONTEXT;
            let first = line.saturating_sub(CONTEXT).max(shown_to + 1);
            if shown_to > 0 && first > shown_to + 1 {
                writeln!(out, "{:>width$}  {FAINT}⋮{FAINT:#}", "", width = BAR + 5)?;
            }
            let next = hot.get(index + 1).map_or(u32::MAX, |&(line, ..)| line);
            for number in first..=last.min(source.len() as u32).min(next - 1) {
                let code = source[number as usize - 1];
                let margin = match hot.iter().find(|&&(line, ..)| line == number) {
                    Some(&(_, work, wasted)) => heat(work, wasted, total, most),
                    None => " ".repeat(BAR + 5),
                };
                let style = if number == line { Style::new() } else { FAINT };
                writeln!(
                    out,
                    "{margin} {FAINT}{number:>4}{FAINT:#} {style}{code}{style:#}"
                )?;
                shown_to = number;
            }
        }
    }
    writeln!(
        out,
        "{:>width$}  {NEEDED}█{NEEDED:#} needed  {BAD}░{BAD:#} wasted",
        "",
        width = BAR + 5
    )
}

/// A share in percent, and its bar: needed work, then wasted.
fn heat(work: u64, wasted: u64, total: u64, most: u64) -> String {
    let scale = |n: u64| (n as f64 * BAR as f64 / most.max(1) as f64).round() as usize;
    let length = scale(work).max(1);
    let wasted_length = scale(wasted).min(length);
    let needed = length - wasted_length;
    let percent = 100.0 * work as f64 / total as f64;
    format!(
        "{percent:>3.0}% {NEEDED}{}{NEEDED:#}{BAD}{}{BAD:#}{}",
        "█".repeat(needed),
        "░".repeat(wasted_length),
        " ".repeat(BAR - length)
    )
}

fn hardware(out: &mut dyn Write, figures: &[Figure], command: &str) -> io::Result<()> {
    let measured = figures.iter().any(|figure| figure.measured.is_some());
    let widest = figures
        .iter()
        .map(|figure| figure.metric.len())
        .max()
        .unwrap_or(0);
    let heading = if measured {
        "predicted        measured"
    } else {
        "predicted"
    };
    writeln!(
        out,
        "{HEADING}{:widest$}  {heading:>15}{HEADING:#}",
        "the same on a GPU, as Nsight Compute names it"
    )?;
    for figure in figures {
        write!(
            out,
            "{:widest$}  {:>15}",
            figure.metric,
            grouped(figure.predicted)
        )?;
        if let Some(measured) = figure.measured {
            write!(out, " {:>15}", grouped(measured))?;
            if measured == figure.predicted {
                write!(out, "  {GOOD}equal{GOOD:#}")?;
            } else if figure.predicted > 0 {
                let excess = 100.0 * (measured as f64 / figure.predicted as f64 - 1.0);
                write!(out, "  {excess:+.3}%")?;
            }
        }
        writeln!(out)?;
    }
    writeln!(out, "{FAINT}{command}{FAINT:#}")
}
