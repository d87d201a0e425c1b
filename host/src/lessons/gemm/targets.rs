//! How fast the ladder should be: ratios to cuBLASLt, by pairs of runs.

use super::shapes::{CUBES, OF_PEOPLE};
use lesson::measure::{Side, geometric_mean};
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
/// In the names of kernels whose factors are bf16.
const BF16: &str = "_bf16_";

const CUBLASLT: &str = "cuBLASLt, the fastest of its heuristic's algorithms";

/// The targets, in the ladder's order.
pub static TARGETS: [Target; 7] = [
    Target::at_least("mma.sync, f16, 8192³", CUBLASLT, 0.72, |measured| {
        fastest(measured, [8192; 3], |one| BY_MMA.contains(&&*one.kernel))
    }),
    Target::at_least("wgmma, f16, 4096³", CUBLASLT, 1.06, |measured| {
        fastest(measured, [4096; 3], |one| is_wgmma(one) && !is_bf16(one))
    }),
    Target::at_least("wgmma, f16, 8192³", CUBLASLT, 1.02, |measured| {
        fastest(measured, [8192; 3], |one| is_wgmma(one) && !is_bf16(one))
    }),
    Target::at_least(
        "wgmma, f16 and bf16, every cube from 2048 to 16384",
        CUBLASLT,
        1.0,
        every_cube,
    ),
    Target::at_least(
        "wgmma, the worst of 24 shapes from practice",
        CUBLASLT,
        0.9,
        |measured| least(of_people(measured)?.into_iter()),
    ),
    Target::at_least(
        "wgmma, 24 shapes from practice, geometric mean",
        CUBLASLT,
        1.0,
        mean_of_people,
    ),
    Target::at_least(
        "GEMM, the worst kernel beside its CUDA C++ baseline",
        "CUDA C++ by nvcc -O3",
        0.99,
        |measured| {
            let twins = measured.iter();
            least(twins.filter_map(|one| Found::ratio(one, Side::Twin)))
        },
    ),
];

/// Whether a kernel multiplies by `wgmma`.
pub fn is_wgmma(one: &Measurement) -> bool {
    !BY_MMA.contains(&&*one.kernel)
}

/// Whether its factors are bf16.
pub fn is_bf16(one: &Measurement) -> bool {
    one.kernel.contains(BF16)
}

/// The fastest of some kernels on a shape.
fn fastest(
    measured: &[Measurement],
    shape: [u32; 3],
    is_meant: impl Fn(&Measurement) -> bool,
) -> Option<Found> {
    let dims = shape.map(u64::from);
    let meant = measured
        .iter()
        .filter(|one| one.dims() == dims && is_meant(one));
    most(meant.filter_map(|one| Found::ratio(one, Side::CublasLt)))
}

/// The least over types and cubes of what the fastest kernel reaches; nothing unless all were
/// measured.
fn every_cube(measured: &[Measurement]) -> Option<Found> {
    let mut found = Vec::new();
    for wants_bf16 in [false, true] {
        for side in CUBES {
            let is_meant = |one: &Measurement| is_wgmma(one) && is_bf16(one) == wants_bf16;
            found.push(fastest(measured, [side; 3], is_meant)?);
        }
    }
    least(found.into_iter())
}

/// What the fastest kernel reaches on each; nothing unless all were measured.
fn of_people(measured: &[Measurement]) -> Option<Vec<Found>> {
    let shapes = OF_PEOPLE.into_iter();
    shapes
        .map(|shape| fastest(measured, shape, |one| is_wgmma(one) && !is_bf16(one)))
        .collect()
}

fn mean_of_people(measured: &[Measurement]) -> Option<Found> {
    let found = of_people(measured)?;
    let value = geometric_mean(found.iter().map(|found| found.value))?;
    Some(Found {
        value,
        spread: None,
        at: format!("{} shapes", found.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::{CUBES, TARGETS, every_cube, fastest, mean_of_people};
    use lesson::Measurement;
    use lesson::made_up::case;
    use lesson::measure::{Ratio, Side};

    fn measured(kernel: &str, shape: [u32; 3], ratio: f32) -> Measurement {
        let shape = shape.map(|extent| extent.to_string()).join("x");
        let mut one = case("gemm", kernel, &shape, &[(Side::Kernel, 1.0)]);
        let ratio = Ratio::of(&[1.0], &[ratio]).expect("a pair");
        one.ratios.insert(Side::CublasLt, ratio);
        one
    }

    #[test]
    fn the_fastest_kernel_by_mma_counts() {
        let all = [
            measured("gemm_swizzled", [8192; 3], 0.4),
            measured("gemm_pipelined", [8192; 3], 0.7),
            measured("gemm_by_mma", [8192; 3], 0.75),
            measured("gemm_by_mma", [4096; 3], 1.1),
            measured("gemm_wgmma", [8192; 3], 0.9),
            measured("gemm_wgmma", [4096; 3], 0.8),
        ];
        let found = (TARGETS[0].find)(&all).expect("measured");
        assert_eq!(
            (found.value, &*found.at),
            (0.75, "gemm_by_mma 8192×8192×8192")
        );
        // It is none of those by `wgmma`.
        let found = (TARGETS[1].find)(&all).expect("measured");
        assert_eq!(&*found.at, "gemm_wgmma 4096×4096×4096");
        let found = (TARGETS[2].find)(&all).expect("measured");
        assert!((found.value - 0.9).abs() < 1e-6);
        assert_eq!(fastest(&all, [2048; 3], |_| true), None);
    }

    #[test]
    fn every_cube_and_both_types_must_be_there() {
        let mut all: Vec<_> = CUBES
            .iter()
            .flat_map(|&side| {
                [
                    measured("gemm_clusters", [side; 3], 1.25),
                    measured("gemm_bf16_nt", [side; 3], 1.5),
                ]
            })
            .collect();
        assert_eq!(every_cube(&all).map(|found| found.value), Some(1.25));
        all.pop();
        assert_eq!(every_cube(&all), None);
        assert_eq!(mean_of_people(&all), None);
    }
}
