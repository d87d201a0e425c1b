//! Bank conflicts, directly: the same data moved along rows and along columns.
//!
//! # Banks and wavefronts
//!
//! Shared memory is the scratch memory of a streaming multiprocessor (SM). It has 32
//! *banks* that work in parallel, and each serves one 32-bit word per cycle.
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
//! lanes that want the same word are served together. If `k` different words lie in
//! one bank, the access takes `k` wavefronts: a *`k`-way conflict*, counted as
//! `k − 1` bank conflicts. Nothing else on the SM can use shared memory in the
//! meantime.
//!
//! | kernel | what it measures | conflicts |
//! |---|---|---|
//! | [`bank_warm_up`] | nothing: it runs before the first kernel that is timed | 0 |
//! | [`bank_store_rows`] | 32 warps store a row each | 0 |
//! | [`bank_store_columns`] | 32 warps store a column each | 992 |
//! | [`bank_load_rows`] | 32 warps load a row each | 0 |
//! | [`bank_load_columns`] | 32 warps load a column each | 992 |
//! | [`bank_store_width`] | columns of rows of any width, repeatedly | 32 · (gcd − 1) per round |
//! | [`bank_load_width`] | the same for loads | 32 · (gcd − 1) per round |
//!
//! The first five access shared memory once, for counting: their time is that
//! of a launch (`01_columns.rs`). The last two repeat the access, so that the
//! conflicts also show in a GPU's timings (`02_widths.rs`).
//!
//! Left out: accesses of 8 and 16 bytes per lane, which go to the banks in parts
//! of a warp (the next lesson's `transpose_vectorized` has them), and atomics.

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
