//! From single times to figures: median and spread, bandwidth.

use lockstep::engine::timing::{self, Sensors};
use serde::{Deserialize, Serialize};

/// A side of a comparison: something that is timed in alternation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The kernel, or the launches it takes part in.
    Kernel,
    /// The same in CUDA C++.
    #[serde(alias = "twin")]
    Baseline,
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
    /// cuBLASLt with the fastest of its heuristic's algorithms, on the same input.
    CublasLt,
}

impl Side {
    /// Whether it is one of NVIDIA's libraries.
    pub const fn is_library(self) -> bool {
        matches!(
            self,
            Self::Cub | Self::Cublas | Self::CublasPedantic | Self::CublasLt
        )
    }
}

/// Times of everything that alternated with a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// When alternating.
    pub sides: Vec<(Side, Times)>,
    /// The kernel's speed relative to other sides, by runs in the same round.
    pub ratios: Vec<(Side, Ratio)>,
    /// The choices of libraries that had one.
    pub choices: Vec<(Side, String)>,
    /// Times of one run of many in a row, where runs are short.
    pub in_row: Vec<(Side, Times)>,
    /// Runs in such a row.
    pub n_in_row: u32,
    /// Sets of buffers that were used in rotation.
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
    /// The kernel and the libraries, each with the device to itself.
    pub alone: Vec<(Side, Alone)>,
}

impl Timings {
    /// The kernel's speed relative to that side, if it took part.
    pub fn ratio_to(&self, side: Side) -> Option<Ratio> {
        let mut ratios = self.ratios.iter();
        ratios.find(|(to, _)| *to == side).map(|&(_, ratio)| ratio)
    }

    /// The times of one side, if it took part.
    pub fn of(&self, side: Side) -> Option<Times> {
        let mut sides = self.sides.iter();
        sides.find(|(of, _)| *of == side).map(|&(_, times)| times)
    }
}

/// One side's figures with the device to itself; see `lockstep::engine::timing::Alone`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alone {
    /// Runs shortly after a rest.
    pub rested: Times,
    /// Runs without a pause.
    pub steady: Times,
    /// Energy of one run without a pause.
    pub joules: Option<f64>,
    /// The board's power meanwhile.
    pub power_w: Option<f64>,
    /// Clock of the SMs meanwhile.
    pub sm_clock_mhz: Option<u32>,
}

impl Alone {
    /// From the clock's readings; `None` if a state was not timed.
    pub fn of(alone: &timing::Alone) -> Option<Self> {
        let steady = Times::of(&alone.steady_ms)?;
        Some(Self {
            rested: Times::of(&alone.rested_ms)?,
            steady,
            joules: alone.power_w.map(|watts| watts * steady.median_ms / 1000.0),
            power_w: alone.power_w,
            sm_clock_mhz: alone.sm_clock_mhz,
        })
    }

    /// The median in a state.
    pub fn median_ms(&self, state: State) -> f64 {
        match state {
            State::Rested => self.rested.median_ms,
            State::Steady => self.steady.median_ms,
        }
    }
}

/// The state of the device for a side that has it to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// After a rest.
    Rested,
    /// Without a pause.
    Steady,
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

/// The quantile of at least one sorted value.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

/// The kernel's speed relative to another side. Each pair of runs gives one
/// number: effects that slow both, such as a clock lowered by the power limit, cancel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Half of the pairs gave less.
    pub median: f64,
    /// A tenth of the pairs gave less.
    pub p10: f64,
    /// A quarter of the pairs gave less.
    pub q1: f64,
    /// A quarter of the pairs gave more.
    pub q3: f64,
    /// A tenth of the pairs gave more.
    pub p90: f64,
}

impl Ratio {
    /// From the runs of the kernel and of the other side, round by round; at least one each.
    pub fn of(kernel_ms: &[f32], other_ms: &[f32]) -> Option<Self> {
        let pairs = kernel_ms.iter().zip(other_ms);
        let mut sorted: Vec<f64> = pairs
            .map(|(&kernel, &other)| f64::from(other) / f64::from(kernel))
            .collect();
        if sorted.is_empty() {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&sorted, 0.5),
            p10: quantile(&sorted, 0.1),
            q1: quantile(&sorted, 0.25),
            q3: quantile(&sorted, 0.75),
            p90: quantile(&sorted, 0.9),
        })
    }

    /// Half of the distance between the quartiles, as a share of the median.
    pub fn spread(&self) -> f64 {
        (self.q3 - self.q1) / 2.0 / self.median
    }
}

impl Times {
    /// From at least one run.
    pub fn of(runs_ms: &[f32]) -> Option<Self> {
        let mut sorted: Vec<f64> = runs_ms.iter().map(|&ms| f64::from(ms)).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| quantile(&sorted, share);
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
    /// Half of the distance between the quartiles, as a share of the median: the
    /// usual distance of a run from the median.
    pub fn spread(&self) -> f64 {
        (self.q3_ms - self.q1_ms) / 2.0 / self.median_ms
    }
}

/// The geometric mean of the factors, if there are any.
pub fn geometric_mean(factors: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, n) = factors
        .into_iter()
        .fold((0.0, 0), |(sum, n), factor| (sum + f64::ln(factor), n + 1));
    (n > 0).then(|| f64::exp(sum / f64::from(n)))
}

/// 10¹² operations per second.
pub fn teraflops(flops: u64, time_ms: f64) -> f64 {
    flops as f64 / time_ms / 1e9
}

/// 10⁹ bytes per second.
pub fn gigabytes_per_second(bytes: u64, time_ms: f64) -> f64 {
    bytes as f64 / (time_ms * 1e6)
}

#[cfg(test)]
mod tests {
    use super::{
        Alone, Ratio, State, Times, geometric_mean, gigabytes_per_second, teraflops, timing,
    };

    #[test]
    fn energy_is_that_of_a_run_without_a_pause() {
        let clocked = timing::Alone {
            rested_ms: vec![1.0, 1.5, 9.0],
            steady_ms: vec![2.0, 2.0, 3.0],
            power_w: Some(700.0),
            sm_clock_mhz: Some(1500),
        };
        let alone = Alone::of(&clocked).expect("both states");
        assert_eq!(alone.median_ms(State::Rested), 1.5);
        assert_eq!(alone.median_ms(State::Steady), 2.0);
        assert_eq!(alone.joules, Some(1.4));
        let only_rested = timing::Alone {
            steady_ms: Vec::new(),
            ..clocked
        };
        assert_eq!(Alone::of(&only_rested), None);
    }

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
    fn what_slows_both_of_a_pair_cancels() {
        // The other side takes 1.25 times as long, at whatever clock.
        let ratio = Ratio::of(&[1.0, 2.0, 4.0], &[1.25, 2.5, 5.0]).expect("three pairs");
        assert_eq!((ratio.p10, ratio.median, ratio.p90), (1.25, 1.25, 1.25));
        assert_eq!(ratio.spread(), 0.0);
        assert_eq!(Ratio::of(&[], &[1.0]), None);
    }

    #[test]
    fn operations_per_second_of_a_product() {
        // 2 · 8192³ operations in 1.5 ms.
        assert!((teraflops(2 * 8192 * 8192 * 8192, 1.5) - 733.0).abs() < 0.1);
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
