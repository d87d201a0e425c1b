//! The ladder's target speed relative to cuBLASLt, each with the device to itself.

use super::baseline::{self, Beside, is_bf16};
use super::products::{CUBES, UNTUNED};
use super::shapes::OF_PEOPLE;
use lesson::measure::{Side, State, geometric_mean};
use lesson::target::{least, most};
use lesson::{Found, Measurement, Target};

/// The kernels by `mma.sync`; all others use `wgmma`.
pub const BY_MMA: [&str; 5] = [
    "gemm_naive",
    "gemm_tiled",
    "gemm_swizzled",
    "gemm_pipelined",
    "gemm_by_mma",
];

const CUBLASLT: &str = "cuBLASLt, the fastest of its heuristic's algorithms";

/// The targets, in the ladder's order.
pub static TARGETS: [Target; 8] = [
    Target::at_least("mma.sync, f16, 8192³, in turn", CUBLASLT, 0.66, by_mma),
    Target::at_least(
        "wgmma, f16 and bf16, every cube from 2048 to 16384, without a pause",
        CUBLASLT,
        1.0,
        |measured| least(every_cube(measured, |beside| Some(beside.steady))?.into_iter()),
    ),
    Target::at_least(
        "wgmma, f16 and bf16, every cube from 2048 to 16384, after a rest",
        CUBLASLT,
        1.0,
        |measured| least(every_cube(measured, |beside| Some(beside.rested))?.into_iter()),
    ),
    Target::at_most(
        "wgmma, f16 and bf16, every cube from 2048 to 16384, energy of a product",
        CUBLASLT,
        1.0,
        |measured| most(every_cube(measured, |beside| beside.energy)?.into_iter()),
    ),
    Target::at_least(
        "wgmma, the worst of 24 shapes from practice, the kernel chosen by its tiles",
        CUBLASLT,
        0.95,
        |measured| least(of_products(measured, &OF_PEOPLE)?.into_iter()),
    ),
    Target::at_least(
        "wgmma, the same, geometric mean without odd sizes",
        CUBLASLT,
        1.0,
        |measured| mean_without_odd(measured, &OF_PEOPLE),
    ),
    Target::at_least(
        "wgmma, the worst of 12 shapes that nobody tuned for",
        CUBLASLT,
        0.95,
        |measured| least(of_products(measured, &UNTUNED)?.into_iter()),
    ),
    Target::at_least(
        "GEMM, the worst kernel beside its CUDA C++ baseline",
        "CUDA C++ by nvcc -O3",
        0.99,
        |measured| {
            let baselines = measured.iter();
            least(baselines.filter_map(|one| Found::ratio(one, Side::Baseline)))
        },
    ),
];

/// Whether a kernel multiplies by `wgmma`.
pub fn is_wgmma(one: &Measurement) -> bool {
    !BY_MMA.contains(&&*one.kernel)
}

/// The fastest kernel by `mma.sync` on the largest product that all of them multiply. It draws
/// less than the board's power limit, so it gains nothing from alternating.
fn by_mma(measured: &[Measurement]) -> Option<Found> {
    let meant = measured
        .iter()
        .filter(|one| one.dims() == [8192; 3] && BY_MMA.contains(&&*one.kernel));
    let timed = meant.filter_map(|one| Some((one, one.median_ms()?)));
    let (fastest, _) = timed.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Found::ratio(fastest, Side::CublasLt)
}

/// The fastest kernel by `wgmma` on a product, relative to the baseline of its shape.
fn wgmma(
    measured: &[Measurement],
    dims: [u32; 3],
    wants_bf16: bool,
    value: impl Fn(&Beside) -> Option<f64>,
) -> Option<Found> {
    let is_meant = |one: &Measurement| is_wgmma(one) && is_bf16(one) == wants_bf16;
    let fastest = baseline::fastest(measured, dims, is_meant)?;
    let beside = Beside::of(measured, fastest)?;
    let spread = fastest.alone.get(&Side::Kernel)?.steady.spread();
    Some(Found {
        value: value(&beside)?,
        spread: Some(spread),
        at: fastest.place(),
    })
}

