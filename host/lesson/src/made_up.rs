//! Made-up measurements, for tests of code that reads them.

use crate::figures::Figures;
use crate::measure::{Alone, Ratio, Side, Times};
use crate::{CaseResult, Measurement, Shape, Status};
use std::collections::BTreeMap;
use std::time::Duration;

/// A result of a kernel on a shape.
pub fn result(kernel: &'static str, shape: &[u32], status: Status) -> CaseResult {
    CaseResult {
        lesson: "lesson",
        kernel,
        shape: Shape::of(shape),
        status,
        reason: None,
        can_be_profiled: false,
        lead: None,
        failed_size: None,
        figures: Figures::default(),
        elapsed: Duration::ZERO,
        schedule: None,
        n_schedules_passed: None,
    }
}

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
pub fn case(lesson: &str, kernel: &str, shape: &str, medians: &[(Side, f64)]) -> Measurement {
    Measurement {
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
        ratios: BTreeMap::new(),
        choices: BTreeMap::new(),
        times_in_row: BTreeMap::new(),
        n_in_row: 0,
        alone: BTreeMap::new(),
    }
}

fn alone((rested_ms, steady_ms, joules): (f64, f64, f64)) -> Alone {
    Alone {
        rested: times(rested_ms),
        steady: times(steady_ms),
        joules: Some(joules),
        power_w: Some(joules / steady_ms * 1000.0),
        sm_clock_mhz: Some(1500),
    }
}

/// A matrix product by a kernel and by cuBLASLt, each alone (rested, steady, joules), and their
/// ratio when alternating.
pub fn timed(
    kernel: &str,
    shape: [u32; 3],
    own: (f64, f64, f64),
    theirs: (f64, f64, f64),
    in_turn: f32,
) -> Measurement {
    let name = shape.map(|extent| extent.to_string()).join("x");
    let mut one = case("gemm", kernel, &name, &[(Side::Kernel, own.1)]);
    let [m, n, k] = shape.map(u64::from);
    one.flops = 2 * m * n * k;
    one.alone.insert(Side::Kernel, alone(own));
    one.alone.insert(Side::CublasLt, alone(theirs));
    one.ratios
        .extend(Ratio::of(&[1.0], &[in_turn]).map(|ratio| (Side::CublasLt, ratio)));
    one
}
