//! Ladders: the rate of each step, and its gain over the one before; GEMM's ladder as tables of
//! docs/results.md, with the kernels' rates on other products.

use super::bench::BenchReport;
use crate::report::grid::{Column, Grid};
use host::lessons::gemm;
use host::lessons::gemm::baseline::{self, Beside, is_bf16};
use host::lessons::gemm::products::{CUBES, LADDER, UNTUNED};
use host::lessons::gemm::shapes::OF_PEOPLE;
use host::lessons::gemm::targets;
use lesson::measure::{Ratio, Side, State, teraflops};
use lesson::{KernelEntry, Measurement};

/// The product that the steps are compared on.
pub const SIDE: u64 = LADDER as u64;

/// A step of a ladder: a kernel on the shape that all are compared on.
#[derive(Clone, Copy)]
pub struct Step<'r> {
    /// The kernel.
    pub kernel: &'static KernelEntry,
    /// Its measurement, if there is one.
    pub case: Option<&'r Measurement>,
    /// 10¹² operations per second: without a pause, where that was timed, else alternating.
    pub teraflops: Option<f64>,
    /// Its speed relative to the last measured step before it.
    pub gain: Option<f64>,
}

/// The steps of a ladder, from the first one, on a shape of these extents.
pub fn steps<'r>(
    kernels: &'static [KernelEntry],
    cases: &'r [Measurement],
    dims: &[u64],
) -> Vec<Step<'r>> {
    let mut before: Option<f64> = None;
    let step = |kernel: &'static KernelEntry| {
        let is_it = |case: &&Measurement| case.kernel == kernel.id && case.dims() == dims;
        let case = cases.iter().find(is_it);
        let teraflops = case.and_then(rate);
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

/// 10¹² operations per second of a side: without a pause, where that was timed, else alternating.
pub fn rate_of(case: &Measurement, side: Side) -> Option<f64> {
    match case.alone.get(&side) {
        Some(alone) => (case.flops != 0).then(|| teraflops(case.flops, alone.steady.median_ms)),
        None => case.teraflops(side),
    }
}

fn rate(case: &Measurement) -> Option<f64> {
    rate_of(case, Side::Kernel).filter(|_| case.median_ms().is_some())
}

fn number(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(String::new, |number| format!("{number:.digits$}"))
}

/// The columns that compare with the baseline, in order.
const BESIDE: [&str; 4] = [
    "× cuBLASLt, no pause",
    "after a rest",
    "in turn",
    "energy, × cuBLASLt's",
];

fn beside_cells(beside: Option<Beside>) -> [String; 4] {
    [
        number(beside.map(|beside| beside.steady), 3),
        number(beside.map(|beside| beside.rested), 3),
        number(beside.and_then(|beside| beside.in_turn), 3),
        number(beside.and_then(|beside| beside.energy), 2),
    ]
}

/// The table as Markdown; without a run's times, the table that will hold them.
pub fn table(report: Option<&BenchReport>) -> String {
    let cases = report.map_or(&[][..], |report| &report.cases);
    let steps = steps(gemm::steps(), cases, &[SIDE; 3]);
    let mut columns = vec![
        Column::numbers("step"),
        Column::words("kernel"),
        Column::words("what is new"),
        Column::numbers("TFLOP/s"),
        Column::numbers("× the step before"),
    ];
    columns.extend(BESIDE.map(Column::numbers));
    let mut grid = Grid::new(&columns);
    for (number_of, step) in (1..).zip(&steps) {
        let mut row = vec![
            number_of.to_string().into(),
            format!("`{}`", step.kernel.id).into(),
            step.kernel.technique.into(),
            number(step.teraflops, 0).into(),
            number(step.gain, 2).into(),
        ];
        let beside = step.case.and_then(|case| Beside::of(cases, case));
        row.extend(beside_cells(beside).map(Into::into));
        grid.row(row);
    }
    let product = format!("A product of {SIDE}×{SIDE} by {SIDE}×{SIDE}");
    let theirs = steps
        .iter()
        .rev()
        .find_map(|step| theirs(cases, step.case?));
    let under = match theirs {
        Some(theirs) => format!("{product}, without a pause; cuBLASLt: {theirs}."),
        None => format!("{product}, against cuBLASLt; not measured yet."),
    };
    format!("{}\n{under}\n\n", grid.markdown())
}

