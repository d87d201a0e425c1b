//! From single times to a figure: median and spread, bandwidth.

use lockstep::engine::timing::Sensors;
use serde::{Deserialize, Serialize};

/// What takes turns under the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The kernel, or the launches it takes part in.
    Kernel,
    /// The same in CUDA C++.
    Twin,
    /// A device-to-device copy that moves as many bytes.
    Copy,
    /// Our own best copy of as many bytes.
    CopyKernel,
    /// Clearing the bytes of the output.
    Clear,
    /// CUB, on the same input.
    Cub,
    /// cuBLAS with its default math, on the same input.
    Cublas,
    /// cuBLAS with its pedantic math, on the same input.
    CublasPedantic,
}

/// Times of everything that took turns with a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// In turn.
    pub sides: Vec<(Side, Times)>,
    /// Times of one run of many in a row, where runs are short.
    pub in_row: Vec<(Side, Times)>,
    /// Runs in such a row.
    pub n_in_row: u32,
    /// Sets of buffers that were used in turn.
    pub n_sets: u32,
    /// Bytes of one set.
    pub set_bytes: u64,
    /// Whether no run found its data in the second-level cache.
    pub out_of_cache: bool,
    /// Groups of runs in which the host was late; see
    /// [`lockstep::engine::timing::Clocked::n_late`].
    pub n_late: u32,
    /// The board, right afterwards.
    pub sensors: Option<Sensors>,
}

impl Timings {
    /// The times of one side, if it took part.
    pub fn of(&self, side: Side) -> Option<Times> {
        let mut sides = self.sides.iter();
        sides.find(|(of, _)| *of == side).map(|&(_, times)| times)
    }
}

/// Times of the same launch, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Half of the runs were faster.
    pub median_ms: f64,
    /// The fastest run.
    pub min_ms: f64,
    /// The slowest run.
    pub max_ms: f64,
    /// A tenth of the runs were faster.
    pub p10_ms: f64,
    /// A quarter of the runs were faster.
    pub q1_ms: f64,
    /// A quarter of the runs were slower.
    pub q3_ms: f64,
    /// A tenth of the runs were slower.
    pub p90_ms: f64,
    /// Number of runs.
    pub n_runs: usize,
}

impl Times {
    /// Of at least one run.
    pub fn of(runs_ms: &[f32]) -> Option<Self> {
        let mut sorted: Vec<f64> = runs_ms.iter().map(|&ms| f64::from(ms)).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| {
            let position = share * last as f64;
            let (below, above) = (position.floor() as usize, position.ceil() as usize);
            sorted[below] + (sorted[above] - sorted[below]) * position.fract()
        };
        Some(Self {
            median_ms: at(0.5),
            min_ms: sorted[0],
            max_ms: sorted[last],
            p10_ms: at(0.1),
            q1_ms: at(0.25),
            q3_ms: at(0.75),
            p90_ms: at(0.9),
            n_runs: sorted.len(),
        })
    }
}

impl Times {
    /// Half of the distance between the quartiles, as a share of the median: how
    /// far a run commonly is from the median.
    pub fn spread(&self) -> f64 {
        (self.q3_ms - self.q1_ms) / 2.0 / self.median_ms
    }
}

/// The number whose power to the number of factors is their product, if there is one.
pub fn geometric_mean(factors: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, n) = factors
        .into_iter()
        .fold((0.0, 0), |(sum, n), factor| (sum + f64::ln(factor), n + 1));
    (n > 0).then(|| f64::exp(sum / f64::from(n)))
}

/// 10⁹ bytes a second.
pub fn gigabytes_per_second(bytes: u64, time_ms: f64) -> f64 {
    bytes as f64 / (time_ms * 1e6)
}

#[cfg(test)]
mod tests {
    use super::{Times, geometric_mean, gigabytes_per_second};

    #[test]
    fn median_of_odd_and_even_numbers() {
        assert_eq!(Times::of(&[3.0, 1.0, 2.0]).expect("some").median_ms, 2.0);
        assert_eq!(
            Times::of(&[4.0, 1.0, 2.0, 3.0]).expect("some").median_ms,
            2.5
        );
        assert_eq!(Times::of(&[]), None);
    }

    #[test]
    fn spread_holds_the_extremes() {
        let runs: Vec<f32> = (0..=100).map(|n| n as f32).collect();
        let times = Times::of(&runs).expect("some");
        assert_eq!(
            (times.min_ms, times.p10_ms, times.p90_ms, times.max_ms),
            (0.0, 10.0, 90.0, 100.0)
        );
        assert_eq!((times.q1_ms, times.q3_ms), (25.0, 75.0));
        assert_eq!(times.spread(), 0.5);
    }

    #[test]
    fn a_factor_and_its_inverse_cancel_out() {
        assert_eq!(geometric_mean([]), None);
        let mean = geometric_mean([0.5, 2.0, 1.21, 1.0 / 1.21]).expect("some");
        assert!((mean - 1.0).abs() < 1e-12);
        let mean = geometric_mean([2.0, 8.0]).expect("some");
        assert!((mean - 4.0).abs() < 1e-12);
    }

    #[test]
    fn bandwidth_of_the_published_copy() {
        // 8192×8192 f32 read and written in 0.129 ms.
        let bytes = 2 * 8192 * 8192 * 4;
        assert!((gigabytes_per_second(bytes, 0.129) - 4162.0).abs() < 1.0);
    }
}
