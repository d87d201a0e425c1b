//! A column of a 32×16 tile, read three ways.
//!
//! The tile has 32 rows of 16 `f32`, 64 bytes each: half of the 128 bytes that
//! the 32 banks of shared memory span. A block of 16 warps stores it row by row
//! and loads it column by column, one column per warp, which transposes it.
//!
//! | kernel | column `c` of row `r` lies at column | column load |
//! |---|---|---|
//! | [`tile_column_plain`] | `c` | 16-way |
//! | [`tile_column_swizzled_rows`] | `c ^ (r mod 16)` | 2-way |
//! | [`tile_column_swizzled_lines`] | `c ^ (r / 2)` | 1-way: no conflicts |
//!
//! # Plain: 16-way
//!
//! Two rows fill the banks, and then the pattern starts over: all even rows have column
//! `c` in bank `c`, all odd rows in bank `16 + c`. 16 lanes want one bank and 16
//! another.
//!
//! # By rows: 2-way
//!
//! Each row gets an order of its own: XOR of the column with the row. It is
//! one-to-one for each row (XOR twice is nothing), so the row still fills its 16
//! places, needs no padding, and starts where it did. But a row has 16 places
//! and the tile has 32 rows: rows `r` and `r + 16` have the same order, and
//! since 16 rows span the banks exactly eight times, the same banks. Half of the
//! 32 lanes collide with the other half.
//!
//! # By lines: none
//!
//! The two rows that share the 32 banks, a *line*, never collide: one has the lower
//! 16 banks and the other the upper. So they may have the same order, and the 16
//! orders are enough for the 16 lines: XOR with `row / 2`. Swizzle by the span
//! of the banks, not by the row.
//!
//! Both are the general formula ([`crate::swizzle::ChunkSwizzle`]) with single elements as
//! chunks and segments of 64 and of 128 bytes. In bits of the word's index:
//!
//! ```text
//!     bit        8   7   6   5   4   3   2   1   0
//!               └────── row ──────┘ └── column ───┘
//!     by rows        7   6   5   4   ──XOR──→
//!     by lines   8   7   6   5       ──XOR──→
//! ```
//!
//! Either costs a shift, an AND and an XOR per address, which the compiler moves
//! out of loops, and leaves the row's store without conflicts.
//!
//! Left out: chunks larger than an element, for 16-byte accesses
//! ([`crate::transpose::chunk_offset_bytes`]), and the choice of the parameters
//! in general ([`crate::swizzle`]).

use cuda_std::prelude::*;

use crate::banks::N_BANKS;

/// Rows of the tile, and lanes of a warp.
pub const ROWS: u32 = 32;
/// Columns of the tile, and warps of the block.
pub const COLUMNS: u32 = 16;
/// Elements of the tile.
pub const ELEMENTS: u32 = ROWS * COLUMNS;
/// Threads of a block.
pub const BLOCK_THREADS: u32 = ELEMENTS;

// Two rows are a line: all the banks.
const _: () = assert!(2 * COLUMNS == N_BANKS);
const _: () = assert!(ROWS == 32 && BLOCK_THREADS <= 1024);

// ---------------------------------------------------------------------------
// Where an element lies
// ---------------------------------------------------------------------------
//
// Bank of element (row, column), first columns only:
//
//              plain              by rows            by lines
//     row 0     0   1   2   3      0   1   2   3      0   1   2   3
//     row 1    16  17  18  19     17  16  19  18     16  17  18  19
//     row 2     0   1   2   3      2   3   0   1      1   0   3   2
//     row 3    16  17  18  19     19  18  17  16     17  16  19  18
//     row 4     0   1   2   3      4   5   6   7      2   3   0   1

/// The tile row by row.
#[inline(always)]
pub const fn plain(row: u32, column: u32) -> u32 {
    row * COLUMNS + column
}

/// Each row in an order of its own, 16 orders.
#[inline(always)]
pub const fn swizzled_rows(row: u32, column: u32) -> u32 {
    plain(row, column ^ (row % COLUMNS))
}

