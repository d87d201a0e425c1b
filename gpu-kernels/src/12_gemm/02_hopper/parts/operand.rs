//! The copy of an operand's tile, by the operand's layout in memory.
//!
//! | | A (m×k) | B (k×n) | box |
//! |---|---|---|---|
//! | [`AlongK`] | row by row | column by column | 128 bytes of k, all rows of the tile |
//! | [`AcrossK`] | column by column | row by row | 64 of m or n, 64 of k; several for a tile |
//!
//! Either way a row of a box has 128 bytes, and TMA swizzles it as `wgmma` expects.

use cuda_std::TensorMap;
use cuda_std::bulk::{load_box, load_box_to_all};
use cuda_std::wgmma::{AcrossK, AlongK, ROW_BYTES, Rows};

/// Rows of m or n in a box across k, and its depth.
pub const ACROSS: u32 = 64;
/// Bytes of a box across k.
const ACROSS_BYTES: u32 = ACROSS * ROW_BYTES;

/// An operand's layout in memory.
pub trait Layout: Rows {
    /// Whether a row of memory runs along k.
    const IS_ALONG_K: bool;

    /// The box of a tensor map for tiles of this many rows, which are copied in parts of one
    /// `n_blocks`th, k or m and n first.
    fn box_dims(depth: u32, rows: u32, n_blocks: u32) -> [u32; 2] {
        if Self::IS_ALONG_K {
            [depth, rows / n_blocks]
        } else {
            [ACROSS, ACROSS]
        }
    }

    /// Calls `copy` for each box of a tile of `rows` rows from `row` on, at depth `k`: with the
    /// bytes from the tile's first box to this one, and its place in the map.
    fn each_box(rows: u32, row: u32, k: u32, copy: impl Fn(u32, [i32; 2]));

    /// Starts the copies of a tile of `rows` rows from `row` on, at depth `k`.
    ///
    /// # Safety
    ///
    /// As [`load_box`].
    #[inline(always)]
    unsafe fn load(to: u32, map: &TensorMap, rows: u32, row: u32, k: u32, barrier: u32) {
        Self::each_box(rows, row, k, |further, place| {
            load_box(to + further, map, place, barrier);
        });
    }

    /// [`load`](Self::load) into all `blocks` of the cluster.
    ///
    /// # Safety
    ///
    /// As [`load_box_to_all`].
    #[inline(always)]
    unsafe fn load_to_all(
        to: u32,
        map: &TensorMap,
        rows: u32,
        row: u32,
        k: u32,
        barrier: u32,
        blocks: u16,
    ) {
        Self::each_box(rows, row, k, |further, place| {
            load_box_to_all(to + further, map, place, barrier, blocks);
        });
    }
}

impl Layout for AlongK {
    const IS_ALONG_K: bool = true;

    #[inline(always)]
    fn each_box(_rows: u32, row: u32, k: u32, copy: impl Fn(u32, [i32; 2])) {
        copy(0, [k as i32, row as i32]);
    }
}

impl Layout for AcrossK {
    const IS_ALONG_K: bool = false;

    #[inline(always)]
    fn each_box(rows: u32, row: u32, k: u32, copy: impl Fn(u32, [i32; 2])) {
        let mut i = 0;
        while i < rows / ACROSS {
            copy(i * ACROSS_BYTES, [(row + i * ACROSS) as i32, k as i32]);
            i += 1;
        }
    }
}
