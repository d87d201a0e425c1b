//! What a bench run measured, as people read it: a table on the terminal, and the
//! same as Markdown.

use crate::compare::{Change, Comparison, Verdict};
use crate::measure::{Side, gigabytes_per_second};
use crate::report::bench::{BenchReport, Case};
use crate::report::table::{self, BAD, FAINT, GOOD, HEADING, UNSURE};
use crate::run::Status;
use crate::scoreboard::Row;
use anstyle::Style;
use std::io::{self, Write};

/// A table of words. Columns that are empty in every row are left out.
pub struct Grid {
    headings: Vec<&'static str>,
    /// Columns of words, which start on the left; numbers end on the right.
    words: &'static [usize],
    rows: Vec<Vec<String>>,
}

impl Grid {
    fn new(headings: &[&'static str], words: &'static [usize]) -> Self {
        Self {
            headings: headings.to_vec(),
            words,
            rows: Vec::new(),
        }
    }

    /// Widths of the columns that are not empty.
    fn widths(&self) -> Vec<Option<usize>> {
        let width = |text: &str| text.chars().count();
        (0..self.headings.len())
            .map(|column| {
                let widest = self.rows.iter().map(|row| width(&row[column])).max()?;
                (widest > 0).then(|| widest.max(width(self.headings[column])))
            })
            .collect()
    }

    /// For a terminal; `style` is that of a row's cell.
    pub fn write(
        &self,
        out: &mut dyn Write,
        style: impl Fn(usize, usize) -> Style,
    ) -> io::Result<()> {
        let widths = self.widths();
        let headings = self.headings.iter().map(|heading| (*heading).to_owned());
        self.write_row(out, &widths, &headings.collect::<Vec<_>>(), |_| HEADING)?;
        for (index, row) in self.rows.iter().enumerate() {
            self.write_row(out, &widths, row, |column| style(index, column))?;
        }
        Ok(())
    }

    fn write_row(
        &self,
        out: &mut dyn Write,
        widths: &[Option<usize>],
        cells: &[String],
        style: impl Fn(usize) -> Style,
    ) -> io::Result<()> {
        let mut line = String::from(" ");
        for (column, cell) in cells.iter().enumerate() {
            let Some(width) = widths[column] else {
                continue;
            };
            let style = style(column);
            let padding = " ".repeat(width - cell.chars().count());
            if self.words.contains(&column) {
                line.push_str(&format!(" {style}{cell}{style:#}{padding} "));
            } else {
                line.push_str(&format!(" {padding}{style}{cell}{style:#} "));
            }
        }
        writeln!(out, "{}", line.trim_end())
    }

    /// As Markdown, with a line end after each row.
    pub fn markdown(&self) -> String {
        let is_shown: Vec<bool> = self.widths().iter().map(Option::is_some).collect();
        let row = |cells: Vec<&str>| {
            let shown = cells.iter().zip(&is_shown).filter(|(_, shown)| **shown);
            let cells: Vec<_> = shown.map(|(cell, _)| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = (0..self.headings.len()).map(|column| match column {
            column if self.words.contains(&column) => "---",
            _ => "---:",
        });
        let mut text = row(self.headings.clone()) + &row(rule.collect());
        for cells in &self.rows {
            text += &row(cells.iter().map(String::as_str).collect());
        }
        text
    }
}

/// 0.123 ms, 45.6 µs.
pub fn duration(time_ms: f64) -> String {
    if time_ms < 0.1 {
        format!("{:.2} µs", time_ms * 1e3)
    } else {
        format!("{time_ms:.4} ms")
    }
}

fn speed(speed: Option<f64>) -> String {
    speed.map_or_else(String::new, |speed| format!("{speed:.3}"))
}

/// The cases, each that was also timed in a row followed by itself in that row.
fn with_rows(cases: &[Case]) -> Vec<Case> {
    let both = cases
        .iter()
        .flat_map(|case| [Some(case.clone()), case.in_row()]);
    both.flatten().collect()
}

/// The cases. Every `×` is how many times as fast the kernel is.
pub fn cases(cases: &[Case]) -> Grid {
    let mut grid = Grid::new(
        &[
            "kernel",
            "shape",
            "time",
            "±",
            "GB/s",
            "× copy",
            "× copy kernel",
            "× CUDA C++",
            "× CUB",
            "× cuBLAS",
            "× clearing",
            "remarks",
        ],
        &[0, 1, 11],
    );
    for case in cases {
        let times = case.times.get(&Side::Kernel);
        let median_ms = case.median_ms();
        let rate = median_ms.filter(|_| case.bytes != 0);
        grid.rows.push(vec![
            case.kernel.clone(),
            case.shape.replace('x', "×"),
            median_ms.map_or_else(String::new, duration),
            times.map_or_else(String::new, |times| {
                format!("{:.1}%", 100.0 * times.spread())
            }),
            rate.map_or_else(String::new, |ms| {
                format!("{:.0}", gigabytes_per_second(case.bytes, ms))
            }),
            speed(case.speed_of(Side::Copy)),
            speed(case.speed_of(Side::CopyKernel)),
            speed(case.speed_of(Side::Twin)),
            speed(case.speed_of(Side::Cub)),
            speed(case.speed_of_cublas()),
            speed(case.speed_of(Side::Clear)),
            remarks(case),
        ]);
    }
    grid
}

fn remarks(case: &Case) -> String {
    let mut remarks = Vec::new();
    match case.status {
        Status::Passed if !case.out_of_cache => remarks.push("in L2".to_owned()),
        Status::Passed => {}
        status => remarks.push(status.words().to_owned()),
    }
    if case.times_in_row.is_empty() && case.n_in_row > 0 {
        remarks.push(format!("one of {} in a row", case.n_in_row));
    } else if case.n_late > 0 {
        remarks.push(format!("host late {} times", case.n_late));
    }
    remarks.join(", ")
}

/// The targets.
pub fn scoreboard(rows: &[Row]) -> Grid {
    let mut grid = Grid::new(
        &[
            "target", "ratio to", "wanted", "measured", "±", "verdict", "by",
        ],
        &[0, 1, 5, 6],
    );
    for row in rows {
        let sign = if row.more_is_better { "≥" } else { "≤" };
        grid.rows.push(vec![
            row.item.clone(),
            row.relative_to.clone(),
            format!("{sign} {}", number(row.target)),
            row.measured.map_or_else(|| "–".to_owned(), number),
            row.spread
                .map_or_else(String::new, |spread| format!("{:.1}%", 100.0 * spread)),
            row.verdict().to_owned(),
            row.at.clone().unwrap_or_default(),
        ]);
    }
    grid
}

/// 1.015, 2.67·10¹².
fn number(value: f64) -> String {
    if value < 1e6 {
        return format!("{value:.3}");
    }
    let exponent = value.log10().floor() as i32;
    let digits: String = exponent
        .to_string()
        .chars()
        .filter_map(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit.to_digit(10)? as usize))
        .collect();
    format!("{:.2}·10{digits}", value / 10f64.powi(exponent))
}

/// Writes everything about a run.
pub fn write(out: &mut dyn Write, report: &BenchReport) -> io::Result<()> {
    let plain = |_, _| Style::new();
    let shown = with_rows(&report.cases);
    cases(&shown).write(out, |row, column| match shown[row].status {
        Status::Failed if column == 11 => BAD,
        Status::NotRun if column == 11 => UNSURE,
        _ if column == 3 || column == 11 => FAINT,
        _ => Style::new(),
    })?;
    for case in report
        .cases
        .iter()
        .filter(|case| case.status != Status::Passed)
    {
        table::write_trouble(
            out,
            case.status,
            &case.kernel,
            &case.shape,
            case.reason.as_deref(),
        )?;
    }
    if let Some(times) = report.empty_launch {
        writeln!(
            out,
            "\n{} of each time are the launch itself: that is what one that does nothing takes{}",
            duration(times.median_ms),
            report
                .empty_launch_in_row
                .map_or_else(String::new, |times| format!(
                    "; one of many in a row, {}",
                    duration(times.median_ms)
                ))
        )?;
    }
    write_twins(out, report)?;
    writeln!(
        out,
        "\n{HEADING}Targets{HEADING:#}, by the kernels and shapes of this run"
    )?;
    let rows = &report.scoreboard;
    scoreboard(rows).write(out, |row, column| match rows[row].is_reached() {
        Some(true) if column == 5 => GOOD,
        Some(false) if column == 5 => BAD,
        None if column == 5 => UNSURE,
        _ => plain(row, column),
    })
}

/// The kernels that are slower than their twins, the worst first, and the mean.
fn write_twins(out: &mut dyn Write, report: &BenchReport) -> io::Result<()> {
    /// Enough to see where to look.
    const N_SHOWN: usize = 10;
    let twins = &report.twins;
    let Some(mean) = twins.geometric_mean else {
        return Ok(());
    };
    writeln!(
        out,
        "\n{HEADING}Beside CUDA C++{HEADING:#}: {} kernels, geometric mean {mean:.4}; the slowest:",
        twins.n_kernels
    )?;
    for twin in twins.slowest.iter().take(N_SHOWN) {
        writeln!(out, "  {:.3} {} {}", twin.speed, twin.kernel, twin.shape)?;
    }
    Ok(())
}

/// Writes what has changed since another run.
pub fn write_comparison(
    out: &mut dyn Write,
    name: &str,
    comparison: &Comparison<'_>,
) -> io::Result<()> {
    writeln!(out, "\n{HEADING}Since `{name}`{HEADING:#}")?;
    let mut grid = Grid::new(
        &["kernel", "shape", "× before", "noise", "verdict"],
        &[0, 1, 4],
    );
    for (case, change) in &comparison.changes {
        grid.rows.push(vec![
            case.kernel.clone(),
            case.shape.replace('x', "×"),
            format!("{:.3}", change.speed),
            format!("±{:.1}%", 100.0 * change.band),
            change.verdict.words().to_owned(),
        ]);
    }
    let changes: Vec<&Change> = comparison
        .changes
        .iter()
        .map(|(_, change)| change)
        .collect();
    grid.write(out, |row, column| match changes[row].verdict {
        Verdict::Faster if column == 4 => GOOD,
        Verdict::Slower if column == 4 => BAD,
        Verdict::Same if column == 4 => FAINT,
        _ => Style::new(),
    })?;
    writeln!(
        out,
        "\n{} faster, {} slower, {} the same within noise; {} only in this run, {} only in that one",
        comparison.n_of(Verdict::Faster),
        comparison.n_of(Verdict::Slower),
        comparison.n_of(Verdict::Same),
        comparison.n_new,
        comparison.n_gone
    )?;
    if let Some(drift) = comparison.drift {
        writeln!(
            out,
            "the copies beside them: {drift:.3} × before, which is the machine's own drift"
        )?;
    }
    Ok(())
}

/// The whole report as Markdown.
pub fn markdown(report: &BenchReport) -> String {
    let driver = report.machine.driver.as_deref().unwrap_or("unknown");
    let peers: Vec<_> = report
        .peers
        .iter()
        .map(|peer| match (&peer.version, &peer.absent) {
            (Some(version), _) => format!("{} {version}", peer.name),
            (None, Some(why)) => format!("{} absent: {why}", peer.name),
            (None, None) => peer.name.clone(),
        })
        .collect();
    format!(
        "{}, driver for CUDA {driver}, commit {}. {}.\n\n{}\n{}",
        report.device,
        report.commit,
        peers.join("; "),
        scoreboard(&report.scoreboard).markdown(),
        cases(&with_rows(&report.cases)).markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::{cases, duration, markdown, number, with_rows, write, write_comparison};
    use crate::compare::Comparison;
    use crate::measure::Side;
    use crate::report::bench::tests::{case, report};
    use crate::run::Status;

    fn printed(print: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        print(&mut out);
        anstream::adapter::strip_str(&String::from_utf8(out).expect("text")).to_string()
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(number(1.015), "1.015");
        assert_eq!(number(2.674e12), "2.67·10¹²");
        assert_eq!(duration(0.0123), "12.30 µs");
        assert_eq!(duration(1.5), "1.5000 ms");
    }

    #[test]
    fn columns_without_a_figure_are_left_out() {
        let with = |side| vec![case("l", "k", "8x8", &[(Side::Kernel, 1.0), (side, 2.0)])];
        let text = cases(&with(Side::Cub)).markdown();
        assert!(
            text.contains("× CUB") && !text.contains("× CUDA C++"),
            "{text}"
        );
        assert!(text.contains("2.000"), "{text}");
        assert!(cases(&with(Side::Twin)).markdown().contains("× CUDA C++"));
    }

    #[test]
    fn a_run_names_what_failed_the_slowest_twin_and_the_targets() {
        let mut wrong = case("l", "broken", "8", &[]);
        wrong.status = Status::Failed;
        wrong.reason = Some("1 of 8 elements".to_owned());
        let good = case("l", "fine", "8", &[(Side::Kernel, 1.0), (Side::Twin, 0.9)]);
        let report = report(vec![wrong, good]);
        let text = printed(|out| write(out, &report).expect("memory"));
        for part in [
            "FAILED: broken 8",
            "1 of 8 elements",
            "3.00 µs of each time",
            "geometric mean 0.9000",
            "0.900 fine",
            "missed",
            "not measured",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(markdown(&report).contains("| A GPU") || markdown(&report).starts_with("A GPU"));
    }

    #[test]
    fn a_short_kernel_has_a_line_for_one_alone_and_one_for_one_in_a_row() {
        let mut short = case("l", "k", "8", &[(Side::Kernel, 0.004), (Side::Cub, 0.004)]);
        let in_row = case("l", "k", "8", &[(Side::Kernel, 0.001), (Side::Cub, 0.002)]);
        short.times_in_row = in_row.times;
        short.n_in_row = 50;
        let text = cases(&with_rows(&[short])).markdown();
        let lines: Vec<_> = text.lines().skip(2).collect();
        assert!(
            lines[0].contains("1.000") && !lines[0].contains("in a row"),
            "{text}"
        );
        assert!(
            lines[1].contains("2.000") && lines[1].contains("one of 50 in a row"),
            "{text}"
        );
    }

    #[test]
    fn a_comparison_says_what_became_slower() {
        let with = |ms| report(vec![case("l", "k", "8", &[(Side::Kernel, ms)])]);
        let (old, new) = (with(1.0), with(1.5));
        let comparison = Comparison::of(&old, &new);
        let text = printed(|out| write_comparison(out, "base", &comparison).expect("memory"));
        assert!(
            text.contains("SLOWER") && text.contains("1 slower"),
            "{text}"
        );
    }
}
