//! Bank conflicts, directly: the same data moved along rows and along columns.
//!
//! # What the hardware does
//!
//! Shared memory is a multiprocessor's own scratch memory. It is built of 32
//! *banks* that work side by side, and each serves one 32-bit word a cycle.
//! Word `i` lies in bank `i mod 32`:
//!
//! ```text
//!     bank       0    1    2   …   31
//!     word       0    1    2   …   31
//!               32   33   34   …   63
//!               64   65   66   …   95
//! ```
//!
//! The 32 lanes of a warp access shared memory together. If their words lie in
//! 32 different banks, one pass over the banks, a *wavefront*, serves them all;
//! so it does if several lanes want the same word. If `k` different words lie in
//! one bank, the access takes `k` wavefronts: a *`k`-way conflict*, counted as
//! `k − 1` bank conflicts. Nothing else of the multiprocessor can use shared
//! memory meanwhile.
//!
//! # Rows and columns
//!
//! In an array `data[32][32]` of `f32`, row `r` starts at word `32 · r`: all its
//! elements lie in different banks, and all elements of a column lie in one. A
//! warp that accesses a row takes one wavefront, a warp that accesses a column
//! takes 32. A block of 32 warps has 32 · 31 = 992 conflicts when it goes by
//! columns and none when it goes by rows, for stores and for loads alike.
//!
//! # The law
//!
//! Going down a column of an array with rows of `width` words, the lanes are
//! `width` words apart. Lane `l` lies in bank `l · width mod 32`, which takes
//! `32 / gcd(width, 32)` different values: the conflict is
//! `gcd(width, 32)`-way.
//!
//! | width | 1 | 2 | 4 | 7 | 8 | 12 | 16 | 31 | 32 | 33 |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | way | 1 | 2 | 4 | 1 | 8 | 4 | 16 | 1 | 32 | 1 |
//!
//! Odd widths have none. Hence the usual cure: an array of 32 columns gets a
//! 33rd that nobody uses. It costs 3% more shared memory, and rows no longer
//! start at multiples of 16 bytes, which forbids vector accesses. The other
//! cure, swizzling, costs neither ([`crate::swizzled_tile`],
//! [`crate::transpose`]).
//!
//! | kernel | what it measures | conflicts |
//! |---|---|---|
//! | [`bank_warm_up`] | nothing: it goes before the first that is timed | 0 |
//! | [`bank_store_rows`] | 32 warps store a row each | 0 |
//! | [`bank_store_columns`] | 32 warps store a column each | 992 |
//! | [`bank_load_rows`] | 32 warps load a row each | 0 |
//! | [`bank_load_columns`] | 32 warps load a column each | 992 |
//! | [`bank_store_width`] | columns of rows of any width, again and again | 32 · (gcd − 1) a round |
//! | [`bank_load_width`] | the same for loads | 32 · (gcd − 1) a round |
//!
//! The first four access shared memory once: for counting. Their time is that
//! of a launch. The last two repeat the access, so that a GPU's clock shows the
//! law too.
//!
//! Left out: accesses of 8 and 16 bytes a lane, which go to the banks in parts
//! of a warp ([`crate::transpose::transpose_vectorized`]), and atomics.

#[path = "01_columns.rs"]
mod columns;
#[path = "02_widths.rs"]
mod widths;

pub use columns::{
    bank_load_columns, bank_load_rows, bank_store_columns, bank_store_rows, bank_warm_up,
};
pub use widths::{
    MAX_WIDTH, bank_load_width, bank_store_width, strip_word, strip_word_is_used, strip_words, way,
};

use cuda_std::prelude::*;

use crate::banks::N_BANKS;

/// Rows of the array, and lanes of a warp.
pub const ROWS: u32 = 32;
/// Columns of the array, and warps of the block.
pub const COLUMNS: u32 = 32;
/// Threads of the only block.
pub const BLOCK_THREADS: u32 = ROWS * COLUMNS;
/// Elements of the array.
pub const ELEMENTS: u32 = ROWS * COLUMNS;

// A lane is a row, a warp is a column, and a row is all the banks.
const _: () = assert!(ROWS == N_BANKS && COLUMNS == N_BANKS && BLOCK_THREADS <= 1024);

/// Word of element `(row, column)` of `data[32][32]`.
#[inline(always)]
pub const fn word(row: u32, column: u32) -> u32 {
    row * COLUMNS + column
}

/// Lane and warp of this thread.
#[inline(always)]
fn lane_and_warp() -> (u32, u32) {
    (thread::thread_idx_x(), thread::thread_idx_y())
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of every kernel here, in threads: x is the lane, y the warp.
pub const BLOCK: [u32; 3] = [ROWS, COLUMNS, 1];
/// Grid of every kernel here: one block.
pub const GRID: [u32; 3] = [1, 1, 1];

#[cfg(test)]
fn conflicts_of_the_block(word: impl Fn(u32, u32) -> u32) -> u32 {
    (0..COLUMNS)
        .map(|warp| {
            crate::banks::cost(crate::banks::BANK_BYTES, |lane| {
                word(lane, warp) * crate::banks::BANK_BYTES
            })
            .conflicts
        })
        .sum()
}