/// Only the kernels that are measured beyond this cube are in the chart of cubes.
const LADDER_END: u64 = 8192;

/// A kernel's rates on cubes, relative to cuBLASLt's.
#[derive(Clone, Debug)]
pub struct OnCubes {
    /// The kernel.
    pub kernel: &'static str,
    /// Side and ratio of each cube that was measured, the smallest first.
    pub ratios: Vec<(u64, Ratio)>,
}

/// The kernels that are measured on large cubes, without a pause.
pub fn on_cubes(cases: &[Measurement]) -> Vec<OnCubes> {
    let of_cube = |case: &Measurement| match case.dims()[..] {
        [m, n, k] if m == n && n == k => {
            baseline::steady_ratio(cases, case).map(|ratio| (m, ratio))
        }
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

/// The rates of the fastest kernels by `wgmma` on cubes, as Markdown; empty without times.
pub fn cubes(report: Option<&BenchReport>) -> String {
    let products = CUBES.into_iter().flat_map(|side| {
        [false, true].map(|wants_bf16| Product {
            name: format!("{side}³, {}", if wants_bf16 { "bf16" } else { "f16" }),
            dims: [side; 3],
            wants_bf16,
        })
    });
    products_table("cube", "fastest kernel", report, products.collect())
}

/// The rates of the chosen kernel on each product from real models, as Markdown; empty without
/// times.
pub fn people(report: Option<&BenchReport>) -> String {
    products_table("m × n × k", "chosen kernel", report, of_f16(&OF_PEOPLE))
}

/// The same on products that no kernel was tuned for.
pub fn untuned(report: Option<&BenchReport>) -> String {
    products_table("m × n × k", "chosen kernel", report, of_f16(&UNTUNED))
}

/// A row of a table.
struct Product {
    name: String,
    dims: [u32; 3],
    wants_bf16: bool,
}

fn of_f16(shapes: &[[u32; 3]]) -> Vec<Product> {
    let product = |&dims: &[u32; 3]| Product {
        name: dims.map(|extent| extent.to_string()).join(" × "),
        dims,
        wants_bf16: false,
    };
    shapes.iter().map(product).collect()
}

/// The kernel that is fastest by time on each product, compared with the baseline, and the
/// summary.
fn products_table(
    product: &'static str,
    kernel: &'static str,
    report: Option<&BenchReport>,
    products: Vec<Product>,
) -> String {
    let Some(report) = report else {
        return String::new();
    };
    let cases = &report.cases;
    let mut columns = vec![
        Column::words(product),
        Column::words(kernel),
        Column::numbers("µs"),
        Column::numbers("TFLOP/s"),
    ];
    columns.extend(BESIDE.map(Column::numbers));
    let mut grid = Grid::new(&columns);
    let mut all = Vec::new();
    for Product {
        name,
        dims,
        wants_bf16,
    } in products
    {
        let is_meant = |one: &Measurement| targets::is_wgmma(one) && is_bf16(one) == wants_bf16;
        let Some(case) = baseline::fastest(cases, dims, is_meant) else {
            continue;
        };
        let beside = Beside::of(cases, case);
        let microseconds = case.alone_ms(State::Steady).map(|ms| 1e3 * ms);
        let mut row = vec![
            name.into(),
            format!("`{}`", case.kernel).into(),
            number(microseconds, 1).into(),
            number(rate(case), 0).into(),
        ];
        row.extend(beside_cells(beside).map(Into::into));
        grid.row(row);
        all.extend(beside.map(|beside| (case, beside)));
    }
    if all.is_empty() {
        return String::new();
    }
    format!("{}\n{}", grid.markdown(), on_the_whole(&all))
}

/// The mean and the worst in both states, for products whose rows of C the library takes.
fn on_the_whole(all: &[(&Measurement, Beside)]) -> String {
    // The library's fast algorithms refuse odd rows of C.
    let is_even = |case: &Measurement| case.dims().get(1).is_some_and(|n| n.is_multiple_of(8));
    let even: Vec<_> = all
        .iter()
        .filter(|(case, _)| is_even(case))
        .copied()
        .collect();
    let states = [
        (State::Steady, "Without a pause"),
        (State::Rested, "After a rest"),
    ];
    let mut text = String::new();
    for (state, name) in states {
        if let Some((mean, (worst, at))) = baseline::summary(&even, state) {
            let at = at.shape.replace('x', "×");
            text += &format!("{name}: geometric mean {mean:.3}, the worst {worst:.3} ({at}). ");
        }
    }
    let n_odd = all.len() - even.len();
    if n_odd > 0 && !text.is_empty() {
        text += &format!("Without the {n_odd} whose n is not a multiple of 8. ");
    }
    match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n\n"),
    }
}

/// cuBLASLt's speed without a pause, and the board's clock and power meanwhile.
fn theirs(cases: &[Measurement], case: &Measurement) -> Option<String> {
    let beside = Beside::of(cases, case)?;
    let mut text = format!("{:.0} TFLOP/s", rate(case)? / beside.steady);
    let alone = case.alone.get(&Side::CublasLt)?;
    if let Some(mhz) = alone.sm_clock_mhz {
        text += &format!(", {mhz} MHz");
    }
    if let Some(watts) = alone.power_w {
        text += &format!(", {watts:.0} W");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{cubes, people, table};
    use crate::report::bench::tests::report;
    use lesson::made_up::timed;

    #[test]
    fn each_step_is_beside_the_one_before_and_all_beside_one_baseline() {
        let cube =
            |kernel, side, own, theirs, in_turn| timed(kernel, [side; 3], own, theirs, in_turn);
        let report = report(vec![
            cube("gemm_naive", 4096, (4.0, 5.0, 1.0), (0.2, 0.25, 0.1), 0.05),
            cube("gemm_tiled", 4096, (1.0, 2.0, 0.5), (0.2, 0.20, 0.1), 0.11),
            cube("gemm_swizzled", 2048, (1.0, 1.0, 0.5), (1.0, 1.0, 0.1), 1.0),
        ]);
        let text = table(Some(&report));
        let has = |row: &str| assert!(text.contains(row), "{row} is not in\n{text}");
        has("| 27 |  | 0.040 | 0.050 | 0.050 | 10.00 |");
        has("| 69 | 2.50 | 0.100 | 0.200 | 0.110 | 5.00 |");
        // Only measured elsewhere.
        has("| 3 | `gemm_swizzled` | tiles swizzled by XOR, fragments by ldmatrix |  |  |");
        has("cuBLASLt: 687 TFLOP/s, 1500 MHz, 500 W.");
    }

    #[test]
    fn without_times_the_steps_are_there() {
        let text = table(None);
        assert!(text.contains("`gemm_pipelined`") && text.contains("not measured yet"));
        assert_eq!((cubes(None), people(None)), (String::new(), String::new()));
    }

    #[test]
    fn tables_name_the_fastest_by_time_and_say_what_all_make() {
        let (ping_pong, cube) = ("gemm_ping_pong", [4096; 3]);
        let (quick, slow) = ((0.2, 0.2, 0.1), (1.4, 1.4, 0.4));
        let wide = (0.19, 0.19, 0.1);
        let report = report(vec![
            timed(ping_pong, cube, quick, (0.2, 0.25, 0.1), 1.25),
            timed("gemm_width_256", cube, wide, wide, 0.98),
            // C has odd rows.
            timed(ping_pong, [4095, 4097, 4093], quick, slow, 7.0),
            timed(
                ping_pong,
                [4096, 4800, 1600],
                (0.1, 0.1, 0.1),
                (0.09, 0.095, 0.1),
                1.0,
            ),
        ]);
        let text = cubes(Some(&report));
        let row = "| 4096³, f16 | `gemm_width_256` | 190.0 |";
        assert!(text.contains(row), "{text}");
        assert!(!text.contains("gemm_ping_pong"), "{text}");
        let text = people(Some(&report));
        assert!(text.contains("4095 × 4097 × 4093"), "{text}");
        let whole = "Without a pause: geometric mean 0.950, the worst 0.950 (4096×4800×1600). \
                     After a rest: geometric mean 0.900, the worst 0.900 (4096×4800×1600). \
                     Without the 1 whose n is not a multiple of 8.";
        assert!(text.contains(whole), "{text}");
    }
}
