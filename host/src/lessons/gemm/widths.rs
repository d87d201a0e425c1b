//! Tiles of the width that fits the number of SMs.

use super::elements::Number;
use super::hopper::{
    HOPPER, Made, OF_TMA_EPILOGUE, TmaEpilogueArgs, c_map, clustered, factor_maps, group, launch,
    most_blocks, products,
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
    _kernel: K,
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

/// Each width, by single blocks and by pairs.
pub const WIDTHS: [KernelEntry; 5] = products! {
    widths::gemm_width_256: f16, "a warp copies, two warpgroups multiply 128×256",
        made(Width::N256, 1), &OF_TMA_EPILOGUE, shapes::OF_WIDTHS;
    widths::gemm_width_192: f16, "tiles of 128×192, where they come out more even",
        made(Width::N192, 1), &OF_TMA_EPILOGUE, shapes::OF_WIDTHS;
    widths::gemm_width_192_pairs: f16, "the same by pairs of blocks",
        made(Width::N192, 2), &OF_TMA_EPILOGUE, shapes::OF_WIDTHS;
    widths::gemm_bf16_width_256: bf16, "bf16, tiles of 128×256",
        made(Width::N256, 1), &OF_TMA_EPILOGUE, shapes::OF_BF16_WIDTHS;
    widths::gemm_bf16_width_192: bf16, "bf16, tiles of 128×192",
        made(Width::N192, 1), &OF_TMA_EPILOGUE, shapes::OF_BF16_WIDTHS;
};