/// For both types on every cube; `None` unless all were measured.
fn every_cube(
    measured: &[Measurement],
    value: impl Fn(&Beside) -> Option<f64>,
) -> Option<Vec<Found>> {
    let mut found = Vec::new();
    for wants_bf16 in [false, true] {
        for side in CUBES {
            found.push(wgmma(measured, [side; 3], wants_bf16, &value)?);
        }
    }
    Some(found)
}

/// For f16, the worse of both states on each product; `None` unless all were measured.
fn of_products(measured: &[Measurement], products: &[[u32; 3]]) -> Option<Vec<Found>> {
    let worse = |beside: &Beside| {
        let states = [State::Steady, State::Rested].map(|state| beside.in_state(state));
        Some(states[0].min(states[1]))
    };
    let products = products.iter();
    products
        .map(|&dims| wgmma(measured, dims, false, worse))
        .collect()
}

/// The mean over the products whose rows of C the library's fast algorithms accept.
fn mean_without_odd(measured: &[Measurement], products: &[[u32; 3]]) -> Option<Found> {
    let even = products.iter().filter(|[_, n, _]| n.is_multiple_of(8));
    let even: Vec<[u32; 3]> = even.copied().collect();
    let found = of_products(measured, &even)?;
    Some(Found {
        value: geometric_mean(found.iter().map(|found| found.value))?,
        spread: None,
        at: format!("{} shapes", found.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::{CUBES, OF_PEOPLE, TARGETS, by_mma, mean_without_odd};
    use lesson::Measurement;
    use lesson::made_up::{case, timed};
    use lesson::measure::{Ratio, Side};

    fn in_turn(kernel: &str, shape: &str, ms: f64, ratio: f32) -> Measurement {
        let mut one = case("gemm", kernel, shape, &[(Side::Kernel, ms)]);
        let ratio = Ratio::of(&[1.0], &[ratio]).expect("a pair");
        one.ratios.insert(Side::CublasLt, ratio);
        one
    }

    #[test]
    fn the_fastest_kernel_by_mma_counts_by_its_time() {
        let cube = "8192x8192x8192";
        let all = [
            in_turn("gemm_pipelined", cube, 2.5, 0.8),
            in_turn("gemm_by_mma", cube, 2.4, 0.75),
            in_turn("gemm_by_mma", "4096x4096x4096", 0.3, 1.1),
            in_turn("gemm_wgmma", cube, 1.0, 0.9),
        ];
        let found = by_mma(&all).expect("measured");
        assert_eq!(
            (found.value, &*found.at),
            (0.75, "gemm_by_mma 8192×8192×8192")
        );
    }

    #[test]
    fn every_cube_both_types_and_each_state_must_be_there() {
        let mut all: Vec<_> = CUBES
            .iter()
            .flat_map(|&side| {
                [
                    timed("gemm_a", [side; 3], (1.0, 1.0, 2.0), (1.25, 1.5, 1.0), 1.0),
                    timed(
                        "gemm_bf16_a",
                        [side; 3],
                        (1.0, 1.0, 1.0),
                        (1.5, 1.25, 1.0),
                        1.0,
                    ),
                ]
            })
            .collect();
        let value = |all: &[Measurement], index: usize| {
            let target: &lesson::Target = &TARGETS[index];
            (target.find)(all).map(|found| found.value)
        };
        assert_eq!(
            [1, 2, 3].map(|index| value(&all, index)),
            [Some(1.25), Some(1.25), Some(2.0)]
        );
        all.pop();
        assert_eq!([1, 2, 3].map(|index| value(&all, index)), [None; 3]);
    }

    #[test]
    fn odd_rows_are_not_in_the_mean_but_every_other_product_is() {
        let on = |dims: [u32; 3]| {
            let theirs = if dims[1].is_multiple_of(8) { 0.5 } else { 9.0 };
            timed("gemm_a", dims, (1.0, 1.0, 1.0), (theirs, theirs, 1.0), 1.0)
        };
        let mut all: Vec<_> = OF_PEOPLE.iter().map(|&dims| on(dims)).collect();
        let found = mean_without_odd(&all, &OF_PEOPLE).expect("all were measured");
        assert!((found.value - 0.5).abs() < 1e-12);
        all.remove(0);
        assert_eq!(mean_without_odd(&all, &OF_PEOPLE), None);
    }
}
