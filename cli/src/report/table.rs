//! Results as a table. Columns in which nothing was measured are left out.

use super::grid::{Cell, Column, Grid};
use super::style::{FAINT, style_of};
use super::width::{Width, indented, wrap};
use anstyle::Style;
use lesson::measure::gigabytes_per_second;
use lesson::{CaseResult, Status};
use lockstep::counts::{SECTOR_BYTES, bank_conflicts, local_sectors, shared_wavefronts};
use lockstep_page::numbers::{grouped, quotient};
use std::fmt::Display;
use std::io::{self, Write};

/// A paragraph that begins with a styled label; all lines but the first are
/// indented by two.
pub fn labelled(label: &str, style: Style, text: &str, columns: usize) -> String {
    const INDENT: usize = 2;
    let lines = wrap(&format!("{label}: {text}"), columns.saturating_sub(INDENT));
    let text = lines.join(&format!("\n{:INDENT$}", ""));
    match text.strip_prefix(label) {
        Some(rest) => format!("{style}{label}{style:#}{rest}"),
        // The label itself was too long.
        None => text,
    }
}

/// A case that did not pass, and why.
pub fn write_trouble(
    out: &mut dyn Write,
    status: Status,
    kernel: &str,
    shape: &dyn Display,
    reason: Option<&str>,
    width: Width,
) -> io::Result<()> {
    let style = style_of(status);
    let reason = reason.unwrap_or("no reason given");
    writeln!(
        out,
        "\n{style}{}{style:#}: {kernel} {shape}\n{}",
        status.words(),
        indented(reason, 2, width.prose()),
    )
}

/// A column, and its cells.
type Figure = (Column, fn(&CaseResult) -> Option<String>);

const FIGURES: &[Figure] = &[
    (Column::words("kernel"), |result| {
        Some(result.kernel.to_owned())
    }),
    (Column::words("shape"), |result| {
        Some(result.shape.to_string())
    }),
    (Column::words("result"), |result| {
        Some(result.status.words().to_owned())
    }),
    (Column::numbers("time"), time),
    (Column::numbers("GB/s"), bandwidth),
    (Column::numbers("of copy"), share_of_copy),
    (Column::numbers("× CUDA C++"), speed_of_baseline),
    (Column::numbers("bank conflicts"), |result| {
        let counts = result.figures.counts.as_ref()?;
        // Without accesses to shared memory, zero conflicts mean nothing.
        Some(match shared_wavefronts(counts) {
            0 => "–".to_owned(),
            _ => grouped(bank_conflicts(counts)),
        })
    }),
    (Column::numbers("per load"), |result| {
        let c = result.figures.counts?;
        Some(quotient(c.shared_load_conflicts, c.shared_load_requests))
    }),
    (Column::numbers("sectors/load"), |result| {
        let c = result.figures.counts?;
        Some(quotient(c.global_load_sectors, c.global_load_requests))
    }),
    (Column::numbers("sectors/store"), |result| {
        let c = result.figures.counts?;
        Some(quotient(c.global_store_sectors, c.global_store_requests))
    }),
    (Column::numbers("local bytes"), |result| {
        let counts = result.figures.counts.as_ref()?;
        Some(grouped(local_sectors(counts) * SECTOR_BYTES))
    }),
];

/// The column whose cells are coloured.
const RESULT: usize = 2;

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

/// Above 1, the kernel is faster than its baseline.
fn speed_of_baseline(result: &CaseResult) -> Option<String> {
    let baseline = result.figures.baseline_times()?.median_ms;
    Some(format!(
        "{:.3}",
        baseline / result.figures.times()?.median_ms
    ))
}

/// Writes the table, a heading above the cases of each lesson.
pub fn write(out: &mut dyn Write, results: &[CaseResult], width: Width) -> io::Result<()> {
    let columns: Vec<Column> = FIGURES.iter().map(|(column, _)| *column).collect();
    let mut grid = Grid::new(&columns);
    let mut lesson = "";
    for result in results {
        if result.lesson != lesson {
            lesson = result.lesson;
            grid.across(0, Cell::new(lesson, FAINT));
        }
        let mut cells: Vec<Cell> = FIGURES
            .iter()
            .map(|(_, figure)| Cell::from(figure(result).unwrap_or_default()))
            .collect();
        cells[RESULT] = Cell::new(result.status.words(), style_of(result.status));
        grid.row(cells);
        for note in &result.figures.notes {
            grid.across(5, Cell::new(note, FAINT));
        }
    }
    grid.write(out, width)
}

#[cfg(test)]
mod tests {
    use super::labelled;
    use crate::report::style::BAD;
    use crate::report::width::{Width, columns_of};
    use lesson::made_up::result;
    use lesson::measure::{Side, Times};
    use lesson::{CaseResult, Status, Work};

    /// A case that a GPU has timed.
    fn timed(kernel: &'static str, shape: &[u32]) -> CaseResult {
        let times = Times::of(&[1.25, 1.26, 1.27]).expect("three runs");
        let mut result = result(kernel, shape, Status::Passed);
        result.figures.work = Some(Work::new(1 << 30, 0));
        result.figures.timings.sides = [Side::Kernel, Side::Copy, Side::Baseline]
            .map(|side| (side, times))
            .to_vec();
        result
    }

    #[test]
    fn times_of_a_gpu_fit_every_width() {
        let results = [
            timed("transpose_coalesced_write_ldg", &[32768, 32769]),
            timed("sgemm_naive", &[4096, 4096, 4096]),
        ];
        for width in [Width::of(60), Width::of(80), Width::of(120), Width::PIPE] {
            let mut out = Vec::new();
            super::write(&mut out, &results, width).expect("memory");
            let text = String::from_utf8(out).expect("UTF-8");
            let text = anstream::adapter::strip_str(&text).to_string();
            let columns = width.columns();
            assert!(
                text.lines().all(|line| columns_of(line) <= columns),
                "{text}"
            );
            for part in [
                "transpose_coalesced_write_ldg",
                "32768×32769",
                "1.2600 ±",
                "1.000",
            ] {
                assert!(text.contains(part), "{part} in {text}");
            }
        }
    }

    #[test]
    fn a_label_is_styled_and_what_follows_is_indented() {
        let text = labelled("memcheck", BAD, "one two three four", 20);
        assert_eq!(text, format!("{BAD}memcheck{BAD:#}: one two\n  three four"));
    }
}
