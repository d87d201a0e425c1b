//! The project's targets for speed, and what a run has to say about each.
//!
//! A target is a ratio within one run, of medians of runs that took turns. Which
//! kernel reaches it is left open where a lesson has several: the fastest counts.

use crate::report::bench::{Case, TwinSummary};
use lesson::measure::Side;
use serde::{Deserialize, Serialize};

/// A target beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What is to be fast.
    pub item: String,
    /// What it is compared with.
    pub relative_to: String,
    /// The number to reach.
    pub target: f64,
    /// Whether to reach it from below: more is better.
    pub more_is_better: bool,
    /// The number, if this run measured it.
    pub measured: Option<f64>,
    /// Half of the distance between the quartiles of both sides, as a share of the
    /// number.
    pub spread: Option<f64>,
    /// Which kernel, on which shape.
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

    /// As people read it.
    pub fn verdict(&self) -> &'static str {
        match self.is_reached() {
            Some(true) => "reached",
            Some(false) => "missed",
            None => "not measured",
        }
    }
}

/// A number with what it belongs to.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    value: f64,
    spread: Option<f64>,
    at: String,
}

impl Found {
    /// How many times as fast as the side the kernel of the case is.
    fn speed(case: &Case, side: Side) -> Option<Self> {
        let (own, other) = (case.times.get(&Side::Kernel)?, case.times.get(&side)?);
        Some(Self {
            value: case.speed_of(side)?,
            spread: Some(own.spread() + other.spread()),
            at: at(case),
        })
    }

    fn inverse(self) -> Self {
        Self {
            value: 1.0 / self.value,
            ..self
        }
    }
}

fn at(case: &Case) -> String {
    format!("{} {}", case.kernel, case.shape.replace('x', "×"))
}

fn least(found: impl Iterator<Item = Found>) -> Option<Found> {
    found.min_by(|a, b| a.value.total_cmp(&b.value))
}

