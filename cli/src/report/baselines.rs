//! The kernels compared with their CUDA C++ baselines.

use lesson::Measurement;
use lesson::measure::{Side, geometric_mean};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kernels compared with their CUDA C++ baselines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineSummary {
    /// Kernels that were timed alongside a baseline.
    pub n_kernels: usize,
    /// Geometric mean over the kernels of each one's speed relative to its baseline; for
    /// a kernel with several shapes, the mean over these counts.
    pub geometric_mean: Option<f64>,
    /// The slowest shape of each kernel, the worst kernel first.
    pub slowest: Vec<BaselineCase>,
}

/// A kernel compared with its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineCase {
    /// The kernel's id.
    pub kernel: String,
    /// The shape's name.
    pub shape: String,
    /// Its speed relative to its baseline.
    pub speed: f64,
}

impl BaselineSummary {
    /// Of all cases that have a baseline.
    pub fn of(cases: &[Measurement]) -> Self {
        let mut by_kernel: BTreeMap<&str, Vec<BaselineCase>> = BTreeMap::new();
        for case in cases {
            if let Some(speed) = case.speed_of(Side::Baseline) {
                by_kernel
                    .entry(&case.kernel)
                    .or_default()
                    .push(BaselineCase {
                        kernel: case.kernel.clone(),
                        shape: case.shape.clone(),
                        speed,
                    });
            }
        }
        let mean_of =
            |cases: &Vec<BaselineCase>| geometric_mean(cases.iter().map(|case| case.speed));
        let geometric_mean = geometric_mean(by_kernel.values().filter_map(mean_of));
        let slower = |a: &BaselineCase, b: &BaselineCase| a.speed.total_cmp(&b.speed);
        let mut slowest: Vec<BaselineCase> = by_kernel
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

#[cfg(test)]
mod tests {
    use super::BaselineSummary;
    use crate::report::bench::tests::case;
    use lesson::Status;
    use lesson::measure::Side;

    #[test]
    fn a_kernel_with_many_shapes_counts_once() {
        let beside = |kernel: &str, shape: &str, speed: f64| {
            let sides = [(Side::Kernel, 1.0), (Side::Baseline, speed)];
            case("l", kernel, shape, &sides)
        };
        let summary = BaselineSummary::of(&[
            beside("a", "1", 2.0),
            beside("a", "2", 0.5),
            beside("b", "1", 1.21),
            case("l", "c", "1", &[(Side::Kernel, 1.0)]),
        ]);
        assert_eq!(summary.n_kernels, 2);
        let mean = summary.geometric_mean.expect("some");
        assert!((mean - 1.1).abs() < 1e-9, "{mean}");
        let slowest: Vec<_> = summary.slowest.iter().map(|case| &*case.kernel).collect();
        assert_eq!(slowest, ["a", "b"]);
        assert_eq!(summary.slowest[0].speed, 0.5);
    }

    #[test]
    fn what_failed_has_no_speed() {
        let mut wrong = case("l", "k", "1", &[(Side::Kernel, 1.0), (Side::Baseline, 9.0)]);
        wrong.status = Status::Failed;
        assert_eq!(wrong.speed_of(Side::Baseline), None);
        assert_eq!(BaselineSummary::of(&[wrong]).n_kernels, 0);
    }
}
