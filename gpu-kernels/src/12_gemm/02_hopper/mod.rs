//! Hopper's own units: tensor cores that read shared memory themselves, and an engine that
//! copies tiles.
//!
//! | step | kernel | what it adds |
//! |---|---|---|
//! | 5 | [`alone`] | `wgmma`: a warpgroup multiplies out of shared memory |
//! | 6 | [`copied`] | tiles by tensor copies, as many stages ahead as fit |
//! | 7 | [`roles`] | one warpgroup copies, two multiply, with the registers of all |
//! | 8 | [`roles`] | persistent blocks, and tiles in an order that suits the cache |
//! | 9 | [`roles`] | results go out as tiles, too |
//! | 10 | [`roles`] | a pair of blocks shares what it copies |
//! | 11, 12 | [`turns`] | while one warpgroup stores, the other multiplies; alone and by pairs of blocks |
//! | 13, 14 | [`turns`] | equal shares for all SMs; alone and by pairs |
//! | 15 | [`split`] | few tiles: a cluster shares the steps of each |
//! | 16 | [`spread`] | few tiles with long sums: blocks anywhere share the steps of each |
//!
//! [`widths`] has tiles of the width that fits the number of SMs, and [`small`] those for small products.
//! [`turns`] has the last step for other layouts, elements and results too, [`fp8`] for elements
//! of 8 bits, and [`fused`] what can be done with a result before it is stored. [`by_mma`] looks
//! back: `mma.sync` with all of this but `wgmma`.
//!
//! What the steps share is in `parts`: [`ring`], stages and their barriers; [`operand`], how a tile is
//! copied; [`order`], which tile is next; [`shares`], the same with equal shares; [`output`], how
//! sums become a result.

#[path = "01_alone.rs"]
pub mod alone;
#[path = "02_copied.rs"]
pub mod copied;
#[path = "03_roles.rs"]
pub mod roles;
#[path = "04_turns.rs"]
pub mod turns;
#[path = "05_split.rs"]
pub mod split;
#[path = "06_spread.rs"]
pub mod spread;
#[path = "07_fp8.rs"]
pub mod fp8;
#[path = "08_fused.rs"]
pub mod fused;
#[path = "09_widths.rs"]
pub mod widths;
#[path = "10_by_mma.rs"]
pub mod by_mma;
#[path = "11_small.rs"]
pub mod small;
#[path = "parts/ring.rs"]
pub mod ring;
#[path = "parts/operand.rs"]
pub mod operand;
#[path = "parts/order.rs"]
pub mod order;
#[path = "parts/shares.rs"]
pub mod shares;
#[path = "parts/output.rs"]
pub mod output;

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
