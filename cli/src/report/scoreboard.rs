//! The project's targets for speed, and a run's results for each: those of all
//! kernels here, and those of each lesson.

use super::baselines::BaselineSummary;
use host::registry::LESSONS;
use lesson::measure::Side;
use lesson::target::least;
use lesson::{Found, Measurement, Target};
use serde::{Deserialize, Serialize};

/// A target, and its measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The item that should be fast.
    pub item: String,
    /// What it is compared with.
    pub relative_to: String,
    /// The number to reach.
    pub target: f64,
    /// Whether more is better.
    pub more_is_better: bool,
    /// The number, if this run measured it.
    pub measured: Option<f64>,
    /// Half of the distance between the quartiles of both sides, as a share of the
    /// number.
    pub spread: Option<f64>,
    /// The kernel and the shape.
    pub at: Option<String>,
}

impl Row {
    /// Whether the target is reached; `None` if it was not measured.
    pub fn is_reached(&self) -> Option<bool> {
        let measured = self.measured?;
        Some(if self.more_is_better {
            measured >= self.target
        } else {
            measured <= self.target
        })
    }

    /// The verdict for people.
    pub fn verdict(&self) -> &'static str {
        match self.is_reached() {
            Some(true) => "reached",
            Some(false) => "missed",
            None => "not measured",
        }
    }
}

/// No kernel should be slower than its baseline by more than this.
const WORST: f64 = 0.97;

/// The targets of all lessons together.
const OF_ALL: [Target; 2] = [
    Target::at_least(
        "all kernels, geometric mean",
        "CUDA C++ by nvcc -O3",
        1.0,
        mean_beside_baselines,
    ),
    Target::at_least(
        "the worst of all kernels",
        "CUDA C++ by nvcc -O3",
        WORST,
        worst_beside_its_baseline,
    ),
];

/// The targets, and their results from these measurements.
pub fn rows(measured: &[Measurement]) -> Vec<Row> {
    let of_all = OF_ALL.iter().map(|target| row(target, measured));
    let of_lessons = LESSONS.iter().flat_map(|lesson| {
        let own = measured.iter().filter(|one| one.lesson == lesson.id);
        let own: Vec<Measurement> = own.cloned().collect();
        let targets = lesson.targets.iter();
        targets.map(move |target| row(target, &own))
    });
    of_all.chain(of_lessons).collect()
}

fn row(target: &Target, measured: &[Measurement]) -> Row {
    let found = (target.find)(measured).filter(|found| found.value.is_finite());
    Row {
        item: target.item.to_owned(),
        relative_to: target.relative_to.to_owned(),
        target: target.wanted,
        more_is_better: target.more_is_better,
        measured: found.as_ref().map(|found| found.value),
        spread: found.as_ref().and_then(|found| found.spread),
        at: found.map(|found| found.at),
    }
}

fn mean_beside_baselines(measured: &[Measurement]) -> Option<Found> {
    let summary = BaselineSummary::of(measured);
    summary.geometric_mean.map(|value| Found {
        value,
        spread: None,
        at: format!("{} kernels", summary.n_kernels),
    })
}

/// The slowest kernel relative to its baseline, and how many are too slow.
fn worst_beside_its_baseline(measured: &[Measurement]) -> Option<Found> {
    let speeds = measured.iter();
    let speeds: Vec<Found> = speeds
        .filter_map(|one| Found::speed(one, Side::Baseline))
        .collect();
    let n_below = speeds.iter().filter(|found| found.value < WORST).count();
    let n = speeds.len();
    least(speeds.into_iter()).map(|found| Found {
        at: format!("{}; {n_below} of {n} below {WORST}", found.at),
        ..found
    })
}

#[cfg(test)]
mod tests {
    use super::{Row, rows};
    use crate::report::bench::tests::case;
    use lesson::Measurement;
    use lesson::measure::Side;

    /// The row whose item contains the text.
    fn row(cases: &[Measurement], item: &str) -> Row {
        let rows = rows(cases);
        let mut found = rows.into_iter().filter(|row| row.item.contains(item));
        let row = found.next().expect("there is such a target");
        assert!(found.next().is_none(), "{item} names one target");
        row
    }

    /// The kernel's and another side's time.
    fn timed(kernel: [&str; 3], ms: f64, side: Side, other_ms: f64) -> Measurement {
        let [lesson, kernel, shape] = kernel;
        let sides = [(Side::Kernel, ms), (side, other_ms)];
        case(lesson, kernel, shape, &sides)
    }

    #[test]
    fn nothing_measured_is_not_reached() {
        for row in rows(&[]) {
            assert_eq!((row.is_reached(), row.verdict()), (None, "not measured"));
        }
    }

