//! The results file of a bench run: schema 1. A figure that was not measured is null or left out;
//! fields are added, but never change their meaning without a new number.

use super::baselines::BaselineSummary;
use super::scoreboard;
use crate::input;
use host::hints;
use lesson::measure::Times;
use lesson::{CaseResult, Measurement};
use lockstep::engine::DeviceProperties;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The only schema so far.
pub const SCHEMA: u32 = 1;

/// The file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BenchReport {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `bench`, so that it is not taken for another command's.
    pub kind: String,
    /// The device that was measured.
    pub device: String,
    /// The commit it was built from.
    pub commit: String,
    /// More about the machine.
    pub machine: Machine,
    /// What the kernels could be compared with.
    #[serde(alias = "peers")]
    pub baselines: Vec<Baseline>,
    /// Requested runs of each.
    pub n_runs: u32,
    /// An empty launch: the part of every time that is not the kernel's.
    pub empty_launch: Option<Times>,
    /// The same for one of many in a row.
    #[serde(default)]
    pub empty_launch_in_row: Option<Times>,
    /// Comparison of the kernels with their CUDA C++ baselines.
    #[serde(alias = "twins")]
    pub beside_baselines: BaselineSummary,
    /// The targets, from the cases below.
    pub scoreboard: Vec<scoreboard::Row>,
    /// One per kernel and shape.
    pub cases: Vec<Measurement>,
}

/// The machine, as far as it is known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// 90 for sm_90.
    pub sm: u32,
    /// Device memory.
    pub memory_bytes: u64,
    /// Second-level cache.
    pub l2_cache_bytes: Option<u32>,
    /// SMs.
    pub n_multiprocessors: u32,
    /// CUDA version of the driver.
    pub driver: Option<String>,
    /// Highest clock of the SMs.
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

/// Something to compare with, or why it is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// `CUDA C++`, `CUB`, `cuBLAS`.
    pub name: String,
    /// Its version, if it took part.
    pub version: Option<String>,
    /// Why it did not take part.
    pub absent: Option<String>,
}

impl BenchReport {
    /// The measured device and its driver, in words.
    pub fn device_and_driver(&self) -> String {
        match &self.machine.driver {
            Some(driver) => format!("{}, driver for CUDA {driver}", self.device),
            None => self.device.clone(),
        }
    }

    /// The report of a run's results.
    pub fn new(
        device: &DeviceProperties,
        baselines: Vec<Baseline>,
        n_runs: u32,
        [empty_launch, empty_launch_in_row]: [Option<Times>; 2],
        results: &[CaseResult],
    ) -> Self {
        let cases: Vec<Measurement> = results.iter().filter_map(CaseResult::measurement).collect();
        Self {
            schema: SCHEMA,
            kind: "bench".to_owned(),
            device: device.name.clone(),
            commit: host::home::commit(),
            machine: Machine::from(device),
            baselines,
            n_runs,
            empty_launch,
            empty_launch_in_row,
            beside_baselines: BaselineSummary::of(&cases),
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

    /// Reads the text of a file.
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
            .map_err(|error| format!("it is not a results file: {error}"))?;
        if head.kind.as_deref() != Some("bench") {
            let what = hints::command("bench --json");
            return Err(format!("it is not a file that `{what}` wrote"));
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

    use super::{BaselineSummary, BenchReport, scoreboard};
    use crate::report::json;
    use lesson::Measurement;
    pub use lesson::made_up::{case, times};
    use lesson::measure::Side;

    /// A report of these cases.
    pub fn report(cases: Vec<Measurement>) -> BenchReport {
        BenchReport {
            schema: super::SCHEMA,
            kind: "bench".to_owned(),
            device: "A GPU".to_owned(),
            commit: "abc".to_owned(),
            machine: super::Machine::default(),
            baselines: Vec::new(),
            n_runs: 100,
            empty_launch: Some(times(0.003)),
            empty_launch_in_row: None,
            beside_baselines: BaselineSummary::of(&cases),
            scoreboard: scoreboard::rows(&cases),
            cases,
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let cases = vec![case(
            "copy",
            "copy",
            "8x8",
            &[(Side::Kernel, 2.0), (Side::Baseline, 1.0)],
        )];
        let report = report(cases.clone());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        let text = json::text(&report).expect("it is JSON");
        std::fs::write(&path, text).expect("written");
        let read = BenchReport::read(&path).expect("read");
        assert_eq!(read.cases, cases);
        assert_eq!(read.cases[0].dims(), [8, 8]);
        assert_eq!(read.beside_baselines, report.beside_baselines);
    }

    #[test]
    fn other_files_and_other_schemas_are_refused() {
        assert!(BenchReport::parse("{").is_err());
        let error = BenchReport::parse(r#"{"schema": 1, "engine": "gpu"}"#).expect_err("run-all's");
        assert!(error.contains("lockstep bench"), "{error}");
        let error = BenchReport::parse(r#"{"schema": 2, "kind": "bench"}"#).expect_err("newer");
        assert!(error.contains("schema is 2"), "{error}");
    }
}
