//! The results of a bench run for people: a table on the terminal, and as Markdown.

use super::scoreboard::Row;
use crate::report::bench::BenchReport;
use crate::report::compare::{Comparison, Verdict};
use crate::report::grid::{Cell, Column, Grid};
use crate::report::style::{BAD, FAINT, GOOD, HEADING, UNSURE};
use crate::report::table;
use crate::report::width::{Width, indented};
use lesson::Measurement;
use lesson::Status;
use lesson::measure::{Side, gigabytes_per_second};
use std::io::{self, Write};

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

/// The cases; each that was also timed in a row is followed by that measurement.
pub(super) fn with_rows(cases: &[Measurement]) -> Vec<Measurement> {
    let both = cases
        .iter()
        .flat_map(|case| [Some(case.clone()), case.in_row()]);
    both.flatten().collect()
}

/// The cases. Every `×` is the kernel's speed relative to something else.
pub fn cases(cases: &[Measurement]) -> Grid {
    let mut grid = Grid::new(&[
        Column::words("kernel"),
        Column::words("shape"),
        Column::numbers("time"),
        Column::numbers("±"),
        Column::numbers("GB/s"),
        Column::numbers("TFLOP/s"),
        Column::numbers("× copy"),
        Column::numbers("× copy kernel"),
        Column::numbers("× CUDA C++"),
        Column::numbers("× CUB"),
        Column::numbers("× cuBLAS"),
        Column::numbers("× cuBLASLt"),
        Column::numbers("× clearing"),
        Column::words("remarks").below(),
    ]);
    for case in cases {
        let times = case.times.get(&Side::Kernel);
        let spread = times.map(|times| format!("{:.1}%", 100.0 * times.spread()));
        let median_ms = case.median_ms();
        let rate = median_ms
            .filter(|_| case.bytes != 0)
            .map(|ms| format!("{:.0}", gigabytes_per_second(case.bytes, ms)));
        let remarks_style = match case.status {
            Status::Failed => BAD,
            Status::NotRun => UNSURE,
            Status::Passed => FAINT,
        };
        grid.row(vec![
            case.kernel.clone().into(),
            case.shape.replace('x', "×").into(),
            median_ms.map_or_else(String::new, duration).into(),
            Cell::new(spread.unwrap_or_default(), FAINT),
            rate.unwrap_or_default().into(),
            computed(case).into(),
            speed(case.speed_of(Side::Copy)).into(),
            speed(case.speed_of(Side::CopyKernel)).into(),
            speed(case.speed_of(Side::Baseline)).into(),
            speed(case.speed_of(Side::Cub)).into(),
            speed(case.speed_of_cublas()).into(),
            speed(case.ratio_to(Side::CublasLt).map(|ratio| ratio.median)).into(),
            speed(case.speed_of(Side::Clear)).into(),
            Cell::new(remarks(case), remarks_style),
        ]);
    }
    grid
}

/// 10¹² operations per second where they matter: compared with a library for products.
fn computed(case: &Measurement) -> String {
    let beside = case.times.contains_key(&Side::CublasLt);
    let speed = case.teraflops(Side::Kernel).filter(|_| beside);
    speed.map_or_else(String::new, |speed| format!("{speed:.1}"))
}

fn remarks(case: &Measurement) -> String {
    let mut remarks = Vec::new();
    match case.status {
        Status::Passed if !case.out_of_cache => remarks.push("in L2".to_owned()),
        Status::Passed => {}
        status => remarks.push(status.words().to_owned()),
    }
    if case.times_in_row.is_empty() && case.n_in_row > 0 {
        remarks.push(format!("back to back, {} in a graph", case.n_in_row));
    } else if case.n_late > 0 {
        remarks.push(format!("host late {} times", case.n_late));
    }
    if let Some(speed) = case.teraflops(Side::CublasLt) {
        remarks.push(beside_cublaslt(case, speed));
    }
    remarks.join(", ")
}

/// cuBLASLt's speed, and the board's clock and power meanwhile: where power is the limit, the
/// clock is below its maximum, and only ratios are meaningful.
fn beside_cublaslt(case: &Measurement, speed: f64) -> String {
    let mut text = format!("cuBLASLt {speed:.1} TFLOP/s");
    if let Some(choice) = case.choices.get(&Side::CublasLt) {
        text += &format!(" ({choice})");
    }
    let sensors = case.sensors.unwrap_or_default();
    if let Some(mhz) = sensors.sm_clock_mhz {
        text += &format!(", {mhz} MHz");
    }
    if let Some(watts) = sensors.power_w {
        text += &format!(", {watts:.0} W");
    }
    text
}

