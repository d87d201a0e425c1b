//! What a bench run measured, as a file: schema 1. A figure that was not measured
//! is null or left out; fields are added, but never change their meaning without a
//! new number.

use crate::scoreboard;
use crate::{hints, input};
use lesson::measure::{Side, Times, geometric_mean};
use lesson::{CaseResult, Status};
use lockstep::engine::DeviceProperties;
use lockstep::engine::timing::Sensors;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The only schema there is so far.
pub const SCHEMA: u32 = 1;

/// The file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchReport {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `bench`, so that it is not taken for another command's.
    pub kind: String,
    /// What was measured.
    pub device: String,
    /// What it was built from.
    pub commit: String,
    /// More about the machine.
    pub machine: Machine,
    /// What the kernels could be compared with.
    pub peers: Vec<Peer>,
    /// Runs of each that were wanted.
    pub n_runs: u32,
    /// A launch that does nothing: the part of every time that is no kernel's.
    pub empty_launch: Option<Times>,
    /// The same, one of many in a row.
    #[serde(default)]
    pub empty_launch_in_row: Option<Times>,
    /// Of each kernel and its CUDA C++ twin.
    pub twins: TwinSummary,
    /// The targets, from the cases below.
    pub scoreboard: Vec<scoreboard::Row>,
    /// One a kernel and shape.
    pub cases: Vec<Case>,
}

/// The machine, as far as it tells.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// 90 for sm_90.
    pub sm: u32,
    /// Device memory.
    pub memory_bytes: u64,
    /// Second-level cache.
    pub l2_cache_bytes: Option<u32>,
    /// Multiprocessors.
    pub n_multiprocessors: u32,
    /// CUDA version of the driver.
    pub driver: Option<String>,
    /// Highest clock of the multiprocessors.
    pub sm_clock_mhz: Option<u32>,
    /// Highest clock of the memory.
    pub memory_clock_mhz: Option<u32>,
}

impl From<&DeviceProperties> for Machine {
    fn from(device: &DeviceProperties) -> Self {
        Self {
            sm: device.sm,
            memory_bytes: device.memory_bytes,
            l2_cache_bytes: device.l2_cache_bytes,
            n_multiprocessors: device.n_multiprocessors,
            driver: device.driver.clone(),
            sm_clock_mhz: device.sm_clock_mhz,
            memory_clock_mhz: device.memory_clock_mhz,
        }
    }
}

/// Something to compare with, or why it is not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// `CUDA C++`, `CUB`, `cuBLAS`.
    pub name: String,
    /// Which of it, if it took part.
    pub version: Option<String>,
    /// Why it took no part.
    pub absent: Option<String>,
}

/// One kernel on one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The lesson's id.
    pub lesson: String,
    /// The kernel's id.
    pub kernel: String,
    /// The shape's name: `8192x8192`.
    pub shape: String,
    /// `passed`, `failed` or `not_run`: the result was checked at this very shape.
    pub status: Status,
    /// Why it did not pass.
    pub reason: Option<String>,
    /// Bytes that a perfect kernel moves.
    pub bytes: u64,
    /// Operations that a perfect kernel makes.
    pub flops: u64,
    /// Sets of buffers that were used in turn.
    pub n_sets: u32,
    /// Bytes of one set.
    pub set_bytes: u64,
    /// Whether no run found its data in the second-level cache.
    pub out_of_cache: bool,
    /// Groups of runs that the host queued too late; should be none.
    pub n_late: u32,
    /// The board, right after the runs.
    pub sensors: Option<Sensors>,
    /// Times of the kernel and of all that took turns with it, in milliseconds.
    pub times: BTreeMap<Side, Times>,
    /// Where those are short, the times of one of many in a row, run from a graph.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub times_in_row: BTreeMap<Side, Times>,
    /// How many there were in the row.
    #[serde(default)]
    pub n_in_row: u32,
}

impl Case {
    /// Of a result that was timed or went wrong; a kernel that is never timed has none.
    pub fn of(result: &CaseResult) -> Option<Self> {
        let figures = &result.figures;
        let timings = &figures.timings;
        if timings.sides.is_empty() && result.status == Status::Passed {
            return None;
        }
        Some(Self {
            lesson: result.lesson.to_owned(),
            kernel: result.kernel.to_owned(),
            shape: result.shape.name(),
            status: result.status,
            reason: result.reason.clone(),
            bytes: figures.work.map_or(0, |work| work.bytes),
            flops: figures.work.map_or(0, |work| work.flops),
            n_sets: timings.n_sets,
            set_bytes: timings.set_bytes,
            out_of_cache: timings.out_of_cache,
            n_late: timings.n_late,
            sensors: timings.sensors,
            times: timings.sides.iter().copied().collect(),
            times_in_row: timings.in_row.iter().copied().collect(),
            n_in_row: timings.n_in_row,
        })
    }

