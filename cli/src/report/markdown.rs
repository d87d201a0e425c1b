//! The generated parts of docs/results.md: the lessons, with the registry's claims and a
//! bench run's measurements, and the targets for speed. Nothing in them is typed
//! by hand.

use crate::report::bench::BenchReport;
use crate::report::{bench_table, scoreboard};
use lesson::Measurement;
use lesson::measure::Side;
use lesson::{KernelEntry, Lesson};
use lockstep::counts::Expectation;
use lockstep_page::numbers::duration;
use std::fmt::Write;

/// The lessons as Markdown, with the times of a run if there is one.
pub fn lessons(lessons: &[&Lesson], report: Option<&BenchReport>) -> String {
    let mut text = String::new();
    if let Some(report) = report {
        let _ = writeln!(
            text,
            "Times: {}, medians of one run of `cargo xtask bench`.\n",
            report.device_and_driver()
        );
    }
    for lesson in lessons {
        let _ = write!(
            text,
            "### {}\n\n{} ([`{}`](../{}))\n\n",
            lesson.title,
            sentence(lesson.idea),
            lesson.source,
            lesson.source
        );
        text.push_str(
            "| kernel | technique | counts, exact by rule | measured |\n|---|---|---|---|\n",
        );
        for kernel in lesson.kernels {
            let counts: Vec<_> = kernel.expected.iter().map(short).collect();
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} |",
                kernel.id,
                kernel.technique.replace('|', "\\|"),
                counts.join(", "),
                report
                    .and_then(|report| measured(kernel, &report.cases))
                    .unwrap_or_default(),
            );
        }
        text.push('\n');
    }
    text
}

/// The targets for speed and a run's measurements, as Markdown.
pub fn speed(report: Option<&BenchReport>) -> String {
    let Some(report) = report else {
        return "No GPU has measured anything yet.\n\n".to_owned();
    };
    let mean = report.beside_baselines.geometric_mean.map(|mean| {
        format!(
            " {} kernels were timed against their CUDA C++ baselines: geometric mean {mean:.3}.",
            report.beside_baselines.n_kernels
        )
    });
    // By the current names of targets; those that the run does not know are left out.
    let mut rows = scoreboard::rows(&report.cases);
    let was_known = |item: &str| report.scoreboard.iter().any(|old| old.item == item);
    rows.retain(|row| row.measured.is_some() || was_known(&row.item));
    format!(
        "{}, all in one run, medians of alternating runs.{}\n\n{}\n",
        report.device_and_driver(),
        mean.unwrap_or_default(),
        bench_table::scoreboard(&rows).markdown()
    )
}

/// The text with a capital letter and a full stop.
pub fn sentence(idea: &str) -> String {
    let mut characters = idea.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    let mut text: String = first.into_iter().flatten().chain(characters).collect();
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}

fn short(expectation: &Expectation) -> String {
    whole(expectation.value, expectation.metric.short())
}

fn whole(value: Option<f64>, metric: &str) -> String {
    match value {
        Some(value) => format!("{value} {metric}"),
        None => format!("no {metric}"),
    }
}

/// The largest timed shape of the kernel.
fn measured(kernel: &KernelEntry, cases: &[Measurement]) -> Option<String> {
    let case = cases
        .iter()
        .filter(|case| case.kernel == kernel.id && case.median_ms().is_some())
        .max_by_key(|case| case.bytes)?;
    let shape = case.shape.replace('x', "×");
    let mut text = format!("{} at {shape}", duration(case.median_ms()?));
    // For kernels that compute more than they move, a copy's speed means nothing.
    let copy = case.speed_of(Side::Copy).filter(|&speed| speed >= 0.01);
    if let Some(speed) = copy {
        let _ = write!(text, ", {:.0}% of a copy's speed", 100.0 * speed);
    }
    for (than, speed) in beside(case) {
        let _ = write!(text, ", {speed:.2} × {than}");
    }
    Some(text)
}

/// The kernel's speed relative to others, as far as they took part.
pub fn beside(case: &Measurement) -> impl Iterator<Item = (&'static str, f64)> {
    let lt = case.ratio_to(Side::CublasLt).map(|ratio| ratio.median);
    let all = [
        ("CUDA C++", case.speed_of(Side::Baseline)),
        ("CUB", case.speed_of(Side::Cub)),
        ("cuBLAS", case.speed_of_cublas()),
        ("cuBLASLt", lt),
    ];
    all.into_iter()
        .filter_map(|(than, speed)| Some((than, speed?)))
}

#[cfg(test)]
mod tests {
    use super::{lessons, speed};
    use crate::report::bench::tests::{case, report};
    use host::registry::LESSONS;
    use lesson::Status;
    use lesson::measure::Side;

    #[test]
    fn every_kernel_has_a_row() {
        let text = lessons(LESSONS, None);
        for registered in host::registry::kernels() {
            assert!(text.contains(&format!("| `{}` |", registered.kernel.id)));
        }
    }

    #[test]
    fn the_largest_shape_that_passed_is_shown() {
        let entry = |shape, bytes, ms, status| {
            let sides = [(Side::Kernel, ms), (Side::Copy, ms / 2.0)];
            let mut entry = case("transpose", "transpose_padded", shape, &sides);
            (entry.bytes, entry.status) = (bytes, status);
            entry
        };
        let report = report(vec![
            entry("64x64", 1, 0.01, Status::Passed),
            entry("512x512", 9, 0.5, Status::Passed),
            entry("1024x1024", 20, 0.6, Status::Failed),
        ]);
        let text = lessons(LESSONS, Some(&report));
        assert!(
            text.contains("| 0.500 ms at 512×512, 50% of a copy's speed |"),
            "{text}"
        );
        assert!(text.contains("A GPU"));
    }

    #[test]
    fn libraries_are_named_and_a_meaningless_copy_is_not() {
        let sides = [
            (Side::Kernel, 1.0),
            (Side::Copy, 0.001),
            (Side::Baseline, 1.1),
            (Side::Cub, 1.02),
        ];
        let report = report(vec![case("reduction", "reduce_fast", "8", &sides)]);
        let text = lessons(LESSONS, Some(&report));
        assert!(
            text.contains("| 1.000 ms at 8, 1.10 × CUDA C++, 1.02 × CUB |"),
            "{text}"
        );
    }

    #[test]
    fn targets_are_shown_with_their_verdicts() {
        assert!(speed(None).contains("No GPU"));
        let sides = [(Side::Kernel, 1.0), (Side::Copy, 1.01)];
        let report = report(vec![case("transpose", "fast", "8192x8192", &sides)]);
        let text = speed(Some(&report));
        let row = "| best transpose, 8192×8192 f32 | device-to-device copy | ≥ 1.000 | 1.010 | 1.0% | reached |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("not measured"));
    }
}