fn most(found: impl Iterator<Item = Found>) -> Option<Found> {
    found.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// No kernel should be slower than its twin by more than this.
const WORST: f64 = 0.97;

/// The targets and what these cases say about them.
pub fn rows(cases: &[Case]) -> Vec<Row> {
    let at_least = |item: &str, relative_to: &str, target: f64, found: Option<Found>| {
        row(item, relative_to, target, true, found)
    };
    let in_rows: Vec<Case> = cases.iter().filter_map(Case::in_row).collect();
    let twins = TwinSummary::of(cases);
    let mean = twins.geometric_mean.map(|value| Found {
        value,
        spread: None,
        at: format!("{} kernels", twins.n_kernels),
    });
    let speeds = || {
        let all = cases.iter();
        all.filter_map(|case| Found::speed(case, Side::Twin))
    };
    let n_below = speeds().filter(|found| found.value < WORST).count();
    let worst = least(speeds()).map(|found| Found {
        at: format!(
            "{}; {n_below} of {} below {WORST}",
            found.at,
            speeds().count()
        ),
        ..found
    });
    let mut rows = vec![
        at_least(
            "all kernels, geometric mean",
            "CUDA C++ by nvcc -O3",
            1.0,
            mean,
        ),
        at_least(
            "the worst of all kernels",
            "CUDA C++ by nvcc -O3",
            WORST,
            worst,
        ),
    ];
    for side in [8192, 32768] {
        let shape = format!("{side}x{side}");
        let best = most(
            of_lesson(cases, "transpose")
                .filter(|case| case.shape == shape)
                .filter_map(|case| Found::speed(case, Side::Copy)),
        );
        let item = format!("best transpose, {side}×{side} f32");
        rows.push(at_least(&item, "device-to-device copy", 1.0, best));
    }
    rows.extend([
        at_least(
            "best transpose, sides not multiples of 64",
            "its rate at the nearest multiple of 64",
            0.97,
            odd_sizes(cases),
        ),
        at_least(
            "vector add, 2²⁶ f32 and more",
            "device-to-device copy's bytes a second",
            1.03,
            vector_add(cases),
        ),
        at_least(
            "reduce_fast, 2²⁸ to 2³⁰ f32",
            "cub::DeviceReduce::Sum",
            1.015,
            reduce(cases, |n| n.is_power_of_two() && n >= 1 << 28),
        ),
        at_least(
            "reduce_fast, up to 2¹⁶ f32, one alone between events",
            "cub::DeviceReduce::Sum",
            1.5,
            reduce(cases, |n| n <= 1 << 16),
        ),
        at_least(
            "reduce_fast, up to 2¹⁶ f32, one of many in a row, from a graph",
            "cub::DeviceReduce::Sum",
            1.5,
            reduce(&in_rows, |n| n <= 1 << 16),
        ),
        at_least(
            "running mean, windows up to 1024",
            "device-to-device copy",
            0.97,
            running_mean(cases),
        ),
        row(
            "neighbour cells, 1,000,000 atoms",
            "time of clearing its output",
            3.0,
            false,
            of_kernel(cases, "neighbor_cells_build")
                .filter(|case| case.dims() == [1_000_000])
                .find_map(|case| Found::speed(case, Side::Clear))
                .map(Found::inverse),
        ),
        at_least(
            "neighbours by brute force",
            "pairs tested a second, each pair once",
            2e12,
            brute_force(cases),
        ),
        at_least(
            "SGEMM f32, 4096×4096×4096",
            "cuBLAS, TF32 off, the faster of its two math modes",
            1.0,
            sgemm(cases),
        ),
    ]);
    rows
}

fn row(
    item: &str,
    relative_to: &str,
    target: f64,
    more_is_better: bool,
    found: Option<Found>,
) -> Row {
    let found = found.filter(|found| found.value.is_finite());
    Row {
        item: item.to_owned(),
        relative_to: relative_to.to_owned(),
        target,
        more_is_better,
        measured: found.as_ref().map(|found| found.value),
        spread: found.as_ref().and_then(|found| found.spread),
        at: found.map(|found| found.at),
    }
}

fn of_lesson<'c>(cases: &'c [Case], lesson: &'c str) -> impl Iterator<Item = &'c Case> {
    cases.iter().filter(move |case| case.lesson == lesson)
}

fn of_kernel<'c>(cases: &'c [Case], kernel: &'c str) -> impl Iterator<Item = &'c Case> {
    cases.iter().filter(move |case| case.kernel == kernel)
}

/// The worst of the shapes with a side that is no multiple of 64: the rate of the
/// fastest kernel there, of the fastest kernel's at the nearest shape whose sides
/// are.
fn odd_sizes(cases: &[Case]) -> Option<Found> {
    let elements = |case: &Case| case.dims().iter().product::<u64>() as f64;
    let is_whole = |case: &&Case| case.dims().iter().all(|side| side.is_multiple_of(64));
    let rate = |case: &Case| Some(elements(case) / case.median_ms()?);
    // The fastest at that shape.
    let best = |shape: &str| {
        let there = of_lesson(cases, "transpose").filter(|case| case.shape == shape);
        let timed = there.filter_map(|case| Some((case, rate(case)?)));
        timed.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let odd = of_lesson(cases, "transpose").filter(|case| !is_whole(case));
    least(odd.filter_map(|odd| {
        let (fastest, odd_rate) = best(&odd.shape)?;
        let distance = |case: &Case| (elements(case) - elements(odd)).abs();
        let whole = of_lesson(cases, "transpose").filter(is_whole);
        let near = whole.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let (whole, whole_rate) = best(&near.shape)?;
        let spread = |case: &Case| case.times.get(&Side::Kernel).map(|times| times.spread());
        Some(Found {
            value: odd_rate / whole_rate,
            spread: Some(spread(fastest)? + spread(whole)?),
            at: format!("{}, beside {}", at(fastest), whole.shape.replace('x', "×")),
        })
    }))
}

/// The fastest addition, but no strided or broadcast one: those move other bytes.
fn vector_add(cases: &[Case]) -> Option<Found> {
    const STRAIGHT: [&str; 2] = ["add", "add_vectorized"];
    most(
        of_lesson(cases, "coalescing")
            .filter(|case| STRAIGHT.contains(&&*case.kernel) && case.dims() >= vec![1 << 26])
            .filter_map(|case| Found::speed(case, Side::Copy)),
    )
}

fn reduce(cases: &[Case], is_meant: impl Fn(u64) -> bool) -> Option<Found> {
    let cases = of_kernel(cases, "reduce_fast");
    least(
        cases
            .filter(|case| case.dims().first().is_some_and(|&n| is_meant(n)))
            .filter_map(|case| Found::speed(case, Side::Cub)),
    )
}

fn running_mean(cases: &[Case]) -> Option<Found> {
    // Elements × window; short inputs do not fill the memory's pipes.
    let is_meant =
        |case: &&Case| matches!(case.dims()[..], [n, window] if n >= 1 << 26 && window <= 1024);
    let cases = of_kernel(cases, "running_mean_shared").filter(is_meant);
    least(cases.filter_map(|case| Found::speed(case, Side::Copy)))
}

fn brute_force(cases: &[Case]) -> Option<Found> {
    let is_meant = |case: &&Case| !case.kernel.contains("cells");
    most(
        of_lesson(cases, "neighbor")
            .filter(is_meant)
            .filter_map(|case| {
                let n_atoms = *case.dims().first()? as f64;
                let n_pairs = n_atoms * (n_atoms - 1.0) / 2.0;
                Some(Found {
                    value: n_pairs / (case.median_ms()? / 1e3),
                    spread: case.times.get(&Side::Kernel).map(|times| times.spread()),
                    at: at(case),
                })
            }),
    )
}

fn sgemm(cases: &[Case]) -> Option<Found> {
    let is_meant = |case: &&Case| !case.dims().is_empty() && case.dims().iter().all(|&n| n == 4096);
    most(
        of_lesson(cases, "sgemm")
            .filter(is_meant)
            .filter_map(|case| {
                let value = case.speed_of_cublas()?;
                Some(Found {
                    value,
                    spread: case.times.get(&Side::Kernel).map(|times| times.spread()),
                    at: at(case),
                })
            }),
    )
}

#[cfg(test)]
mod tests {
    use super::{Row, rows};
    use crate::report::bench::Case;
    use crate::report::bench::tests::case;
    use lesson::measure::Side;

    /// The row whose item contains the text.
    fn row(cases: &[Case], item: &str) -> Row {
        let rows = rows(cases);
        let mut found = rows.into_iter().filter(|row| row.item.contains(item));
        let row = found.next().expect("there is such a target");
        assert!(found.next().is_none(), "{item} names one target");
        row
    }

    fn timed(lesson: &str, kernel: &str, shape: &str, ms: f64, side: Side, other_ms: f64) -> Case {
        case(
            lesson,
            kernel,
            shape,
            &[(Side::Kernel, ms), (side, other_ms)],
        )
    }

    #[test]
    fn nothing_measured_is_not_reached() {
        for row in rows(&[]) {
            assert_eq!((row.is_reached(), row.verdict()), (None, "not measured"));
        }
    }

    #[test]
    fn every_kernel_and_lesson_named_here_exists() {
        let lessons = ["transpose", "coalescing", "neighbor"];
        for lesson in lessons {
            assert!(
                crate::registry::LESSONS
                    .iter()
                    .any(|known| known.id == lesson)
            );
        }
        for kernel in [
            "add",
            "add_vectorized",
            "reduce_fast",
            "running_mean_shared",
            "neighbor_cells_build",
        ] {
            assert!(crate::registry::kernel(kernel).is_ok(), "{kernel}");
        }
    }

    #[test]
    fn the_slowest_beside_its_twin_is_named_and_the_slow_are_counted() {
        let at = |kernel, speed| timed("l", kernel, "8", 1.0, Side::Twin, speed);
        let cases = [at("a", 1.2), at("b", 0.9), at("c", 0.96), at("d", 1.0)];
        let row = row(&cases, "the worst");
        assert_eq!((row.measured, row.verdict()), (Some(0.9), "missed"));
        assert_eq!(row.at.as_deref(), Some("b 8; 2 of 4 below 0.97"));
    }

    #[test]
    fn the_fastest_transpose_counts() {
        let cases = [
            timed("transpose", "a", "8192x8192", 2.0, Side::Copy, 1.0),
            timed("transpose", "b", "8192x8192", 1.0, Side::Copy, 1.01),
            timed("transpose", "b", "32768x32768", 1.0, Side::Copy, 0.99),
        ];
        let small = row(&cases, "8192×8192");
        assert_eq!(small.verdict(), "reached");
        assert_eq!(small.at.as_deref(), Some("b 8192×8192"));
        assert_eq!(row(&cases, "32768×32768").verdict(), "missed");
    }

    #[test]
    fn odd_sizes_are_held_to_their_neighbours_rate() {
        let cases = [
            timed("transpose", "a", "640x640", 1.0, Side::Copy, 1.0),
            timed("transpose", "slow", "640x640", 9.0, Side::Copy, 1.0),
            timed("transpose", "a", "64x64", 0.001, Side::Copy, 1.0),
            timed("transpose", "a", "640x641", 1.02, Side::Copy, 1.0),
            timed("transpose", "slow", "640x641", 9.0, Side::Copy, 1.0),
        ];
        let row = row(&cases, "multiples of 64");
        let measured = row.measured.expect("measured");
        assert!((measured - 641.0 / 640.0 / 1.02).abs() < 1e-9, "{measured}");
        assert_eq!(row.verdict(), "reached");
    }

    #[test]
    fn the_worst_length_of_a_reduction_counts() {
        let at = |n: u64, speed| {
            timed(
                "reduction",
                "reduce_fast",
                &n.to_string(),
                1.0,
                Side::Cub,
                speed,
            )
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
            .map(|(n, speed)| Case {
                times_in_row: at(n, speed).times,
                ..at(n, 1.0)
            })
            .into();
        assert_eq!(row(&cases, "alone").measured, Some(1.4));
        assert_eq!(row(&cases, "alone").verdict(), "missed");
        assert_eq!(row(&cases, "in a row").verdict(), "not measured");
        assert_eq!(row(&in_row, "alone").measured, Some(1.0));
        assert_eq!(row(&in_row, "in a row").measured, Some(1.7));
        assert_eq!(row(&in_row, "in a row").verdict(), "reached");
        assert_eq!(row(&cases, "2³⁰").measured, Some(1.016));
        assert_eq!(row(&cases, "2³⁰").verdict(), "reached");
    }

    #[test]
    fn less_is_better_for_the_cell_list() {
        let at = |ms| {
            [timed(
                "neighbor",
                "neighbor_cells_build",
                "1000000",
                ms,
                Side::Clear,
                1.0,
            )]
        };
        assert_eq!(row(&at(2.9), "cells").verdict(), "reached");
        assert_eq!(row(&at(3.1), "cells").verdict(), "missed");
        assert_eq!(row(&at(3.1), "cells").measured, Some(3.1));
    }

    #[test]
    fn pairs_are_counted_once() {
        // A million atoms, half a second: 10⁶ · (10⁶ − 1) / 2 / 0.5.
        let cases = [timed(
            "neighbor",
            "neighbor_tiles",
            "1000000",
            500.0,
            Side::Copy,
            1.0,
        )];
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
        let at = |shape: &str, speed| {
            timed(
                "running_mean",
                "running_mean_shared",
                shape,
                1.0,
                Side::Copy,
                speed,
            )
        };
        let cases = [
            at("67108864x1024", 0.98),
            at("67108864x2048", 0.5),
            at("1000003x5", 0.3),
        ];
        assert_eq!(row(&cases, "running mean").measured, Some(0.98));
    }
}
