//! compute-sanitizer's log, parsed.
//!
//! Every line begins with `=========`. In a report's first line one space follows;
//! in its other lines, more. The log ends with a summary that has the
//! number of errors.

/// Everything that a tool wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// Its reports on kernels, in order.
    pub reports: Vec<Report>,
    /// The errors and hazards that its summary counts; `None` if it did not get
    /// that far.
    pub n_in_summary: Option<usize>,
}

/// One report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// The kernel that it is about, if it names one.
    pub kernel: Option<String>,
    /// Its lines.
    pub text: String,
}

const PREFIX: &str = "=========";

/// Lines that do not begin a report.
const NO_REPORTS: &[&str] = &[
    "COMPUTE-SANITIZER",
    "ERROR SUMMARY",
    "RACECHECK SUMMARY",
    "LEAK SUMMARY",
    "Target application returned an error",
    "Warning: No attachable process",
    "Info: ",
    "Error: ",
];

impl Log {
    /// Parses a log.
    pub fn read(text: &str) -> Self {
        let mut log = Self::default();
        let mut report: Option<Report> = None;
        for line in text.lines().filter_map(|line| line.strip_prefix(PREFIX)) {
            let is_first = line.starts_with(' ') && !line[1..].starts_with([' ', '\t']);
            let line = line.trim();
            if line.is_empty() {
                log.reports.extend(report.take());
                continue;
            }
            if is_first {
                log.reports.extend(report.take());
                if let Some(n) = summary(line) {
                    *log.n_in_summary.get_or_insert(0) += n;
                }
                // Hazards are errors that begin like remarks about the run.
                let is_hazard = line.contains("reported between");
                if is_hazard || !NO_REPORTS.iter().any(|start| line.starts_with(start)) {
                    report = Some(Report {
                        kernel: kernel(line),
                        text: line.to_owned(),
                    });
                }
            } else if let Some(report) = &mut report {
                report.kernel = report.kernel.take().or_else(|| kernel(line));
                report.text.push('\n');
                report.text.push_str(line);
            }
        }
        log.reports.extend(report);
        log
    }
}

/// The number in a summary: `ERROR SUMMARY: 3 errors`,
/// `RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)`.
fn summary(line: &str) -> Option<usize> {
    let (_, rest) = line
        .split_once("ERROR SUMMARY: ")
        .or_else(|| line.split_once("RACECHECK SUMMARY: "))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The kernel of a line: `at reverse+0x90`, `at reverse(float *)+0x90 in a.cu:3`,
/// `at 0x90 in reverse`, `Write access at reverse+0x90`.
fn kernel(line: &str) -> Option<String> {
    let (_, place) = line
        .split_once(" at ")
        .or_else(|| Some(("", line.strip_prefix("at ")?)))?;
    let name = |text: &str| -> String {
        text.chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '$')
            .collect()
    };
    let found = if place.starts_with("0x") {
        name(place.split_once(" in ")?.1)
    } else {
        // An address on the device is not a kernel.
        if !place.contains("+0x") {
            return None;
        }
        name(place)
    };
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_log() {
        let log = Log::read("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
        assert_eq!((log.reports.len(), log.n_in_summary), (0, Some(0)));
        let log = Log::read(
            "========= COMPUTE-SANITIZER\n\
             ========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
        );
        assert_eq!((log.reports.len(), log.n_in_summary), (0, Some(0)));
    }

    #[test]
    fn accesses_belong_to_their_kernels() {
        let log = Log::read(
            "========= COMPUTE-SANITIZER\n\
             ========= Invalid __global__ read of size 4 bytes\n\
             =========     at transpose_shared+0x90\n\
             =========     by thread (3,0,0) in block (0,0,0)\n\
             =========     Access at 0x7f02d1000400 is out of bounds\n\
             ========= \n\
             ========= Uninitialized __global__ memory read of size 4 bytes\n\
             =========     at add(const float *, float *)+0x170 in add.cu:7\n\
             =========     by thread (0,0,0) in block (0,0,0)\n\
             ========= \n\
             ========= Barrier error detected. Divergent thread(s) in block.\n\
             =========     at 0x210 in reduce\n\
             =========     by thread (0,0,0) in block (0,0,0)\n\
             ========= \n\
             ========= ERROR SUMMARY: 3 errors\n",
        );
        let kernels: Vec<_> = log.reports.iter().map(|r| r.kernel.as_deref()).collect();
        assert_eq!(
            kernels,
            [Some("transpose_shared"), Some("add"), Some("reduce")]
        );
        assert!(log.reports[0].text.contains("by thread (3,0,0)"));
        assert_eq!(log.n_in_summary, Some(3));
    }

    #[test]
    fn hazards_belong_to_their_kernels() {
        let log = Log::read(
            "========= COMPUTE-SANITIZER\n\
             ========= Error: Race reported between Write access at sums+0x2d0\n\
             =========     and Read access at sums+0x310 [48 hazards]\n\
             ========= \n\
             ========= Warning: Race reported between Read access at sums+0x2d0\n\
             =========     and Write access at sums+0x320 [8 hazards]\n\
             ========= \n\
             ========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n",
        );
        assert_eq!(log.reports.len(), 2);
        assert!(
            log.reports
                .iter()
                .all(|r| r.kernel.as_deref() == Some("sums"))
        );
        assert_eq!(log.n_in_summary, Some(2));
    }

    #[test]
    fn remarks_on_the_run_are_no_reports() {
        let log = Log::read(
            "========= COMPUTE-SANITIZER\n\
             ========= Target application returned an error\n\
             ========= Error: Target application terminated before first instrumented API call\n",
        );
        assert_eq!(log, Log::default());
    }
}
