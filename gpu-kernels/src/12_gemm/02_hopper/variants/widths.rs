//! Tiles of a width that fits the number of SMs.
//!
//! The SMs work in waves of one tile each, and the last wave is seldom full. 3072 rows and
//! columns are 288 tiles of 128×256: 2.18 waves of 132, so three are needed, and for most of the
//! last one most SMs are idle. With 128×192 there are 384 tiles, 2.91 waves. Cutting tiles
//! ([`stream_k`](super::stream_k)) evens out any number of them, but costs time for the sums that
//! are left and added; a width that fits costs nothing.
//!
//! | m = n | tiles of 128×256 | waves | tiles of 128×192 | waves |
//! |---:|---:|---:|---:|---:|
//! | 2048 | 128 | 0.97 | 176 | 1.33 |
//! | 3072 | 288 | 2.18 | 384 | 2.91 |
//! | 4096 | 512 | 3.88 | 704 | 5.33 |
//!
//! The blocks are those of [`warp_specialized`], except that a single warp copies: the registers it
//! would give up are too few to matter, and without the exchange of registers the first product
//! starts up to 1,000 cycles earlier. In pairs they take fewer bytes from the cache, which matters
//! if rows do not begin at multiples of 128 bytes, and each row of a tile lies in two lines.

use cuda_std::TensorMap;
use cuda_std::grid as launches;
use cuda_std::half::{bf16, f16};
use cuda_std::prelude::*;
use cuda_std::wgmma::{Multiply, WARPGROUP};

use super::epilogue::{AsItIs, Half, Store, TmaEpilogue};
use super::pipeline::shared_bytes;
use super::warp_specialized::{self, N_MULTIPLIERS, STAGES, stage_bytes, tile_n};
use super::{Sizes, depth};

/// Block, in threads: warpgroups that multiply, and a warp that copies.
const BLOCK_THREADS: u32 = N_MULTIPLIERS * WARPGROUP + 32;
/// Block.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// A width.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// Registers of a thread with sums.
    registers: usize,
}

/// Registers for 256 columns, and for 192.
const N256: usize = 128;
const N192: usize = 96;

impl Width {
    /// 256 columns.
    pub const N256: Self = Self { registers: N256 };
    /// 192 columns.
    pub const N192: Self = Self { registers: N192 };

    /// Columns of a tile.
    pub const fn columns(self) -> u32 {
        tile_n(self.registers)
    }

    /// Dynamic shared memory, in bytes.
    pub const fn shared_bytes(self) -> u32 {
        let staging = N_MULTIPLIERS * TmaEpilogue::<f16, AsItIs>::STAGING_BYTES;
        shared_bytes(STAGES, stage_bytes(self.registers), staging)
    }

    /// Boxes of the maps of A and B, in clusters of `n_blocks`.
    pub fn boxes(self, n_blocks: u32) -> [[u32; 2]; 2] {
        warp_specialized::boxes_of(self.columns(), depth::<f16>(), n_blocks)
    }

    /// Tiles of C, in rows of `n_blocks`.
    pub const fn n_tiles(self, m: u32, n: u32, n_blocks: u32) -> u32 {
        warp_specialized::n_tiles_of(self.columns(), m, n, n_blocks)
    }

    /// A grid of at most `most` blocks in clusters of `n_blocks`, as many as have
    /// work.
    pub const fn grid(self, m: u32, n: u32, n_blocks: u32, most: u32) -> [u32; 3] {
        warp_specialized::grid_of(self.columns(), m, n, n_blocks, most)
    }
}

/// Tiles of a width, by blocks of which `BLOCKS` share what they copy: then the grid is a multiple of
/// that, in clusters.
///
/// # Safety
///
/// `a`, `b` and `c` are maps of m and n rows along k, and of m rows along n, with the
/// [`Width`]'s boxes, [`warp_specialized::C_BOX`] and a swizzle of 128 bytes. Launch with the width's
/// grid and shared memory, in clusters of as many blocks, and [`BLOCK`]; `group` is not 0.
#[kernel(
    pdl,
    launch_bounds(BLOCK_THREADS, 1),
    instances(
        gemm_width_256 = gemm_of_width::<f16, 1, N256>,
        gemm_width_192 = gemm_of_width::<f16, 1, N192>,
        gemm_width_192_pairs = gemm_of_width::<f16, 2, N192>,
        gemm_bf16_width_256 = gemm_of_width::<bf16, 1, N256>,
        gemm_bf16_width_192 = gemm_of_width::<bf16, 1, N192>,
    )
)]
pub unsafe fn gemm_of_width<T, const BLOCKS: u32, const REGISTERS: usize>(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    m: u32,
    n: u32,
    k: u32,
    group: u32,
) where
    T: Half + Multiply<REGISTERS, Sum = f32>,
{
    launches::let_next_start();
    launches::wait_for_previous();
    let (sizes, store) = (Sizes { m, n, k }, TmaEpilogue::<T, _>::new(c, AsItIs));
    warp_specialized::work::<T, BLOCKS, REGISTERS, false, _>(a, b, sizes, group, store);
}

#[cfg(test)]
mod tests {
    use super::Width;

    const N_MULTIPROCESSORS: u32 = 132;

    #[test]
    fn waves_are_as_in_the_table() {
        let n_tiles = |width: Width, side| width.grid(side, side, 1, u32::MAX)[0];
        let tiles =
            [2048, 3072, 4096].map(|side| (n_tiles(Width::N256, side), n_tiles(Width::N192, side)));
        assert_eq!(tiles, [(128, 176), (288, 384), (512, 704)]);
        let waves =
            tiles.map(|(_, n)| format!("{:.2}", f64::from(n) / f64::from(N_MULTIPROCESSORS)));
        assert_eq!(waves, ["1.33", "2.91", "5.33"]);
    }
}
