//! Results as a JSON file, schema 1. A figure that was not measured is null.

use super::bench::Machine;
use lesson::figures::LaunchRun;
use lesson::measure::{Times, gigabytes_per_second};
use lesson::{CaseResult, Status};
use lockstep::counts::Counts;
use lockstep::engine::Engine;
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The file.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Raised when a field changes its meaning.
    pub schema: u32,
    /// `gpu` or `sim`.
    pub engine: &'static str,
    /// The device that ran the kernels.
    pub device: String,
    /// The commit it was built from.
    pub commit: String,
    /// More about the machine.
    pub machine: Machine,
    /// One entry per kernel and shape.
    pub results: Vec<Entry>,
}

/// One kernel on one shape.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The lesson's id.
    pub lesson: &'static str,
    /// The kernel's id.
    pub kernel: &'static str,
    /// The shape's name: `8192x8192`.
    pub shape: String,
    /// `passed`, `failed` or `not_run`.
    pub status: Status,
    /// Why it did not pass.
    pub reason: Option<String>,
    /// The order in which it ended this way: `7/warps/12`. Null for the usual one.
    pub schedule: Option<String>,
    /// Schedules that it passed under, in addition to the usual order. Null if none was tried.
    pub n_schedules_passed: Option<u64>,
    /// Largest difference from the reference. Null also if it is not a number.
    pub max_abs_error: Option<f64>,
    /// Remarks on the result, for people.
    pub notes: Vec<String>,
    /// Median of the timed runs.
    pub time_ms_median: Option<f64>,
    /// Spread of the timed runs.
    pub time_ms: Option<Spread>,
    /// Bytes a perfect kernel moves.
    pub bytes: Option<u64>,
    /// Those bytes by the median time.
    pub gigabytes_per_second: Option<f64>,
    /// Median of a device-to-device copy of as many bytes, in the same run.
    pub copy_time_ms_median: Option<f64>,
    /// Median of the kernel's CUDA C++ baseline, alternating with it.
    #[serde(alias = "peer_time_ms_median")]
    pub baseline_time_ms_median: Option<f64>,
    /// Counts of one launch.
    pub counts: EntryCounts,
    /// Launches in order, without the timed ones.
    pub launches: Vec<LaunchRun>,
    /// The launch that the counts are of, from 0.
    pub counted_launch: Option<usize>,
}

/// Times of the runs, apart from their median.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// The fastest.
    pub min: f64,
    /// A tenth was faster.
    pub p10: f64,
    /// A tenth was slower.
    pub p90: f64,
    /// The slowest.
    pub max: f64,
    /// How many.
    pub n_runs: usize,
}

/// Some counts by name, or nulls from an engine that does not count.
#[derive(Clone, Copy, Debug)]
pub struct EntryCounts(Option<Counts>);

impl EntryCounts {
    const NAMES: [&str; 14] = [
        "shared_load_conflicts",
        "shared_store_conflicts",
        "shared_load_wavefronts",
        "shared_store_wavefronts",
        "ldmatrix_conflicts",
        "stmatrix_conflicts",
        "async_copy_conflicts",
        "global_load_requests",
        "global_load_sectors",
        "global_store_requests",
        "global_store_sectors",
        "local_load_sectors",
        "local_store_sectors",
        "thread_instructions",
    ];
}

impl Serialize for EntryCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counted: BTreeMap<_, _> = self.0.iter().flat_map(Counts::entries).collect();
        serializer.collect_map(Self::NAMES.map(|name| (name, counted.get(name))))
    }
}

impl From<&Times> for Spread {
    fn from(times: &Times) -> Self {
        Self {
            min: times.min_ms,
            p10: times.p10_ms,
            p90: times.p90_ms,
            max: times.max_ms,
            n_runs: times.n_runs,
        }
    }
}

impl From<&CaseResult> for Entry {
    fn from(result: &CaseResult) -> Self {
        let figures = &result.figures;
        let median = figures.times().map(|times| times.median_ms);
        let bytes = figures.work.map(|work| work.bytes);
        Self {
            lesson: result.lesson,
            kernel: result.kernel,
            shape: result.shape.name(),
            status: result.status,
            reason: result.reason.clone(),
            schedule: result.schedule.map(|schedule| schedule.to_string()),
            n_schedules_passed: result.n_schedules_passed,
            max_abs_error: figures.max_abs_error.filter(|error| error.is_finite()),
            notes: figures.notes.clone(),
            time_ms_median: median,
            time_ms: figures.times().as_ref().map(Spread::from),
            bytes,
            gigabytes_per_second: median
                .zip(bytes)
                .map(|(median, bytes)| gigabytes_per_second(bytes, median)),
            copy_time_ms_median: figures.copy_times().map(|times| times.median_ms),
            baseline_time_ms_median: figures.baseline_times().map(|times| times.median_ms),
            counts: EntryCounts(figures.counts),
            launches: figures.launches.clone(),
            counted_launch: figures.counted_launch,
        }
    }
}

impl Report {
    /// The report of a run on `engine`.
    pub fn new(engine: &dyn Engine, results: &[CaseResult]) -> Self {
        let device = engine.device();
        Self {
            schema: 1,
            engine: engine.kind().name(),
            device: device.name.clone(),
            commit: host::home::commit(),
            machine: Machine::from(device),
            results: results.iter().map(Entry::from).collect(),
        }
    }
}

/// A value as the text of a JSON file: a line for each of its fields, and for each row of
/// a list.
///
/// # Errors
///
/// The value has a map whose keys are not text: a bug of ours.
pub fn text(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Lines::default());
    value.serialize(&mut serializer)?;
    text.push(b'\n');
    Ok(text)
}

#[derive(Default)]
struct Lines {
    /// Lists and objects that are open.
    depth: usize,
    /// Whether the innermost list that is open has no row yet.
    is_empty: bool,
}

impl Lines {
    fn separate<W: ?Sized + Write>(out: &mut W, is_first: bool, is_line: bool) -> io::Result<()> {
        out.write_all(if is_first { b"" } else { b"," })?;
        out.write_all(if is_line { b"\n" } else { b"" })
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.is_empty = true;
        out.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.is_empty = false;
        Self::separate(out, first, self.depth <= 2)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        Self::separate(out, true, self.depth <= 2 && !self.is_empty)?;
        self.depth -= 1;
        self.is_empty = false;
        out.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        Self::separate(out, first, self.depth == 1)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        Self::separate(out, true, self.depth == 1)?;
        self.depth -= 1;
        out.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::json;

    #[test]
    fn a_row_is_a_line() {
        let rows = json!([{ "a": [1, []], "b": {} }, 2]);
        let value = json!({ "1": { "x": [1, 2] }, "2": rows, "3": [] });
        let text = String::from_utf8(text(&value).expect("memory")).expect("UTF-8");
        assert_eq!(
            text,
            "{\n\"1\":{\"x\":[1,2]},\n\"2\":[\n{\"a\":[1,[]],\"b\":{}},\n2\n],\n\"3\":[]\n}\n"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).ok(),
            Some(value)
        );
    }
}