/// The targets.
pub fn scoreboard(rows: &[Row]) -> Grid {
    let mut grid = Grid::new(&[
        Column::words("target"),
        Column::words("ratio to").below(),
        Column::numbers("wanted"),
        Column::numbers("measured"),
        Column::numbers("±"),
        Column::words("verdict"),
        Column::words("by").below(),
    ]);
    for row in rows {
        let sign = if row.more_is_better { "≥" } else { "≤" };
        let spread = row.spread.map(|spread| format!("{:.1}%", 100.0 * spread));
        let verdict_style = match row.is_reached() {
            Some(true) => GOOD,
            Some(false) => BAD,
            None => UNSURE,
        };
        grid.row(vec![
            row.item.clone().into(),
            row.relative_to.clone().into(),
            format!("{sign} {}", number(row.target)).into(),
            row.measured.map_or_else(|| "–".to_owned(), number).into(),
            spread.unwrap_or_default().into(),
            Cell::new(row.verdict(), verdict_style),
            row.at.clone().unwrap_or_default().into(),
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
pub fn write(out: &mut dyn Write, report: &BenchReport, width: Width) -> io::Result<()> {
    cases(&with_rows(&report.cases)).write(out, width)?;
    for case in report
        .cases
        .iter()
        .filter(|case| case.status != Status::Passed)
    {
        let reason = case.reason.as_deref();
        table::write_trouble(out, case.status, &case.kernel, &case.shape, reason, width)?;
    }
    if let Some(times) = report.empty_launch {
        let in_row = report.empty_launch_in_row.map(|times| {
            let time = duration(times.median_ms);
            format!("; back to back in a graph, {time}")
        });
        let text = format!(
            "\n{} of each time is the launch itself: an empty launch takes that long{}",
            duration(times.median_ms),
            in_row.unwrap_or_default()
        );
        writeln!(out, "{}", indented(&text, 0, width.prose()))?;
    }
    write_beside_baselines(out, report)?;
    writeln!(
        out,
        "\n{HEADING}Targets{HEADING:#}, by the kernels and shapes of this run"
    )?;
    scoreboard(&report.scoreboard).write(out, width)
}

/// The kernels that are slower than their baselines, the slowest first, and the mean.
fn write_beside_baselines(out: &mut dyn Write, report: &BenchReport) -> io::Result<()> {
    /// Enough to see where to look.
    const N_SHOWN: usize = 10;
    let beside = &report.beside_baselines;
    let Some(mean) = beside.geometric_mean else {
        return Ok(());
    };
    writeln!(
        out,
        "\n{HEADING}Against CUDA C++{HEADING:#}: {} kernels, geometric mean {mean:.4}\nThe slowest:",
        beside.n_kernels
    )?;
    for case in beside.slowest.iter().take(N_SHOWN) {
        writeln!(out, "  {:.3} {} {}", case.speed, case.kernel, case.shape)?;
    }
    Ok(())
}

/// Writes what has changed since another run.
pub fn write_comparison(
    out: &mut dyn Write,
    name: &str,
    comparison: &Comparison<'_>,
    width: Width,
) -> io::Result<()> {
    writeln!(out, "\n{HEADING}Since `{name}`{HEADING:#}")?;
    let mut grid = Grid::new(&[
        Column::words("kernel"),
        Column::words("shape"),
        Column::numbers("× before"),
        Column::numbers("noise"),
        Column::words("verdict"),
    ]);
    for (case, change) in &comparison.changes {
        let style = match change.verdict {
            Verdict::Faster => GOOD,
            Verdict::Slower => BAD,
            Verdict::Same => FAINT,
        };
        grid.row(vec![
            case.kernel.clone().into(),
            case.shape.replace('x', "×").into(),
            format!("{:.3}", change.speed).into(),
            format!("±{:.1}%", 100.0 * change.band).into(),
            Cell::new(change.verdict.words(), style),
        ]);
    }
    grid.write(out, width)?;
    let mut summary = format!(
        "\n{} faster, {} slower, {} the same within noise; {} only in this run, {} only in that one",
        comparison.n_of(Verdict::Faster),
        comparison.n_of(Verdict::Slower),
        comparison.n_of(Verdict::Same),
        comparison.n_new,
        comparison.n_gone
    );
    if let Some(drift) = comparison.drift {
        summary += &format!(
            "\nthe copies alongside: {drift:.3} × before, which is the machine's own drift"
        );
    }
    writeln!(out, "{}", indented(&summary, 0, width.prose()))
}

/// The whole report as Markdown.
pub fn markdown(report: &BenchReport) -> String {
    let driver = report.machine.driver.as_deref().unwrap_or("unknown");
    let baselines: Vec<_> = report
        .baselines
        .iter()
        .map(|baseline| match (&baseline.version, &baseline.absent) {
            (Some(version), _) => format!("{} {version}", baseline.name),
            (None, Some(why)) => format!("{} absent: {why}", baseline.name),
            (None, None) => baseline.name.clone(),
        })
        .collect();
    format!(
        "{}, driver for CUDA {driver}, commit {}. {}.\n\n{}\n{}",
        report.device,
        report.commit,
        baselines.join("; "),
        scoreboard(&report.scoreboard).markdown(),
        cases(&with_rows(&report.cases)).markdown()
    )
}

#[cfg(test)]
mod tests {
    use super::{cases, duration, markdown, number, with_rows, write, write_comparison};
    use crate::report::bench::tests::{case, report};
    use crate::report::compare::Comparison;
    use crate::report::width::{Width, columns_of};
    use lesson::Status;
    use lesson::measure::Side;

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
        assert!(text.contains("× CUB") && text.contains("2.000"), "{text}");
        assert!(!text.contains("× CUDA C++"), "{text}");
        let text = cases(&with(Side::Baseline)).markdown();
        assert!(text.contains("× CUDA C++"), "{text}");
    }

    #[test]
    fn a_run_names_what_failed_the_slowest_beside_its_baseline_and_the_targets() {
        let mut wrong = case("l", "broken", "8", &[]);
        wrong.status = Status::Failed;
        wrong.reason = Some("1 of 8 elements".to_owned());
        let sides = [(Side::Kernel, 1.0), (Side::Baseline, 0.9)];
        let good = case("l", "fine", "8", &sides);
        let report = report(vec![wrong, good]);
        let text = printed(|out| write(out, &report, Width::PIPE).expect("memory"));
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
            lines[0].contains("1.000") && lines[1].contains("2.000"),
            "{text}"
        );
        assert!(!lines[0].contains("back to back"), "{text}");
        assert!(lines[1].contains("back to back, 50 in a graph"), "{text}");
    }

    #[test]
    fn a_comparison_says_what_became_slower() {
        let with = |ms| report(vec![case("l", "k", "8", &[(Side::Kernel, ms)])]);
        let (old, new) = (with(1.0), with(1.5));
        let comparison = Comparison::of(&old, &new);
        let text =
            printed(|out| write_comparison(out, "base", &comparison, Width::PIPE).expect("memory"));
        let is_told = text.contains("SLOWER") && text.contains("1 slower");
        assert!(is_told, "{text}");
    }

    /// The committed results, of all kernels, at several widths: no line is longer, all
    /// kernels and targets are there, and nothing is left out of a file.
    #[test]
    fn a_whole_run_fits_every_width() {
        let path = "../bench/results/h200/bench.json";
        let report = crate::report::bench::BenchReport::read(path.as_ref()).expect("a report");
        for width in [Width::of(60), Width::of(80), Width::of(120), Width::PIPE] {
            let text = printed(|out| write(out, &report, width).expect("memory"));
            let columns = width.columns();
            let long: Vec<_> = text.lines().filter(|l| columns_of(l) > columns).collect();
            // Prose of pipes stays in whole lines.
            let long = long
                .iter()
                .filter(|line| !line.contains(" of each time is "));
            assert_eq!(long.count(), 0, "{columns}:\n{text}");
            for case in &report.cases {
                assert!(text.contains(&case.kernel), "{}", case.kernel);
                if let Some(time_ms) = case.median_ms() {
                    assert!(text.contains(&duration(time_ms)), "{}", case.kernel);
                }
            }
            for row in &report.scoreboard {
                assert!(text.contains(row.verdict()), "{}", row.item);
            }
        }
    }
}
