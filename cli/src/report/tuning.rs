//! The generated parts of the tuning logs (`docs/tuning`): a run's measurements of
//! the kernels that a log names.
//!
//! Left out: the logs themselves, which are history and are not generated.

use crate::report::bench::BenchReport;
use crate::report::bench_table;
use host::registry;
use lesson::Measurement;

const BEGIN: &str = "<!-- times of ";
const WRITTEN: &str = ": written by `cargo xtask readme` -->";
const END: &str = "<!-- end of times -->";

/// A log with a run's times between its markers: those of the first run that has measured the
/// kernels. `<!-- times of a, b: …` stands for the kernels `a` and `b`.
///
/// # Errors
///
/// A marker names a kernel that the catalogue does not have, or has no end.
pub fn with_times(log: &str, reports: &[BenchReport]) -> Result<String, String> {
    let mut text = String::new();
    let mut lines = log.lines();
    while let Some(line) = lines.next() {
        text += line;
        text.push('\n');
        let marker = line.strip_prefix(BEGIN);
        let Some(names) = marker.and_then(|names| names.strip_suffix(WRITTEN)) else {
            continue;
        };
        let names: Vec<&str> = names.split(", ").collect();
        text += &format!("\n{}\n{END}\n", times(&names, reports)?);
        if !lines.any(|line| line == END) {
            return Err(format!("`{line}` has no `{END}`"));
        }
    }
    Ok(text)
}

fn times(names: &[&str], reports: &[BenchReport]) -> Result<String, String> {
    let is_known = |name: &str| registry::kernels().any(|known| known.kernel.id == name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(format!("no lesson has a kernel `{unknown}`"));
    }
    let is_named = |case: &&Measurement| names.contains(&&*case.kernel);
    let mut reports = reports.iter();
    let Some(report) = reports.find(|report| report.cases.iter().any(|case| is_named(&case)))
    else {
        return Ok("No GPU has measured anything yet.\n".to_owned());
    };
    let cases: Vec<Measurement> = report.cases.iter().filter(is_named).cloned().collect();
    let table = bench_table::cases(&bench_table::with_rows(&cases)).markdown();
    Ok(format!(
        "{}, medians of one run.\n\n{table}",
        report.device_and_driver()
    ))
}

#[cfg(test)]
mod tests {
    use super::{END, with_times};
    use crate::report::bench::tests::{case, report};
    use lesson::measure::Side;

    const MARKER: &str = "<!-- times of copy, add: written by `cargo xtask readme` -->";

    #[test]
    fn what_is_between_the_markers_is_replaced() {
        let cases = ["copy", "add_stride", "add"]
            .map(|kernel| case("any", kernel, "64x32", &[(Side::Kernel, 0.5)]));
        let report = self::report(cases.to_vec());
        let log = format!("# A log\n\n{MARKER}\nold\n{END}\n\nThe rest.\n");
        let text = with_times(&log, std::slice::from_ref(&report)).expect("it is right");
        assert!(
            text.starts_with(&format!("# A log\n\n{MARKER}\n\nA GPU")),
            "{text}"
        );
        assert!(
            text.ends_with(&format!("|\n\n{END}\n\nThe rest.\n")),
            "{text}"
        );
        assert!(text.contains("| copy | 64×32 |") && text.contains("| add |"));
        assert!(
            !text.contains("add_stride") && !text.contains("old"),
            "{text}"
        );
        // A run that has not measured them is skipped.
        let other = self::report(vec![case("any", "reduce", "64", &[(Side::Kernel, 0.5)])]);
        assert_eq!(with_times(&text, &[other, report]).as_deref(), Ok(&*text));
        let unmeasured = with_times(&log, &[]).expect("it is right");
        assert!(unmeasured.contains("No GPU"), "{unmeasured}");
    }

    #[test]
    fn markers_that_are_wrong_are_errors() {
        let unknown = format!("{}\n{END}\n", MARKER.replace("add", "subtract"));
        let error = with_times(&unknown, &[]).expect_err("no such kernel");
        assert!(error.contains("subtract"), "{error}");
        let error = with_times(&format!("{MARKER}\n"), &[]).expect_err("no end");
        assert!(error.contains("end of times"), "{error}");
        assert_eq!(with_times("text\n", &[]).as_deref(), Ok("text\n"));
    }
}