    #[test]
    fn the_slowest_beside_its_baseline_is_named_and_the_slow_are_counted() {
        let at = |kernel, speed| timed(["l", kernel, "8"], 1.0, Side::Baseline, speed);
        let cases = [at("a", 1.2), at("b", 0.9), at("c", 0.96), at("d", 1.0)];
        let row = row(&cases, "the worst of all kernels");
        assert_eq!((row.measured, row.verdict()), (Some(0.9), "missed"));
        assert_eq!(row.at.as_deref(), Some("b 8; 2 of 4 below 0.97"));
    }

    #[test]
    fn the_fastest_transpose_counts() {
        let at = |kernel, shape, ms, copy_ms| {
            timed(["transpose", kernel, shape], ms, Side::Copy, copy_ms)
        };
        let cases = [
            at("a", "8192x8192", 2.0, 1.0),
            at("b", "8192x8192", 1.0, 1.01),
            at("b", "32768x32768", 1.0, 0.99),
        ];
        let small = row(&cases, "8192×8192");
        assert_eq!(small.verdict(), "reached");
        assert_eq!(small.at.as_deref(), Some("b 8192×8192"));
        assert_eq!(row(&cases, "32768×32768").verdict(), "missed");
    }

    #[test]
    fn odd_sizes_are_held_to_their_neighbours_rate() {
        let at = |kernel, shape, ms| timed(["transpose", kernel, shape], ms, Side::Copy, 1.0);
        let cases = [
            at("a", "640x640", 1.0),
            at("slow", "640x640", 9.0),
            at("a", "64x64", 0.001),
            at("a", "640x641", 1.02),
            at("slow", "640x641", 9.0),
        ];
        let row = row(&cases, "multiples of 64");
        let measured = row.measured.expect("measured");
        assert!((measured - 641.0 / 640.0 / 1.02).abs() < 1e-9, "{measured}");
        assert_eq!(row.verdict(), "reached");
    }

    #[test]
    fn the_worst_length_of_a_reduction_counts() {
        let at = |n: u64, speed| {
            let kernel = ["reduction", "reduce_fast", &n.to_string()];
            timed(kernel, 1.0, Side::Cub, speed)
        };
        let cases = [
            at(1 << 10, 3.0),
            at(1 << 16, 1.4),
            at(1 << 20, 0.5),
            at(1 << 28, 1.02),
            at(1 << 30, 1.016),
            at(300_000_001, 0.1),
        ];
        let in_row: Vec<_> = [(1 << 10, 1.7), (1 << 16, 2.0)]
            .map(|(n, speed)| Measurement {
                times_in_row: at(n, speed).times,
                ..at(n, 1.0)
            })
            .into();
        assert_eq!(row(&cases, "single launch").measured, Some(1.4));
        assert_eq!(row(&cases, "single launch").verdict(), "missed");
        assert_eq!(row(&cases, "back to back").verdict(), "not measured");
        assert_eq!(row(&in_row, "single launch").measured, Some(1.0));
        assert_eq!(row(&in_row, "back to back").measured, Some(1.7));
        assert_eq!(row(&in_row, "back to back").verdict(), "reached");
        assert_eq!(row(&cases, "2³⁰").measured, Some(1.016));
        assert_eq!(row(&cases, "2³⁰").verdict(), "reached");
    }

    #[test]
    fn less_is_better_for_the_cell_list() {
        let kernel = ["neighbor", "neighbor_cells_build", "1000000"];
        let at = |ms| [timed(kernel, ms, Side::Clear, 1.0)];
        assert_eq!(row(&at(2.9), "cells").verdict(), "reached");
        assert_eq!(row(&at(3.1), "cells").verdict(), "missed");
        assert_eq!(row(&at(3.1), "cells").measured, Some(3.1));
    }

    #[test]
    fn pairs_are_counted_once() {
        // A million atoms, half a second: 10⁶ · (10⁶ − 1) / 2 / 0.5.
        let kernel = ["neighbor", "neighbor_tiles", "1000000"];
        let cases = [timed(kernel, 500.0, Side::Copy, 1.0)];
        let row = row(&cases, "brute force");
        assert_eq!(row.measured, Some(999_999_000_000.0));
        assert_eq!(row.verdict(), "missed");
    }

    #[test]
    fn the_faster_cublas_is_the_yardstick() {
        let sides = [
            (Side::Kernel, 1.0),
            (Side::Cublas, 0.99),
            (Side::CublasPedantic, 1.2),
        ];
        let cases = [case("sgemm", "sgemm_fast", "4096x4096x4096", &sides)];
        assert_eq!(row(&cases, "SGEMM").measured, Some(0.99));
    }

    #[test]
    fn only_long_inputs_and_short_windows_count_for_the_running_mean() {
        let at = |shape, speed| {
            let kernel = ["running_mean", "running_mean_shared", shape];
            timed(kernel, 1.0, Side::Copy, speed)
        };
        let cases = [
            at("67108864x1024", 0.98),
            at("67108864x2048", 0.5),
            at("1000003x5", 0.3),
        ];
        assert_eq!(row(&cases, "running mean").measured, Some(0.98));
    }
}
