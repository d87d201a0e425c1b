//! Tiles of the width that fits the number of SMs.

use super::elements::Number;
use super::hopper::{
    HOPPER, Made, OF_TMA_EPILOGUE, TmaEpilogueArgs, c_map, clustered, factor_maps, group, launch,
    most_blocks,
};
use super::run::{Contract, Matrices, run};
use super::shapes;
use cuda_std::launch::Kernel;
use gpu_kernels::gemm::hopper::warp_specialized::C_BOX;
use gpu_kernels::gemm::hopper::widths::{self, Width};
use gpu_kernels::gemm::mma::matrices::Sizes;
use half::{bf16, f16};
use lesson::KernelEntry;
use lockstep::engine::{Engine, LaunchConfig, TensorElement};

fn made<'e, K: Kernel<Args = TmaEpilogueArgs>, T: Number + TensorElement>(
    engine: &dyn Engine,
    matrices: &Matrices<'e, T, T>,
    width: Width,
    n_blocks: u32,
) -> Made<'e> {
    let Sizes { m, n, k, .. } = matrices.sizes;
    let grid = width.grid(m, n, n_blocks, most_blocks(engine));
    let config = LaunchConfig::new(grid, widths::BLOCK).with_shared(width.shared_bytes());
    let [a, b] = factor_maps(matrices, width.boxes(n_blocks))?;
    let c = c_map(matrices, C_BOX)?;
    let n_tiles = width.n_tiles(m, n, n_blocks);
    let group = group(engine, n_tiles, n_blocks);
    let args = (a, b, c, m, n, k, group);
    launch::<K>(clustered(config, n_blocks), args)
}

macro_rules! widths {
    ($($kernel:ident: $t:ident, $width:expr, $n_blocks:literal, $technique:literal, $shapes:expr;)*) => {
        [$(
            KernelEntry::of(widths::$kernel, $technique, |trial| {
                let contract = Contract {
                    fills_chunks: true,
                    ..Contract::PRODUCT
                };
                run::<$t, $t>(trial, contract, &|engine, matrices, _| {
                    made::<widths::$kernel, $t>(engine, matrices, $width, $n_blocks)
                })
            })
            .expecting(&OF_TMA_EPILOGUE)
            .timed_at($shapes)
            .since_sm(HOPPER)
        ),*]
    };
}

/// Each width, by single blocks and by pairs.
pub const WIDTHS: [KernelEntry; 5] = widths! {
    gemm_width_256: f16, Width::N256, 1, "a warp copies, two warpgroups multiply 128×256", shapes::OF_WIDTHS;
    gemm_width_192: f16, Width::N192, 1, "tiles of 128×192, where they come out more even", shapes::OF_WIDTHS;
    gemm_width_192_pairs: f16, Width::N192, 2, "the same by pairs of blocks", shapes::OF_WIDTHS;
    gemm_bf16_width_256: bf16, Width::N256, 1, "bf16, tiles of 128×256", shapes::OF_BF16_WIDTHS;
    gemm_bf16_width_192: bf16, Width::N192, 1, "bf16, tiles of 128×192", shapes::OF_BF16_WIDTHS;
};
