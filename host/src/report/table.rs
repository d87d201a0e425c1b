//! Results as a table. Columns in which nothing was measured are left out.

use crate::measure::gigabytes_per_second;
use crate::run::{CaseResult, Status};
use anstyle::{AnsiColor, Style};
use std::fmt::Display;
use std::io::{self, Write};

/// Bytes of a sector, the unit in which memory is moved.
const SECTOR_BYTES: u64 = 32;

/// For what passed.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// For what failed.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// For what was not run.
pub const UNSURE: Style = AnsiColor::Yellow.on_default();
/// For headings.
pub const HEADING: Style = Style::new().bold();
/// For what is read second.
pub const FAINT: Style = Style::new().dimmed();

/// The style of a status.
pub const fn style_of(status: Status) -> Style {
    match status {
        Status::Passed => GOOD,
        Status::Failed => BAD,
        Status::NotRun => UNSURE,
    }
}

/// A case that did not pass, and why.
pub fn write_trouble(
    out: &mut dyn Write,
    status: Status,
    kernel: &str,
    shape: &dyn Display,
    reason: Option<&str>,
) -> io::Result<()> {
    let style = style_of(status);
    let reason = reason.unwrap_or("no reason given");
    writeln!(
        out,
        "\n{style}{}{style:#}: {kernel} {shape}\n  {}",
        status.words(),
        reason.replace('\n', "\n  "),
    )
}

struct Column {
    heading: &'static str,
    left: bool,
    cell: fn(&CaseResult) -> Option<String>,
}

const COLUMNS: &[Column] = &[
    Column {
        heading: "kernel",
        left: true,
        cell: |result| Some(result.kernel.to_owned()),
    },
    Column {
        heading: "shape",
        left: true,
        cell: |result| Some(result.shape.to_string()),
    },
    Column {
        heading: "result",
        left: true,
        cell: |result| Some(result.status.words().to_owned()),
    },
    Column {
        heading: "time",
        left: false,
        cell: time,
    },
    Column {
        heading: "GB/s",
        left: false,
        cell: bandwidth,
    },
    Column {
        heading: "of copy",
        left: false,
        cell: share_of_copy,
    },
    Column {
        heading: "× CUDA C++",
        left: false,
        cell: speed_of_peer,
    },
    Column {
        heading: "bank conflicts",
        left: false,
        cell: bank_conflicts,
    },
    Column {
        heading: "per load",
        left: false,
        cell: conflicts_per_load,
    },
    Column {
        heading: "sectors/load",
        left: false,
        cell: sectors_per_load,
    },
    Column {
        heading: "sectors/store",
        left: false,
        cell: sectors_per_store,
    },
    Column {
        heading: "local bytes",
        left: false,
        cell: local_bytes,
    },
];

fn time(result: &CaseResult) -> Option<String> {
    let times = result.figures.times()?;
    let spread = (times.p90_ms - times.p10_ms) / 2.0;
    Some(format!("{:.4} ±{spread:.4} ms", times.median_ms))
}

fn bandwidth(result: &CaseResult) -> Option<String> {
    let bytes = result.figures.work?.bytes;
    let rate = gigabytes_per_second(bytes, result.figures.times()?.median_ms);
    Some(format!("{rate:.0}"))
}

fn share_of_copy(result: &CaseResult) -> Option<String> {
    let copy = result.figures.copy_times()?.median_ms;
    Some(format!(
        "{:.0}%",
        100.0 * copy / result.figures.times()?.median_ms
    ))
}

/// Above 1, the kernel is faster than its twin.
fn speed_of_peer(result: &CaseResult) -> Option<String> {
    let peer = result.figures.peer_times()?.median_ms;
    Some(format!("{:.3}", peer / result.figures.times()?.median_ms))
}

