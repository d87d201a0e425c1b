//! GEMM: products of matrices by tensor cores, from the first `mma` on, compared with cuBLASLt.
//!
//! | file | subject |
//! |---|---|
//! | `mod.rs` | the lesson: its kernels and the claims about their costs |
//! | [`shapes`] | sizes to check and to time |
//! | [`baseline`] | speed relative to the library, each with the device to itself |
//! | [`targets`] | the target speed |
//! | [`elements`] | f16, bf16, f32 |
//! | [`factors`] | inputs, references, bounds |
//! | [`run`] | one kernel on one shape |
//! | [`hopper`] | the steps by `wgmma`, and everything else that needs maps: maps and launches |
//! | [`widths`] | tiles of the width that fits |
//! | [`choice`] | the kernel for each product |
//! | [`products`], [`contest`] | products timed with the device to themselves, and the kernel for each |
//! | [`special`] | factors of 8 bits, and a product with an epilogue |
//!
//! A kernel that takes arguments other than pointers and sizes (tensor maps, flags) is one
//! entry here, with a closure that makes its [`run::Plan`] from the [`run::Matrices`]; the call
//! of [`run::run`] states its types and layouts.

pub mod baseline;
pub mod choice;
pub mod contest;
pub mod elements;
pub mod factors;
pub mod hopper;
pub mod products;
pub mod run;
pub mod shapes;
pub mod special;
pub mod targets;
pub mod widths;

use gpu_kernels::gemm::mma::naive::{self, gemm_naive};
use gpu_kernels::gemm::mma::pipelined::{self, gemm_pipelined};
use gpu_kernels::gemm::mma::swizzled::gemm_swizzled;
use gpu_kernels::gemm::mma::tiled::{self, gemm_tiled};
use half::f16;
use lesson::{KernelEntry, Lesson, exactly};
use lockstep::counts::Expectation;
use lockstep::counts::Metric::{
    GlobalLoadSectorsPerRequest as LoadSectors, GlobalStoreSectorsPerRequest as StoreSectors,
    LdmatrixConflicts, LocalSectors, SharedLoadConflictsPerRequest as LoadConflicts,
    SharedStoreConflictsPerRequest as StoreConflicts,
};
use lockstep::engine::LaunchConfig;
use run::{Contract, Plan};

/// The lesson.
pub static LESSON: Lesson = Lesson {
    id: "gemm",
    title: "GEMM by tensor cores",
    idea: "a tensor core is faster than anything that feeds it: each step brings the factors nearer, earlier, or with fewer instructions",
    source: "gpu-kernels/src/12_gemm/mod.rs",
    kernels: &KERNELS,
    shapes: shapes::shapes,
    work: shapes::work,
    memory: shapes::memory,
    expects_at: shapes::expects_at,
    targets: &targets::TARGETS,
};

/// Entries of kernels that take f16 along k by pointers, with their geometry for m and n.
macro_rules! by_pointers {
    ($($kernel:ident: $technique:literal, $config:expr, $expected:expr;)*) => {
        [$(
            KernelEntry::of($kernel, $technique, |trial| {
                run::run::<f16, f16>(trial, Contract::SCALED, &|_, matrices, scale| {
                    let config: fn(u32, u32) -> LaunchConfig = $config;
                    let config = config(matrices.sizes.m, matrices.sizes.n);
                    Plan::of::<$kernel, _, _>(matrices, scale, config)
                })
            })
            .expecting($expected)
            .timed_at(shapes::OF_MMA)
        ),*]
    };
}

const BY_MMA: [KernelEntry; 4] = by_pointers! {
    gemm_naive: "mma.sync on fragments straight from global memory",
        |m, n| LaunchConfig::new(naive::grid(m, n), naive::BLOCK),
        // Eight rows, half a sector of each.
        &[exactly(LoadSectors, 8.0), exactly(StoreSectors, 8.0), NO_LOCAL];
    gemm_tiled: "tiles in shared memory by cp.async, rows in order",
        |m, n| LaunchConfig::new(tiled::grid(m, n), tiled::BLOCK),
        // Eight rows in the same four banks.
        &[exactly(LoadConflicts, 7.0), WHOLE_LINES, exactly(StoreSectors, 8.0), NO_LOCAL];
    gemm_swizzled: "tiles swizzled by XOR, fragments by ldmatrix",
        |m, n| LaunchConfig::new(tiled::grid(m, n), tiled::BLOCK),
        &[exactly(LdmatrixConflicts, 0.0), WHOLE_LINES, exactly(StoreSectors, 8.0), NO_LOCAL];
    gemm_pipelined:
        "64×64 per warp, tiles three stages ahead, fragments one step, C in whole sectors",
        |m, n| {
            LaunchConfig::new(pipelined::grid(m, n), pipelined::BLOCK)
                .with_shared(pipelined::SHARED_BYTES)
        },
        &[
            exactly(LdmatrixConflicts, 0.0),
            WHOLE_LINES,
            exactly(LoadConflicts, 0.0),
            exactly(StoreConflicts, 0.0),
            exactly(StoreSectors, 16.0),
            NO_LOCAL,
        ];
};

static KERNELS: [KernelEntry; 46] = joined(&[
    &BY_MMA,
    &hopper::STEPS,
    &hopper::SPLIT_K,
    &widths::WIDTHS,
    &hopper::BF16_PING_PONG,
    &hopper::FAMILY,
    &[special::E4M3, special::BIAS_GELU, hopper::BY_MMA],
]);

/// The entries of several lists, in their order.
const fn joined<const N: usize>(lists: &[&[KernelEntry]]) -> [KernelEntry; N] {
    let mut all = [lists[0][0]; N];
    let (mut n_joined, mut list) = (0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[n_joined] = lists[list][i];
            (n_joined, i) = (n_joined + 1, i + 1);
        }
        list += 1;
    }
    assert!(n_joined == N);
    all
}

/// The steps of the ladder, one idea each; after them come the last step's other types
/// and layouts, kernels derived from it, and a look back at `mma.sync`.
pub fn steps() -> &'static [KernelEntry] {
    &KERNELS[..BY_MMA.len() + hopper::STEPS.len()]
}

/// A warp's copies are four rows of 128 bytes.
const WHOLE_LINES: Expectation = exactly(LoadSectors, 16.0);
const NO_LOCAL: Expectation = exactly(LocalSectors, 0.0);

#[cfg(test)]
mod tests {
    use super::{LESSON, steps, targets};
    use lesson::{Effort, KernelEntry, Shape};
    use lockstep::engine::EngineKind;

    #[test]
    fn every_run_sweeps_and_only_whole_tiles_have_claims() {
        for engine in [EngineKind::Gpu, EngineKind::Sim] {
            for effort in [Effort::Quick, Effort::Default, Effort::Full] {
                let shapes = (LESSON.shapes)(engine, effort);
                assert!(shapes.iter().any(Shape::is_sweep));
                assert!(shapes.iter().any(|shape| (LESSON.expects_at)(shape)));
            }
        }
        assert!(!(LESSON.expects_at)(&Shape::of(&[128, 256, 65])));
    }

    #[test]
    fn kernels_by_mma_are_the_first_steps_and_one_that_looks_back() {
        let ids = |kernels: &[KernelEntry]| kernels.iter().map(|one| one.id).collect::<Vec<_>>();
        let (after, first) = targets::BY_MMA.split_last().expect("there are some");
        assert_eq!(ids(&steps()[..first.len()]), first);
        assert!(!ids(steps()).contains(after));
        assert!(ids(LESSON.kernels).contains(after));
    }
}
