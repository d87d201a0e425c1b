//! Hopper's own units: tensor cores that read shared memory themselves, and an engine that
//! copies tiles.
//!
//! | step | kernel | what it adds |
//! |---|---|---|
//! | 5 | [`wgmma`] | `wgmma`: a warpgroup multiplies out of shared memory |
//! | 6 | [`tma`] | TMA: tiles by tensor copies, as many stages ahead as fit |
//! | 7 | [`warp_specialized`] | warp specialization: one warpgroup copies, two multiply, with the registers of all |
//! | 8 | [`warp_specialized`] | persistent blocks, and a tile scheduler that suits the cache |
//! | 9 | [`warp_specialized`] | the epilogue stores by tiles as well |
//! | 10 | [`warp_specialized`] | a pair of blocks shares what it copies |
//! | 11, 12 | [`ping_pong`] | ping-pong: while one warpgroup stores, the other multiplies; alone and by pairs of blocks |
//! | 13, 14 | [`ping_pong`] | stream-K: equal shares for all SMs; alone and by pairs |
//! | 15 | [`split_k`] | split-K by clusters: few tiles, a cluster divides the steps of each |
//! | 16 | [`split_k_grid`] | split-K over the grid: few tiles with long sums, blocks anywhere divide the steps of each |
//!
//! A file has the number of its first step. Next to the ladder, `variants` holds more: [`widths`]
//! has tiles of the width that fits the number of SMs, [`small`] those for small products,
//! [`ping_pong`] has the last step for other layouts, elements and results too, [`fp8`] is for
//! elements of 8 bits, and [`fused`] works on a result before it is stored. [`by_mma`] looks
//! back: `mma.sync` with all of this except `wgmma`.
//!
//! The steps share the files in `parts`: [`pipeline`], stages and their barriers; [`operand`], the
//! copy of a tile; [`tile_scheduler`], the order of tiles; [`stream_k`], the same with equal
//! shares; [`epilogue`], from sums to a result.

#[path = "05_wgmma.rs"]
pub mod wgmma;
#[path = "06_tma.rs"]
pub mod tma;
#[path = "07_warp_specialized.rs"]
pub mod warp_specialized;
#[path = "11_ping_pong.rs"]
pub mod ping_pong;
#[path = "15_split_k.rs"]
pub mod split_k;
#[path = "16_split_k_grid.rs"]
pub mod split_k_grid;
#[path = "variants/fp8.rs"]
pub mod fp8;
#[path = "variants/fused.rs"]
pub mod fused;
#[path = "variants/widths.rs"]
pub mod widths;
#[path = "variants/by_mma.rs"]
pub mod by_mma;
#[path = "variants/small.rs"]
pub mod small;
#[path = "parts/pipeline.rs"]
pub mod pipeline;
#[path = "parts/operand.rs"]
pub mod operand;
#[path = "parts/tile_scheduler.rs"]
pub mod tile_scheduler;
#[path = "parts/stream_k.rs"]
pub mod stream_k;
#[path = "parts/epilogue.rs"]
pub mod epilogue;

use cuda_std::wgmma::{Factor, ROW_BYTES};

/// Rows of C that a block computes.
pub const TILE_M: u32 = 128;

/// Depth of the tiles along k: a row of 128 bytes.
pub const fn depth<T: Factor>() -> u32 {
    ROW_BYTES / T::BYTES
}

/// The sizes of a product.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
}
