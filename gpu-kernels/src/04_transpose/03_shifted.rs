//! A tile of 40×96, 16 bytes per access, for rows that start anywhere.
//!
//! If rows are not a multiple of a line long, most of them start inside a line.
//!
//! # Stores
//!
//! A block that stores 32 elements of such a row fills the sectors at both ends only
//! partly, and memory handles partial sectors worst: the cache must merge the
//! parts. So each output row is cut not at multiples of 32 but at the sector
//! boundary before each of them: the cuts move by a *shift* of 0 to 7 elements, which
//! differs from row to row.
//!
//! ```text
//!     borders            │       │       │       │       │       │
//!     output row 5     ──┬───────────────────┬───────────────────┬──
//!     output row 6       ──┬───────────────────┬───────────────────┬   length 8k + 2
//!     moved: row 5     ┬───────────────────┬───────────────────┬────
//!            row 6     ──┬───────────────────┬───────────────────┬──
//! ```
//!
//! Where the shift is largest, a block's piece begins 7 elements before its tile.
//! The block loads those rows of the input too: the *halo*.
//!
//! # Loads
//!
//! A warp loads a row of the tile: one 16-byte vector per lane, four lines in all, starting
//! with the line that holds the row's first element. Lanes whose vectors come before that
//! element have nothing to load. So a request never has a fifth line, and four lines hold
//! 97 elements wherever the first one is: a tile is 96 columns wide. The rest of the
//! last line is loaded as well: whole lines are cheapest.
//!
//! The row's first vector goes to the first place of the tile's row, unchanged. Its
//! first element may then come up to 3 places later, by the row's *lead*:
//!
//! ```text
//!     input row 4        · · a b │ c d e f │ g h i j │      lead 2
//!     input row 5        · a b c │ d e f g │ h i j k │      lead 1: rows 4k + 3 long
//! ```
//!
//! A vector of the output is four rows of a column, and those have four different
//! leads; rows four apart share one. If each lane went from its vector's first row to its last,
//! lanes whose vectors begin at different leads would have bank conflicts. So all lanes
//! load rows 4k first, then 4k + 1, 4k + 2, 4k + 3, and each rotates its four values into
//! its own order.

use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::squares::{
    CHUNK, LARGE_BLOCK_THREADS, LARGE_TILE_BYTES, LARGE_TILE_SQUARES, LINE_BYTES,
};
use crate::matrix::element;
use crate::swizzle::Swizzle;
use crate::warp::WARP_LANES;
use cuda_std::unrolled;

/// Elements in a sector.
pub const SECTOR: u32 = 8;
/// Elements in a line.
pub const LINE: u32 = LINE_BYTES / 4;
/// Output rows are cut at multiples of this many elements, where rows start anywhere.
pub const CUT: u32 = SECTOR;
/// Elements of an output row that a block stores there.
pub const PIECE: u32 = 32;
/// Rows of the input that a block loads there.
pub const SHIFTED_ROWS: u32 = PIECE + CUT;
/// Columns of the tile there: this many fit into four lines, wherever they start.
pub const SHIFTED_COLUMNS: u32 = SHIFTED_PITCH - LINE;

/// Elements that a warp loads in one request.
const SHIFTED_PITCH: u32 = WARP_LANES * CHUNK;
pub(super) const SHIFTED_ELEMENTS: u32 = SHIFTED_ROWS * SHIFTED_PITCH;
const LARGE_BLOCK_WARPS: u32 = LARGE_BLOCK_THREADS / WARP_LANES;
/// Chunks that a thread loads: each warp takes every eighth row.
const SHIFTED_LOADS: usize = (SHIFTED_ROWS / LARGE_BLOCK_WARPS) as usize;
/// Groups of chunks, one per store of a warp: the pieces of four rows, eight chunks each.
const SHIFTED_GROUPS: u32 = SHIFTED_COLUMNS / 4;
/// Chunks that a thread stores.
const SHIFTED_STORES: usize = (SHIFTED_GROUPS / LARGE_BLOCK_WARPS) as usize;