    /// Its extents.
    pub fn dims(&self) -> Vec<u64> {
        let extents = self.shape.split('x');
        extents.filter_map(|extent| extent.parse().ok()).collect()
    }

    /// Median of the kernel, if it passed.
    pub fn median_ms(&self) -> Option<f64> {
        let times = self.times.get(&Side::Kernel)?;
        (self.status == Status::Passed).then_some(times.median_ms)
    }

    /// The case with the times of one of many in a row in the place of those of one
    /// alone, if it was timed so.
    pub fn in_row(&self) -> Option<Self> {
        (!self.times_in_row.is_empty()).then(|| Self {
            times: self.times_in_row.clone(),
            times_in_row: BTreeMap::new(),
            ..self.clone()
        })
    }

    /// How many times as fast as the other side the kernel is.
    pub fn speed_of(&self, side: Side) -> Option<f64> {
        Some(self.times.get(&side)?.median_ms / self.median_ms()?)
    }

    /// The same for the faster of cuBLAS's ways to compute.
    pub fn speed_of_cublas(&self) -> Option<f64> {
        let ways = [Side::Cublas, Side::CublasPedantic];
        let speeds = ways.into_iter().filter_map(|side| self.speed_of(side));
        speeds.min_by(f64::total_cmp)
    }
}

/// The kernels beside their CUDA C++ twins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TwinSummary {
    /// Kernels that have been timed beside a twin.
    pub n_kernels: usize,
    /// Geometric mean over the kernels of how many times as fast as its twin each
    /// is; of a kernel with several shapes the mean over these counts.
    pub geometric_mean: Option<f64>,
    /// The slowest shape of each kernel, the worst kernel first.
    pub slowest: Vec<TwinCase>,
}

/// A kernel beside its twin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwinCase {
    /// The kernel's id.
    pub kernel: String,
    /// The shape's name.
    pub shape: String,
    /// How many times as fast as its twin it is.
    pub speed: f64,
}

impl TwinSummary {
    /// Of all cases that have a twin.
    pub fn of(cases: &[Case]) -> Self {
        let mut by_kernel: BTreeMap<&str, Vec<TwinCase>> = BTreeMap::new();
        for case in cases {
            if let Some(speed) = case.speed_of(Side::Twin) {
                by_kernel.entry(&case.kernel).or_default().push(TwinCase {
                    kernel: case.kernel.clone(),
                    shape: case.shape.clone(),
                    speed,
                });
            }
        }
        let mean_of = |cases: &Vec<TwinCase>| geometric_mean(cases.iter().map(|case| case.speed));
        let geometric_mean = geometric_mean(by_kernel.values().filter_map(mean_of));
        let slower = |a: &TwinCase, b: &TwinCase| a.speed.total_cmp(&b.speed);
        let mut slowest: Vec<TwinCase> = by_kernel
            .into_values()
            .filter_map(|cases| cases.into_iter().min_by(slower))
            .collect();
        slowest.sort_by(slower);
        Self {
            n_kernels: slowest.len(),
            geometric_mean,
            slowest,
        }
    }
}

impl BenchReport {
    /// Of the results of a run.
    pub fn new(
        device: &DeviceProperties,
        peers: Vec<Peer>,
        n_runs: u32,
        [empty_launch, empty_launch_in_row]: [Option<Times>; 2],
        results: &[CaseResult],
    ) -> Self {
        let cases: Vec<Case> = results.iter().filter_map(Case::of).collect();
        Self {
            schema: SCHEMA,
            kind: "bench".to_owned(),
            device: device.name.clone(),
            commit: crate::home::commit(),
            machine: Machine::from(device),
            peers,
            n_runs,
            empty_launch,
            empty_launch_in_row,
            twins: TwinSummary::of(&cases),
            scoreboard: scoreboard::rows(&cases),
            cases,
        }
    }

