//! Times from a GPU, read from files that `bench` wrote, or from the run itself.

use crate::report::bench::BenchReport;
use crate::report::markdown::beside;
use host::home::Home;
use lesson::measure::Side;
use lesson::{CaseResult, Lesson, Measurement};
use lockstep_page::kernel::{Beside, Measure, Time};
use std::path::Path;

/// The files with results, in a folder of results. The first that has a kernel on a shape
/// counts.
const FILES: [&str; 3] = ["gemm-cubes.json", "gemm.json", "bench.json"];

/// Measurements, and what they were made on.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    sources: Vec<Source>,
}

/// Measurements of one run.
#[derive(Clone, Debug)]
struct Source {
    /// Engine, device, and the file.
    on: String,
    cases: Vec<Measurement>,
}

impl Measured {
    /// No measurements.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// The contents of a folder's files; no measurements if there are none.
    ///
    /// # Errors
    ///
    /// In words: a file exists, but is not a results file.
    pub fn read(folder: &Path, shown_as: &str) -> Result<Self, String> {
        let mut sources = Vec::new();
        for name in FILES {
            let path = folder.join(name);
            if path.exists() {
                let report = BenchReport::read(&path)?;
                sources.push(Source::of(report, &format!("{shown_as}/{name}")));
            }
        }
        Ok(Self { sources })
    }

    /// The results that the repository keeps; nothing in a bundle, which has none.
    ///
    /// # Errors
    ///
    /// As [`Measured::read`].
    pub fn kept(home: &Home) -> Result<Self, String> {
        const FOLDER: &str = "bench/results/h200";
        Self::read(&home.source(FOLDER), FOLDER)
    }

    /// The measurements of a run on a GPU.
    pub fn of_run(device: &str, results: &[CaseResult]) -> Self {
        let cases = results.iter().filter_map(CaseResult::measurement);
        Self {
            sources: vec![Source {
                on: format!("GPU, {device}, this run"),
                cases: cases.collect(),
            }],
        }
    }

    /// Lines about the measurements.
    pub fn facts(&self) -> Vec<String> {
        if self.sources.is_empty() {
            return vec!["Times: not measured; a GPU is needed for them.".to_owned()];
        }
        let source = |source: &Source| format!("Times: {}, medians.", source.on);
        self.sources.iter().map(source).collect()
    }

    /// The measurements of a lesson, and what they were made on, file by file.
    pub fn of_lesson(&self, lesson: &str) -> impl Iterator<Item = (&str, Vec<&Measurement>)> {
        self.sources.iter().filter_map(move |source| {
            let own = source.cases.iter().filter(|case| case.lesson == lesson);
            let own: Vec<_> = own.filter(|case| is_shown(case)).collect();
            (!own.is_empty()).then_some((&*source.on, own))
        })
    }

    /// All measurements of the file that has a lesson's first kernel, from which a ladder starts,
    /// and the device they were made on.
    pub fn with_lesson(&self, lesson: &Lesson) -> Option<(&str, &[Measurement])> {
        let first = lesson.kernels.first()?.id;
        let has = |source: &&Source| source.cases.iter().any(|case| case.kernel == first);
        let source = self.sources.iter().find(has)?;
        Some((&source.on, &source.cases))
    }

    /// The times of a kernel, the largest shape last.
    pub fn times(&self, kernel: &str) -> Vec<Time> {
        let mut cases: Vec<(&Source, &Measurement)> = Vec::new();
        for source in &self.sources {
            for case in source.cases.iter().filter(|case| case.kernel == kernel) {
                if is_shown(case) && !cases.iter().any(|(_, known)| known.shape == case.shape) {
                    cases.push((source, case));
                }
            }
        }
        cases.sort_by_key(|(_, case)| (case.bytes, case.dims()));
        let times = cases.into_iter();
        times
            .filter_map(|(source, case)| time(source, case))
            .collect()
    }
}

impl Source {
    fn of(report: BenchReport, shown_as: &str) -> Self {
        let commit: String = report.commit.chars().take(8).collect();
        Self {
            on: format!(
                "GPU, {}, {shown_as} of commit {commit}",
                report.device_and_driver()
            ),
            cases: report.cases,
        }
    }
}

/// Whether it passed and has a time that is a number.
fn is_shown(case: &Measurement) -> bool {
    case.median_ms().and_then(Measure::of).is_some()
}

fn time(source: &Source, case: &Measurement) -> Option<Time> {
    let times = case.times.get(&Side::Kernel)?;
    let beside = beside(case).filter_map(|(name, speed)| {
        Some(Beside {
            name: name.to_owned(),
            speed: Measure::of(speed)?,
        })
    });
    Some(Time {
        shape: case.shape.replace('x', "×"),
        median: Measure::of(case.median_ms()?)?,
        spread: Measure::of(times.p10_ms).zip(Measure::of(times.p90_ms)),
        n_runs: times.n_runs,
        on: source.on.clone(),
        beside: beside.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Measured, Source};
    use crate::report::bench::tests::case;
    use lesson::measure::Side;
    use lesson::{Measurement, Status};

    fn measured(cases: Vec<Measurement>) -> Measured {
        let on = "GPU, A GPU, a.json".to_owned();
        Measured {
            sources: vec![Source { on, cases }],
        }
    }

    #[test]
    fn what_is_no_number_or_did_not_pass_is_not_measured() {
        let with = |shape: &str, ms: f64| case("l", "k", shape, &[(Side::Kernel, ms)]);
        let mut failed = with("7", 1.0);
        failed.status = Status::Failed;
        let no_times = case("l", "k", "8", &[]);
        let cases = vec![
            with("4", f64::NAN),
            with("5", 0.0),
            with("6", 2.0),
            failed,
            no_times,
        ];
        let times = measured(cases).times("k");
        assert_eq!(times.len(), 1);
        assert_eq!((&*times[0].shape, times[0].median.get()), ("6", 2.0));
        assert_eq!(measured(Vec::new()).times("k"), []);
    }

    #[test]
    fn the_largest_shape_is_last() {
        let cases =
            ["16x2", "3x2", "16x4"].map(|shape| case("l", "k", shape, &[(Side::Kernel, 1.0)]));
        let times = measured(cases.to_vec()).times("k");
        let shapes: Vec<_> = times.iter().map(|time| &*time.shape).collect();
        assert_eq!(shapes, ["3×2", "16×2", "16×4"]);
    }
}