// One array serves this layout and that of [`super::squares`].
const _: () = assert!(LARGE_TILE_BYTES <= SHIFTED_ELEMENTS * 4);
const _: () = assert!(SHIFTED_ROWS.is_multiple_of(LARGE_BLOCK_WARPS));
const _: () = assert!(SHIFTED_GROUPS.is_multiple_of(LARGE_BLOCK_WARPS));
// A shift is the same in each piece of a row, and a lead in every fourth row.
const _: () = assert!(PIECE.is_multiple_of(CUT) && CUT.is_multiple_of(SECTOR));
const _: () = assert!(CUT.is_multiple_of(CHUNK));
const _: () = assert!(PIECE == 8 * CHUNK && SHIFTED_PITCH == 1 << 7);

/// Place of element `column` of row `row` of the tile; chunks stay whole.
///
/// Lanes store consecutive chunks of a row. They load four columns, and of each,
/// eight elements four rows apart, starting at any row: bits 2 to 4 of the
/// column XOR bits 2 to 4 of the row, so that eight such rows have eight different
/// places for a column; the two bits below tell the four columns apart.
#[inline(always)]
pub const fn shifted_place(row: u32, column: u32) -> u32 {
    Swizzle::<3, 2, 7>::apply(row * SHIFTED_PITCH + column)
}

/// The chunk of group `group` that lane `lane` stores: the row of its first element,
/// counted from where the block's piece of the output row begins, and its column of
/// the tile.
#[inline(always)]
pub const fn shifted_chunk(group: u32, lane: u32) -> (u32, u32) {
    (lane % 8 * CHUNK, group * 4 + lane / 8)
}

/// `values` rotated so that number `first mod 4` becomes the first.
#[inline(always)]
pub const fn turned_round([a, b, c, d]: [f32; 4], first: u32) -> [f32; 4] {
    let [a, b, c, d] = if first & 1 == 0 {
        [a, b, c, d]
    } else {
        [b, c, d, a]
    };
    if first & 2 == 0 {
        [a, b, c, d]
    } else {
        [c, d, a, b]
    }
}

/// Elements `first` to `first + 3` of an array, in one access if all of them
/// exist; those that do not are 0. A `first` before the array has wrapped around.
#[inline(always)]
unsafe fn load_chunk_inside(array: *const f32, first: u32, n_elements: u32) -> Float4 {
    if first < n_elements && n_elements - first >= CHUNK {
        return Float4::load(array.add(first as usize).cast());
    }
    let at = |i: u32| {
        let index = first.wrapping_add(i);
        if index < n_elements {
            *array.add(index as usize)
        } else {
            0.0
        }
    };
    Float4::new(at(0), at(1), at(2), at(3))
}

