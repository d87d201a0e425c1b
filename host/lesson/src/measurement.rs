//! The measurement of a kernel on a shape, as stored in a file.

use crate::measure::{Alone, Ratio, Side, State, Times, teraflops};
use crate::status::Status;
use lockstep::engine::timing::Sensors;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One kernel on one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
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
    /// Operations that a perfect kernel executes.
    pub flops: u64,
    /// Sets of buffers that were used in rotation.
    pub n_sets: u32,
    /// Bytes of one set.
    pub set_bytes: u64,
    /// Whether no run found its data in the second-level cache.
    pub out_of_cache: bool,
    /// Groups of runs that the host queued too late; should be zero.
    pub n_late: u32,
    /// The board, right after the runs.
    pub sensors: Option<Sensors>,
    /// Times of the kernel and of everything that alternated with it, in milliseconds.
    pub times: BTreeMap<Side, Times>,
    /// The kernel's speed relative to each of them, by runs in the same round.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ratios: BTreeMap<Side, Ratio>,
    /// The choices of libraries that had one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub choices: BTreeMap<Side, String>,
    /// Where those are short, the times of one of many in a row, run from a graph.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub times_in_row: BTreeMap<Side, Times>,
    /// The number of runs in that row.
    #[serde(default)]
    pub n_in_row: u32,
    /// The kernel and the libraries, each with the device to itself, where that was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub alone: BTreeMap<Side, Alone>,
}

impl Measurement {
    /// Its extents.
    pub fn dims(&self) -> Vec<u64> {
        let extents = self.shape.split('x');
        extents.filter_map(|extent| extent.parse().ok()).collect()
    }

    /// The kernel and the shape, for people.
    pub fn place(&self) -> String {
        format!("{} {}", self.kernel, self.shape.replace('x', "×"))
    }

    /// Median of the kernel, if it passed.
    pub fn median_ms(&self) -> Option<f64> {
        let times = self.times.get(&Side::Kernel)?;
        (self.status == Status::Passed).then_some(times.median_ms)
    }

    /// The measurement with the times of one of many in a row, in place of those of single
    /// launches, if it was timed that way.
    pub fn in_row(&self) -> Option<Self> {
        (!self.times_in_row.is_empty()).then(|| Self {
            times: self.times_in_row.clone(),
            ratios: BTreeMap::new(),
            times_in_row: BTreeMap::new(),
            ..self.clone()
        })
    }

    /// Median of the kernel with the device to itself, if it passed.
    pub fn alone_ms(&self, state: State) -> Option<f64> {
        let alone = self.alone.get(&Side::Kernel)?;
        (self.status == Status::Passed).then(|| alone.median_ms(state))
    }

    /// The kernel's speed relative to the other side.
    pub fn speed_of(&self, side: Side) -> Option<f64> {
        Some(self.times.get(&side)?.median_ms / self.median_ms()?)
    }

    /// The same for cuBLAS's faster math mode.
    pub fn speed_of_cublas(&self) -> Option<f64> {
        let ways = [Side::Cublas, Side::CublasPedantic];
        let speeds = ways.into_iter().filter_map(|side| self.speed_of(side));
        speeds.min_by(f64::total_cmp)
    }

    /// The kernel's speed relative to the other side, by pairs of runs.
    pub fn ratio_to(&self, side: Side) -> Option<Ratio> {
        let ratio = self.ratios.get(&side).copied();
        ratio.filter(|_| self.status == Status::Passed)
    }

    /// 10¹² operations per second, of one side.
    pub fn teraflops(&self, side: Side) -> Option<f64> {
        let times = self.times.get(&side)?;
        (self.flops != 0).then(|| teraflops(self.flops, times.median_ms))
    }
}