fn bank_conflicts(result: &CaseResult) -> Option<String> {
    let counts = result.figures.counts?;
    let wavefronts = counts.shared_load_wavefronts
        + counts.shared_store_wavefronts
        + counts.shared_atomic_wavefronts
        + counts.ldmatrix_wavefronts
        + counts.stmatrix_wavefronts
        + counts.async_copy_wavefronts;
    let conflicts = counts.shared_load_conflicts
        + counts.shared_store_conflicts
        + counts.shared_atomic_conflicts
        + counts.ldmatrix_conflicts
        + counts.stmatrix_conflicts
        + counts.async_copy_conflicts;
    // Without an access to shared memory there is nothing to be proud of.
    Some(if wavefronts == 0 {
        "–".to_owned()
    } else {
        grouped(conflicts)
    })
}

fn conflicts_per_load(result: &CaseResult) -> Option<String> {
    let counts = result.figures.counts?;
    Some(quotient(
        counts.shared_load_conflicts,
        counts.shared_load_requests,
    ))
}

fn sectors_per_load(result: &CaseResult) -> Option<String> {
    let counts = result.figures.counts?;
    Some(quotient(
        counts.global_load_sectors,
        counts.global_load_requests,
    ))
}

fn sectors_per_store(result: &CaseResult) -> Option<String> {
    let counts = result.figures.counts?;
    Some(quotient(
        counts.global_store_sectors,
        counts.global_store_requests,
    ))
}

fn local_bytes(result: &CaseResult) -> Option<String> {
    let counts = result.figures.counts?;
    Some(grouped(
        (counts.local_load_sectors + counts.local_store_sectors) * SECTOR_BYTES,
    ))
}

/// Two digits after the point, fewer if they are zeros.
fn quotient(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let text = format!("{:.2}", part as f64 / whole as f64);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// 1,015,808.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index != 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes the table, a heading above the cases of each lesson.
pub fn write(out: &mut dyn Write, results: &[CaseResult]) -> io::Result<()> {
    let rows: Vec<Vec<Option<String>>> = results
        .iter()
        .map(|result| COLUMNS.iter().map(|column| (column.cell)(result)).collect())
        .collect();
    // Widths are in characters; all that is printed here is one column wide each.
    let widths: Vec<Option<usize>> = (0..COLUMNS.len())
        .map(|index| {
            let cells = rows.iter().filter_map(|row| row[index].as_ref());
            let widest = cells.map(|cell| cell.chars().count()).max()?;
            Some(widest.max(COLUMNS[index].heading.chars().count()))
        })
        .collect();

    write_row(out, &widths, |index| (COLUMNS[index].heading, HEADING))?;
    let mut lesson = "";
    for (result, row) in results.iter().zip(&rows) {
        if result.lesson != lesson {
            lesson = result.lesson;
            writeln!(out, "{FAINT}{lesson}{FAINT:#}")?;
        }
        let state = style_of(result.status);
        write_row(out, &widths, |index| {
            let style = if COLUMNS[index].heading == "result" {
                state
            } else {
                Style::new()
            };
            (row[index].as_deref().unwrap_or(""), style)
        })?;
        for note in &result.figures.notes {
            writeln!(out, "     {FAINT}{note}{FAINT:#}")?;
        }
    }
    Ok(())
}

fn write_row<'t>(
    out: &mut dyn Write,
    widths: &[Option<usize>],
    cell: impl Fn(usize) -> (&'t str, Style),
) -> io::Result<()> {
    let mut line = String::from(" ");
    for (index, column) in COLUMNS.iter().enumerate() {
        let Some(width) = widths[index] else { continue };
        let (text, style) = cell(index);
        let padding = " ".repeat(width.saturating_sub(text.chars().count()));
        let (before, after) = if column.left {
            ("", &*padding)
        } else {
            (&*padding, "")
        };
        line.push_str(&format!(" {before}{style}{text}{style:#}{after} "));
    }
    writeln!(out, "{}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{grouped, quotient};

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_015_808), "1,015,808");
    }

    #[test]
    fn quotients_are_short() {
        assert_eq!(quotient(62, 2), "31");
        assert_eq!(quotient(5, 2), "2.5");
        assert_eq!(quotient(100, 10), "10");
        assert_eq!(quotient(0, 0), "–");
    }
}