/// Each line of two rows in an order of its own, 16 orders.
#[inline(always)]
pub const fn swizzled_lines(row: u32, column: u32) -> u32 {
    plain(row, column ^ (row / 2))
}

// ---------------------------------------------------------------------------
// The kernels
// ---------------------------------------------------------------------------

/// Stores the tile by rows and loads it by columns; `layout` says where element
/// `(row, column)` lies, for both.
#[inline(always)]
unsafe fn turn(
    tile: *mut f32,
    layout: impl Fn(u32, u32) -> u32,
    input: *const f32,
    output: *mut f32,
) {
    let own = thread::thread_idx_x();
    let (row, column) = (own / COLUMNS, own % COLUMNS);
    *tile.add(layout(row, column) as usize) = *input.add(own as usize);
    thread::sync_threads();
    let (row, column) = (own % ROWS, own / ROWS);
    *output.add(own as usize) = *tile.add(layout(row, column) as usize);
}

/// The tile laid out [`plain`]: a column's load is 16-way.
///
/// # Safety
///
/// `input` and `output` hold [`ELEMENTS`] elements and do not overlap. Launch
/// one block of [`BLOCK`] threads.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn tile_column_plain(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; ELEMENTS as usize];
    turn(tile, plain, input, output);
}

/// The tile laid out by [`swizzled_rows`]: a column's load is 2-way.
///
/// # Safety
///
/// As [`tile_column_plain`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn tile_column_swizzled_rows(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; ELEMENTS as usize];
    turn(tile, swizzled_rows, input, output);
}

/// The tile laid out by [`swizzled_lines`]: a column's load has no conflicts.
///
/// # Safety
///
/// As [`tile_column_plain`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn tile_column_swizzled_lines(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; ELEMENTS as usize];
    turn(tile, swizzled_lines, input, output);
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of every kernel here, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
/// Grid of every kernel here: one block.
pub const GRID: [u32; 3] = [1, 1, 1];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::{BANK_BYTES as ELEMENT_BYTES, cost};
    use crate::swizzle::ChunkSwizzle;

    const LAYOUTS: [fn(u32, u32) -> u32; 3] = [plain, swizzled_rows, swizzled_lines];

    #[test]
    fn a_column_is_16_way_plain_2_way_by_rows_and_free_by_lines() {
        for column in 0..COLUMNS {
            let ways = LAYOUTS.map(|layout| {
                cost(ELEMENT_BYTES, |lane| layout(lane, column) * ELEMENT_BYTES).ways
            });
            assert_eq!(ways, [16, 2, 1], "column {column}");
        }
    }

    #[test]
    fn both_are_the_general_formula() {
        const ROW_BYTES: u32 = COLUMNS * ELEMENT_BYTES;
        type BySpan<const BYTES: u32> = ChunkSwizzle<ELEMENT_BYTES, COLUMNS, ELEMENT_BYTES, BYTES>;
        for (row, column) in (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |c| (row, c))) {
            let by_rows = BySpan::<ROW_BYTES>::xor(row, column);
            let by_lines = BySpan::<{ 2 * ROW_BYTES }>::xor(row, column);
            assert_eq!(swizzled_rows(row, column), plain(row, by_rows));
            assert_eq!(swizzled_lines(row, column), plain(row, by_lines));
        }
    }

    #[test]
    fn the_store_of_two_rows_has_no_conflicts() {
        for warp in 0..BLOCK_THREADS / 32 {
            for layout in LAYOUTS {
                let word = |lane| layout((warp * 32 + lane) / COLUMNS, lane % COLUMNS);
                let cost = cost(ELEMENT_BYTES, |lane| word(lane) * ELEMENT_BYTES);
                assert_eq!(cost.conflicts, 0);
            }
        }
    }

    #[test]
    fn every_layout_is_one_to_one() {
        for layout in LAYOUTS {
            let mut used = [false; ELEMENTS as usize];
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let word = layout(row, column) as usize;
                    assert!(!used[word]);
                    used[word] = true;
                }
            }
        }
    }
}
