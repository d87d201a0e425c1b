//! Ladders: what each step reached, and gained over the one before; that of GEMM as tables of
//! the README.

use super::bench::BenchReport;
use crate::report::grid::{Column, Grid};
use host::lessons::gemm;
use host::lessons::gemm::shapes::{CUBES, OF_PEOPLE};
use host::lessons::gemm::targets;
use lesson::measure::{Ratio, Side};
use lesson::{KernelEntry, Measurement};

/// The product that the steps are compared on.
pub const SIDE: u64 = 4096;

/// A step of a ladder: a kernel on the shape that all are compared on.
#[derive(Clone, Copy)]
pub struct Step<'r> {
    /// The kernel.
    pub kernel: &'static KernelEntry,
    /// What was measured of it, if that was.
    pub case: Option<&'r Measurement>,
    /// 10¹² operations per second.
    pub teraflops: Option<f64>,
    /// How many times as fast as the step before that was measured.
    pub gain: Option<f64>,
}

/// The steps of a ladder, from the first on, on a shape of these extents.
pub fn steps<'r>(
    kernels: &'static [KernelEntry],
    cases: &'r [Measurement],
    dims: &[u64],
) -> Vec<Step<'r>> {
    let mut before: Option<f64> = None;
    let step = |kernel: &'static KernelEntry| {
        let is_it = |case: &&Measurement| case.kernel == kernel.id && case.dims() == dims;
        let case = cases.iter().find(is_it);
        let teraflops = case.and_then(|case| case.teraflops(Side::Kernel));
        let gain = teraflops.zip(before).map(|(now, before)| now / before);
        before = teraflops.or(before);
        Step {
            kernel,
            case,
            teraflops,
            gain,
        }
    };
    kernels.iter().map(step).collect()
}

/// The table as Markdown; without a run's times, what will be in it.
pub fn table(report: Option<&BenchReport>) -> String {
    let cases = report.map_or(&[][..], |report| &report.cases);
    let steps = steps(gemm::steps(), cases, &[SIDE; 3]);
    let mut text = grid(&steps).markdown();
    text.push('\n');
    let mut theirs = steps.iter().filter_map(|step| theirs(step.case?));
    text += &match theirs.next_back() {
        Some(theirs) => {
            format!("A product of {SIDE}×{SIDE} by {SIDE}×{SIDE}, beside cuBLASLt ({theirs}).\n\n")
        }
        None => format!(
            "A product of {SIDE}×{SIDE} by {SIDE}×{SIDE}, beside cuBLASLt; not measured yet.\n\n"
        ),
    };
    text
}