/// [`transpose_squares`](super::squares::transpose_squares) where rows start anywhere: the tile has
/// [`SHIFTED_COLUMNS`] columns, and the pieces of the output's rows begin their
/// shifts before `first_row`.
#[inline(always)]
pub(super) unsafe fn transpose_shifted(
    tile: *mut f32,
    input: *const f32,
    output: *mut f32,
    first_row: u32,
    first_column: u32,
    n_rows: u32,
    n_columns: u32,
) {
    let thread = thread::thread_idx_y() * LARGE_TILE_SQUARES + thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);
    let misaligned = (input.addr() / size_of::<f32>()) as u32 % LINE;
    // How far into its line the tile's part of a row of the matrix begins.
    let place_in_line = |row: u32| (row * n_columns + first_column + misaligned) % LINE;
    // Before the first row of the matrix, rows wrap to large numbers.
    let matrix_row = |tile_row: u32| (first_row + tile_row).wrapping_sub(CUT);

    let tile_row = |k: usize| k as u32 * LARGE_BLOCK_WARPS + warp;
    // The lane's chunk, counted from the one with the first element; wraps before it.
    let chunk_of = |k: usize| lane.wrapping_sub(place_in_line(matrix_row(tile_row(k))) / CHUNK);
    // The index of its first element, if it has elements of the row.
    let first_of = |k: usize| {
        let (row, chunk) = (matrix_row(tile_row(k)), chunk_of(k));
        // For the very first chunk it may be -1 to -3.
        let column = (first_column + chunk * CHUNK).wrapping_sub(place_in_line(row) % CHUNK);
        let begins_in_row = column.wrapping_add(CHUNK - 1) < n_columns + (CHUNK - 1);
        (row < n_rows && chunk < WARP_LANES && begins_in_row)
            .then(|| (row * n_columns).wrapping_add(column))
    };
    let mut chunks = [Float4::default(); SHIFTED_LOADS];
    // Only in the matrix's first and last row can a chunk stick out of it.
    if first_row == 0 || first_row + PIECE >= n_rows {
        unrolled::<SHIFTED_LOADS>(|k| {
            if let Some(first) = first_of(k) {
                chunks[k] = load_chunk_inside(input, first, n_rows * n_columns);
            }
        });
    } else {
        unrolled::<SHIFTED_LOADS>(|k| {
            if let Some(first) = first_of(k) {
                chunks[k] = Float4::load(input.add(first as usize).cast());
            }
        });
    }
    unrolled::<SHIFTED_LOADS>(|k| {
        let chunk = chunk_of(k);
        if chunk < WARP_LANES {
            let place = shifted_place(tile_row(k), chunk * CHUNK);
            chunks[k].store(tile.add(place as usize).cast());
        }
    });
    thread::sync_threads();

    unrolled::<SHIFTED_STORES>(|i| {
        let (from_start, tile_column) = shifted_chunk(i as u32 * LARGE_BLOCK_WARPS + warp, lane);
        let column = first_column + tile_column;
        if column < n_columns {
            let shift = element(column, first_row, n_rows) as u32 % CUT;
            let tile_row = CUT - shift + from_start;
            // Of the chunk's four rows, the one that is `i` modulo 4.
            let at = |i: u32| {
                let row = tile_row + i.wrapping_sub(tile_row) % CHUNK;
                let lead = place_in_line(i) % CHUNK;
                *tile.add(shifted_place(row, tile_column + lead) as usize)
            };
            let [a, b, c, d] = turned_round([at(0), at(1), at(2), at(3)], tile_row);
            let row = matrix_row(tile_row);
            if row < n_rows && n_rows - row >= CHUNK {
                let place = output.add(element(column, row, n_rows));
                Float4::new(a, b, c, d).store(place.cast());
            } else {
                // The row begins or ends inside the chunk, or the chunk is all outside.
                let store = |j: u32, value| {
                    let row = row.wrapping_add(j);
                    if row < n_rows {
                        *output.add(element(column, row, n_rows)) = value;
                    }
                };
                store(0, a);
                store(1, b);
                store(2, c);
                store(3, d);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::{Cost, cost};

    extern crate std;
    use std::collections::BTreeSet;

    #[test]
    fn the_shifted_tile_has_no_conflicts_from_any_row_on() {
        let stores = cost(16, |lane| 4 * shifted_place(5, 4 * lane));
        assert_eq!(stores.conflicts, 0);
        for group in 0..SHIFTED_GROUPS {
            // Each of the four columns has a shift of its own.
            for shifts in [[0, 0, 0, 0], [0, 1, 2, 3], [7, 0, 5, 1], [3, 6, 1, 4]] {
                for (i, lead) in (0..CHUNK).flat_map(|i| (0..CHUNK).map(move |lead| (i, lead))) {
                    let loads = cost(4, |lane| {
                        let (row, column) = shifted_chunk(group, lane);
                        let row = CUT - shifts[column as usize % 4] + row;
                        let row = row + i.wrapping_sub(row) % CHUNK;
                        4 * shifted_place(row, column + lead)
                    });
                    assert_eq!(
                        loads,
                        Cost::FREE,
                        "group {group}, shifts {shifts:?}, lead {lead}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_chunk_of_the_shifted_tile_is_stored_once() {
        let chunks: BTreeSet<_> = (0..SHIFTED_GROUPS)
            .flat_map(|group| (0..WARP_LANES).map(move |lane| shifted_chunk(group, lane)))
            .collect();
        assert_eq!(chunks.len() as u32, SHIFTED_COLUMNS * PIECE / CHUNK);
        assert!(chunks.iter().all(|&(row, column)| {
            row.is_multiple_of(CHUNK) && row < PIECE && column < SHIFTED_COLUMNS
        }));
    }

    #[test]
    fn values_are_turned_round() {
        let turned = |first| turned_round([0.0, 1.0, 2.0, 3.0], first);
        assert_eq!(turned(0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(turned(1), [1.0, 2.0, 3.0, 0.0]);
        assert_eq!(turned(6), [2.0, 3.0, 0.0, 1.0]);
        assert_eq!(turned(3), [3.0, 0.0, 1.0, 2.0]);
    }
}