    /// Reads a file that `bench --json` wrote.
    ///
    /// # Errors
    ///
    /// In words, with the file's name.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = input::text(path).map_err(|error| error.to_string())?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", input::name(path)))
    }

    /// Of the text of a file.
    ///
    /// # Errors
    ///
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
            kind: Option<String>,
        }
        let head: Head = serde_json::from_str(text)
            .map_err(|error| format!("it is no results file: {error}"))?;
        if head.kind.as_deref() != Some("bench") {
            let what = hints::command("bench --json");
            return Err(format!("it is no file that `{what}` wrote"));
        }
        if head.schema != SCHEMA {
            return Err(format!(
                "its schema is {}, and this program reads {SCHEMA}",
                head.schema
            ));
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
pub mod tests {
    //! Also makes cases for the tests of other files.

    use super::{BenchReport, Case, TwinSummary};
    use crate::report::json;
    use lesson::Status;
    use lesson::measure::{Side, Times};
    use std::collections::BTreeMap;

    /// Times around a median.
    pub fn times(median_ms: f64) -> Times {
        Times {
            median_ms,
            min_ms: median_ms * 0.98,
            max_ms: median_ms * 1.2,
            p10_ms: median_ms * 0.99,
            p90_ms: median_ms * 1.05,
            q1_ms: median_ms * 0.995,
            q3_ms: median_ms * 1.005,
            n_runs: 100,
        }
    }

    /// A case that passed, with these medians.
    pub fn case(lesson: &str, kernel: &str, shape: &str, medians: &[(Side, f64)]) -> Case {
        Case {
            lesson: lesson.to_owned(),
            kernel: kernel.to_owned(),
            shape: shape.to_owned(),
            status: Status::Passed,
            reason: None,
            bytes: 1000,
            flops: 0,
            n_sets: 1,
            set_bytes: 1000,
            out_of_cache: true,
            n_late: 0,
            sensors: None,
            times: medians
                .iter()
                .map(|&(side, ms)| (side, times(ms)))
                .collect(),
            times_in_row: BTreeMap::new(),
            n_in_row: 0,
        }
    }

    /// A report of these cases.
    pub fn report(cases: Vec<Case>) -> BenchReport {
        BenchReport {
            schema: super::SCHEMA,
            kind: "bench".to_owned(),
            device: "A GPU".to_owned(),
            commit: "abc".to_owned(),
            machine: super::Machine::default(),
            peers: Vec::new(),
            n_runs: 100,
            empty_launch: Some(times(0.003)),
            empty_launch_in_row: None,
            twins: TwinSummary::of(&cases),
            scoreboard: crate::scoreboard::rows(&cases),
            cases,
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let cases = vec![case(
            "copy",
            "copy",
            "8x8",
            &[(Side::Kernel, 2.0), (Side::Twin, 1.0)],
        )];
        let report = report(cases.clone());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        let text = json::text(&report).expect("it is JSON");
        std::fs::write(&path, text).expect("written");
        let read = BenchReport::read(&path).expect("read");
        assert_eq!(read.cases, cases);
        assert_eq!(read.cases[0].dims(), [8, 8]);
        assert_eq!(read.twins, report.twins);
    }

    #[test]
    fn other_files_and_other_schemas_are_refused() {
        assert!(BenchReport::parse("{").is_err());
        let error = BenchReport::parse(r#"{"schema": 1, "engine": "gpu"}"#).expect_err("run-all's");
        assert!(error.contains("lockstep bench"), "{error}");
        let error = BenchReport::parse(r#"{"schema": 2, "kind": "bench"}"#).expect_err("newer");
        assert!(error.contains("schema is 2"), "{error}");
    }

    #[test]
    fn a_kernel_with_many_shapes_counts_once() {
        let beside = |kernel: &str, shape: &str, speed: f64| {
            case(
                "l",
                kernel,
                shape,
                &[(Side::Kernel, 1.0), (Side::Twin, speed)],
            )
        };
        let twins = TwinSummary::of(&[
            beside("a", "1", 2.0),
            beside("a", "2", 0.5),
            beside("b", "1", 1.21),
            case("l", "c", "1", &[(Side::Kernel, 1.0)]),
        ]);
        assert_eq!(twins.n_kernels, 2);
        let mean = twins.geometric_mean.expect("some");
        assert!((mean - 1.1).abs() < 1e-9, "{mean}");
        let slowest: Vec<_> = twins.slowest.iter().map(|twin| &*twin.kernel).collect();
        assert_eq!(slowest, ["a", "b"]);
        assert_eq!(twins.slowest[0].speed, 0.5);
    }

    #[test]
    fn what_failed_has_no_speed() {
        let mut wrong = case("l", "k", "1", &[(Side::Kernel, 1.0), (Side::Twin, 9.0)]);
        wrong.status = Status::Failed;
        assert_eq!(wrong.speed_of(Side::Twin), None);
        assert_eq!(TwinSummary::of(&[wrong]).n_kernels, 0);
    }
}