fn grid(steps: &[Step<'_>]) -> Grid {
    let mut grid = Grid::new(&[
        Column::numbers("step"),
        Column::words("kernel"),
        Column::words("what is new"),
        Column::numbers("TFLOP/s"),
        Column::numbers("× the step before"),
        Column::numbers("× cuBLASLt"),
    ]);
    for (number, step) in (1..).zip(steps) {
        let ratio = step.case.and_then(|case| case.ratio_to(Side::CublasLt));
        let words = |number: Option<f64>, digits: usize| {
            number.map_or_else(String::new, |number| format!("{number:.digits$}"))
        };
        grid.row(vec![
            number.to_string().into(),
            format!("`{}`", step.kernel.id).into(),
            step.kernel.technique.into(),
            words(step.teraflops, 0).into(),
            words(step.gain, 2).into(),
            words(ratio.map(|ratio| ratio.median), 3).into(),
        ]);
    }
    grid
}

/// Only the kernels that are measured beyond this cube are in the chart of cubes.
const LADDER_END: u64 = 8192;

/// What a kernel reached on cubes, of cuBLASLt's speed.
#[derive(Clone, Debug)]
pub struct OnCubes {
    /// The kernel.
    pub kernel: &'static str,
    /// Side and ratio of each cube that was measured, the smallest first.
    pub ratios: Vec<(u64, Ratio)>,
}

/// The kernels that are measured on large cubes.
pub fn on_cubes(cases: &[Measurement]) -> Vec<OnCubes> {
    let of_cube = |case: &Measurement| match case.dims()[..] {
        [m, n, k] if m == n && n == k => case.ratio_to(Side::CublasLt).map(|ratio| (m, ratio)),
        _ => None,
    };
    let ids = gemm::LESSON.kernels.iter().map(|kernel| kernel.id);
    let kernels = ids.map(|kernel| {
        let own = cases.iter().filter(|case| case.kernel == kernel);
        let mut ratios: Vec<_> = own.filter_map(of_cube).collect();
        ratios.sort_by_key(|(side, _)| *side);
        OnCubes { kernel, ratios }
    });
    let is_large = |kernel: &OnCubes| kernel.ratios.iter().any(|(side, _)| *side > LADDER_END);
    kernels.filter(is_large).collect()
}

/// What the fastest kernels by `wgmma` reached on cubes, of cuBLASLt's speed, as Markdown; nothing
/// without times.
pub fn cubes(report: Option<&BenchReport>) -> String {
    let Some(report) = report else {
        return String::new();
    };
    let mut grid = Grid::new(&[
        Column::words("side"),
        Column::words("fastest, f16"),
        Column::numbers("× cuBLASLt"),
        Column::words("fastest, bf16"),
        Column::numbers("× cuBLASLt"),
    ]);
    for side in CUBES {
        let mut row = vec![format!("{side}³").into()];
        for wants_bf16 in [false, true] {
            let is_meant =
                |one: &Measurement| targets::is_wgmma(one) && targets::is_bf16(one) == wants_bf16;
            let [kernel, ratio] = match fastest(&report.cases, [side; 3], is_meant) {
                Some((case, ratio)) => {
                    [format!("`{}`", case.kernel), format!("{:.3}", ratio.median)]
                }
                None => [String::new(), String::new()],
            };
            row.extend([kernel.into(), ratio.into()]);
        }
        grid.row(row);
    }
    let mut text = grid.markdown();
    text.push('\n');
    text
}

/// The fastest of some kernels on a shape, and its ratio to cuBLASLt.
fn fastest(
    cases: &[Measurement],
    shape: [u32; 3],
    is_meant: impl Fn(&Measurement) -> bool,
) -> Option<(&Measurement, Ratio)> {
    let dims = shape.map(u64::from);
    let meant = cases
        .iter()
        .filter(|case| case.dims() == dims && is_meant(case));
    let ratios = meant.filter_map(|case| Some((case, case.ratio_to(Side::CublasLt)?)));
    ratios.max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
}

/// What the fastest kernel reached on each product that people have, as Markdown; nothing without
/// times.
pub fn people(report: Option<&BenchReport>) -> String {
    let Some(report) = report else {
        return String::new();
    };
    let mut grid = Grid::new(&[
        Column::words("m × n × k"),
        Column::words("fastest kernel"),
        Column::numbers("µs"),
        Column::numbers("TFLOP/s"),
        Column::numbers("× cuBLASLt"),
    ]);
    for shape in OF_PEOPLE {
        let Some((case, ratio)) = fastest(&report.cases, shape, |_| true) else {
            continue;
        };
        let number = |number: Option<f64>, digits: usize| {
            number.map_or_else(String::new, |number| format!("{number:.digits$}"))
        };
        let microseconds = case
            .times
            .get(&Side::Kernel)
            .map(|time| 1e3 * time.median_ms);
        grid.row(vec![
            shape.map(|extent| extent.to_string()).join(" × ").into(),
            format!("`{}`", case.kernel).into(),
            number(microseconds, 1).into(),
            number(case.teraflops(Side::Kernel), 0).into(),
            format!("{:.3}", ratio.median).into(),
        ]);
    }
    let mut text = grid.markdown();
    text.push('\n');
    text
}

/// cuBLASLt's speed, and the board's clock and power.
fn theirs(case: &Measurement) -> Option<String> {
    let mut text = format!("{:.0} TFLOP/s", case.teraflops(Side::CublasLt)?);
    let sensors = case.sensors.unwrap_or_default();
    if let Some(mhz) = sensors.sm_clock_mhz {
        text += &format!(", {mhz} MHz");
    }
    if let Some(watts) = sensors.power_w {
        text += &format!(", {watts:.0} W");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::report::bench::tests::{case, report};
    use lesson::Measurement;
    use lesson::measure::{Ratio, Side};

    fn measured(kernel: &str, shape: &str, ms: f64) -> Measurement {
        let sides = [(Side::Kernel, ms), (Side::CublasLt, 2.0)];
        let mut one = case("gemm", kernel, shape, &sides);
        one.flops = 2 * 8192 * 8192 * 8192;
        let ratio = Ratio::of(&[ms as f32], &[2.0]).expect("a pair");
        one.ratios.insert(Side::CublasLt, ratio);
        one
    }

    #[test]
    fn each_step_is_beside_the_one_before() {
        let report = report(vec![
            measured("gemm_naive", "4096x4096x4096", 40.0),
            measured("gemm_tiled", "4096x4096x4096", 16.0),
            measured("gemm_swizzled", "2048x2048x2048", 1.0),
        ]);
        let text = table(Some(&report));
        let has = |row: &str| assert!(text.contains(row), "{row} is not in\n{text}");
        has("| 27 |  | 0.050 |");
        has("| 69 | 2.50 | 0.125 |");
        // Measured elsewhere only.
        has("| 3 | `gemm_swizzled` | tiles swizzled by XOR, fragments by ldmatrix |  |  |  |");
        has("beside cuBLASLt (550 TFLOP/s).");
    }

    #[test]
    fn without_times_the_steps_are_there() {
        let text = table(None);
        assert!(text.contains("`gemm_pipelined`") && text.contains("not measured yet"));
    }
}
