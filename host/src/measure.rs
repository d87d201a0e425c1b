//! From single times to a figure: median and spread, bandwidth.

/// Runs before the clock counts.
pub const N_WARMUP: u32 = 10;

/// Runs that are timed.
pub const N_RUNS: u32 = 100;

/// Times of the same launch, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Half of the runs were faster.
    pub median_ms: f64,
    /// The fastest run.
    pub min_ms: f64,
    /// The slowest run.
    pub max_ms: f64,
    /// A tenth of the runs were faster.
    pub p10_ms: f64,
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
            p90_ms: at(0.9),
            n_runs: sorted.len(),
        })
    }
}

/// 10⁹ bytes a second.
pub fn gigabytes_per_second(bytes: u64, time_ms: f64) -> f64 {
    bytes as f64 / (time_ms * 1e6)
}

#[cfg(test)]
mod tests {
    use super::{Times, gigabytes_per_second};

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
    }

    #[test]
    fn bandwidth_of_the_published_copy() {
        // 8192×8192 f32 read and written in 0.129 ms.
        let bytes = 2 * 8192 * 8192 * 4;
        assert!((gigabytes_per_second(bytes, 0.129) - 4162.0).abs() < 1.0);
    }
}
