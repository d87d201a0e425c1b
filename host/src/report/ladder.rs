//! The GEMM ladder as a table of the README: what each step reached, and gained over the one
//! before.

use super::bench::BenchReport;
use crate::lessons::gemm;
use crate::lessons::gemm::shapes::{CUBES, OF_PEOPLE};
use crate::report::grid::{Column, Grid};
use lesson::measure::Side;
use lesson::{KernelEntry, Measurement};

/// The product that the steps are compared on.
const SIDE: u64 = 4096;

/// The table as Markdown; without a run's times, what will be in it.
pub fn table(report: Option<&BenchReport>) -> String {
    let cases = report.map_or(&[][..], |report| &report.cases);
    let at_side = |kernel: &KernelEntry| {
        cases
            .iter()
            .find(|case| case.kernel == kernel.id && case.dims() == [SIDE; 3])
    };
    let measured: Vec<_> = gemm::steps().iter().map(at_side).collect();
    let mut text = steps(&measured).markdown();
    text.push('\n');
    let mut theirs = measured.iter().flatten().filter_map(|case| theirs(case));
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

fn steps(measured: &[Option<&Measurement>]) -> Grid {
    let mut grid = Grid::new(&[
        Column::numbers("step"),
        Column::words("kernel"),
        Column::words("what is new"),
        Column::numbers("TFLOP/s"),
        Column::numbers("× the step before"),
        Column::numbers("× cuBLASLt"),
    ]);
    let mut before: Option<f64> = None;
    for (number, (kernel, case)) in (1..).zip(gemm::steps().iter().zip(measured)) {
        let speed = case.and_then(|case| case.teraflops(Side::Kernel));
        let gain = speed.zip(before).map(|(now, before)| now / before);
        let ratio = case.and_then(|case| case.ratio_to(Side::CublasLt));
        let words = |number: Option<f64>, digits: usize| {
            number.map_or_else(String::new, |number| format!("{number:.digits$}"))
        };
        grid.row(vec![
            number.to_string().into(),
            format!("`{}`", kernel.id).into(),
            kernel.technique.into(),
            words(speed, 0).into(),
            words(gain, 2).into(),
            words(ratio.map(|ratio| ratio.median), 3).into(),
        ]);
        before = speed.or(before);
    }
    grid
}

/// Only the kernels that are measured beyond this cube are in the table of cubes.
const LADDER_END: u64 = 8192;

/// What the last steps reached on other cubes, of cuBLASLt's speed, as Markdown; nothing without
/// times.
pub fn cubes(report: Option<&BenchReport>) -> String {
    let Some(report) = report else {
        return String::new();
    };
    let of_cube = |case: &Measurement| match case.dims()[..] {
        [m, n, k] if m == n && n == k => case.ratio_to(Side::CublasLt).map(|ratio| (m, ratio)),
        _ => None,
    };
    let is_large = |id: &str| {
        let mut of_kernel = report.cases.iter().filter(|case| case.kernel == id);
        of_kernel.any(|case| of_cube(case).is_some_and(|(side, _)| side > LADDER_END))
    };
    let ids = gemm::LESSON.kernels.iter().map(|kernel| kernel.id);
    let kernels: Vec<&'static str> = ids.filter(|id| is_large(id)).collect();
    let mut columns = vec![Column::words("side")];
    columns.extend(kernels.iter().copied().map(Column::numbers));
    let mut grid = Grid::new(&columns);
    for side in CUBES.map(u64::from) {
        let at = |kernel: &str| {
            let mut of_kernel = report.cases.iter().filter(|case| case.kernel == kernel);
            let found = of_kernel.find_map(|case| of_cube(case).filter(|(of, _)| *of == side));
            found.map_or_else(String::new, |(_, ratio)| format!("{:.3}", ratio.median))
        };
        let mut row = vec![format!("{side}³").into()];
        row.extend(kernels.iter().map(|&kernel| at(kernel).into()));
        grid.row(row);
    }
    let mut text = grid.markdown();
    text.push('\n');
    text
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
        let dims = shape.map(u64::from);
        let measured = report.cases.iter().filter(|case| case.dims() == dims);
        let ratios = measured.filter_map(|case| Some((case, case.ratio_to(Side::CublasLt)?)));
        let fastest = ratios.max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
        let Some((case, ratio)) = fastest else {
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
