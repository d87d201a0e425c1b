//! Asynchronous copies of tiles of A and B into shared memory (`cp.async`),
//! several stages ahead.
//!
//! A *stage* holds one tile of A, transposed, and one of B. The stages are a ring:
//! while the block multiplies one, copies fill the others.
//!
//! A's tile is transposed by the copies: each moves 4 bytes. A warp's copy has 8
//! elements along k of 4 rows: 4 whole sectors of global memory. In shared memory
//! they go to 8 rows of the transposed tile, 4 neighbours in each; rows are 4 words
//! longer than they need be, so that these are 32 different banks:
//!
//! ```text
//!   bank of (row, k) = (4·k + row) mod 32        k 0…7, row 0…3
//! ```
//!
//! Edges cost nothing in the loop. Rows of A below the last one and columns of B
//! right of the last one are replaced by the last one: what is computed from them is
//! not stored. Zeros are needed only along k, where k ends within a tile. So that
//! not every tile needs a test, the *first* tile is the partial one.

use cuda_std::cp_async::{ca_or_zeros, cg_or_zeros, commit_group};
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::unrolled;

/// Rows of C that a block computes.
pub const TILE_ROWS: u32 = 128;
/// Threads in a block.
pub const BLOCK_THREADS: u32 = 256;

/// Elements in a chunk of 16 bytes.
const CHUNK: u32 = 4;
const F32_BYTES: u32 = 4;
/// Elements along k that a warp's copy of A has.
const COPY_K: u32 = 8;
/// Rows of A that a copy of the block has.
const COPY_ROWS: u32 = BLOCK_THREADS / COPY_K;

/// Elements from one row of the transposed tile of A to the next.
pub const A_PITCH: u32 = TILE_ROWS + CHUNK;

// The block's four copies of A make a tile of depth 8.
const _: () = assert!(4 * COPY_ROWS == TILE_ROWS);

/// Where in a stage element (row, k) of the tile of A lies, in bytes.
#[inline(always)]
pub const fn a_offset_bytes(row: u32, k: u32) -> u32 {
    (k * A_PITCH + row) * F32_BYTES
}

/// Where in a stage element (k, column) of the tile of B lies, in bytes. The tiles
/// are `tile_k` deep and `tile_columns` wide.
#[inline(always)]
pub const fn b_offset_bytes(k: u32, column: u32, tile_k: u32, tile_columns: u32) -> u32 {
    (tile_k * A_PITCH + k * tile_columns + column) * F32_BYTES
}

/// Bytes of a stage.
#[inline(always)]
pub const fn stage_bytes(tile_k: u32, tile_columns: u32) -> u32 {
    b_offset_bytes(tile_k, 0, tile_k, tile_columns)
}

/// Number of tiles along k.
#[inline(always)]
pub const fn n_tiles(k: u32, tile_k: u32) -> u32 {
    k.div_ceil(tile_k)
}

/// Whether rows of B start at multiples of 16 bytes, so that it can be copied by
/// chunks. A kernel tests this once and then runs one of two loops: a test in the loop
/// would separate the copies from the multiply-adds they should be mixed with.
#[inline(always)]
pub const fn has_chunks(n: u32) -> bool {
    n.is_multiple_of(CHUNK)
}

/// A thread's copies: some elements of A and some chunks of B of every tile.
/// Tiles are `TILE_K` deep (8 or 16) and, in B, `TILE_COLUMNS` wide (128 or 256).
/// `BY_CHUNKS` says that B [`has_chunks`].
pub struct Copies<const TILE_K: u32, const TILE_COLUMNS: u32, const BY_CHUNKS: bool> {
    /// First row of the block's tiles of A, at the next tile's first k.
    a: *const f32,
    /// Elements of A from there, one for each copy.
    a_offsets: [u32; 4],
    /// First row of the next tile of B.
    b: *const f32,
    /// The row of a tile of B that it copies from, and its elements from the tile's
    /// first one; the four are adjacent, except at the last column.
    b_row: u32,
    b_offsets: [u32; 4],
    /// Addresses in the first stage, in the shared space.
    a_address: u32,
    b_address: u32,
    /// The thread's first k in a tile of A.
    a_k: u32,
    n: u32,
    k: u32,
}

impl<const TILE_K: u32, const TILE_COLUMNS: u32, const BY_CHUNKS: bool>
    Copies<TILE_K, TILE_COLUMNS, BY_CHUNKS>
{
    const ROW_CHUNKS: u32 = TILE_COLUMNS / CHUNK;
    /// Rows of B that a copy of the block has.
    const B_ROWS: u32 = BLOCK_THREADS / Self::ROW_CHUNKS;

    /// The copies of this thread, for the block's tile of C that starts at
    /// `(first_row, first_column)`. `shared` is the ring's address in the shared
    /// space.
    #[inline(always)]
    pub unsafe fn new(
        (a, b): (*const f32, *const f32),
        (first_row, first_column): (u32, u32),
        (m, n, k): (u32, u32, u32),
        shared: u32,
    ) -> Self {
        const {
            assert!(TILE_K == 8 || TILE_K == 16);
            assert!(TILE_COLUMNS == 128 || TILE_COLUMNS == 256);
        }
        let thread = thread::thread_idx_x();
        let (a_k, a_row) = (thread % COPY_K, thread / COPY_K);
        let (b_row, b_column) = (thread / Self::ROW_CHUNKS, thread % Self::ROW_CHUNKS * CHUNK);
        let mut copies = Self {
            a: a.add(first_row as usize * k as usize),
            a_offsets: [0; 4],
            b,
            b_row,
            b_offsets: [0; 4],
            a_address: shared + a_offset_bytes(a_row, a_k),
            b_address: shared + b_offset_bytes(b_row, b_column, TILE_K, TILE_COLUMNS),
            a_k,
            n,
            k,
        };
        unrolled!(I in [0 1 2 3] {
            let row = a_row + I as u32 * COPY_ROWS;
            copies.a_offsets[I] = min(row, m - 1 - first_row) * k + a_k;
            let column = first_column + b_column + I as u32;
            copies.b_offsets[I] = b_row * n + min(column, n - 1);
        });
        if BY_CHUNKS && first_column + b_column >= n {
            copies.b_offsets[0] = b_row * n + n - CHUNK;
        }
        copies
    }

    /// Starts the copies of the first tile, which has just enough k that only whole
    /// tiles follow.
    #[inline(always)]
    pub unsafe fn start_first(&mut self) {
        let depth = self.k - (n_tiles(self.k, TILE_K) - 1) * TILE_K;
        self.start(0, depth);
    }

    /// Starts the copies of the next tile into the stage that begins `stage` bytes
    /// after the first. If there is no next tile, the stage is all zeros.
    #[inline(always)]
    pub unsafe fn start_next(&mut self, stage: u32, exists: bool) {
        self.start(stage, if exists { TILE_K } else { 0 });
    }

    /// Starts the copies of a tile whose first `depth` k exist.
    #[inline(always)]
    unsafe fn start(&mut self, stage: u32, depth: u32) {
        unrolled!(HALF in [0 1] {
            const K: u32 = HALF as u32 * COPY_K;
            if K < TILE_K {
                unrolled!(I in [0 1 2 3] {
                    ca_or_zeros(
                        self.a_address + stage + a_offset_bytes(I as u32 * COPY_ROWS, K),
                        self.a.add(self.a_offsets[I] as usize).add(K as usize),
                        self.a_k + K < depth,
                    );
                });
            }
        });
        unrolled!(I in [0 1 2 3] {
            let row = I as u32 * Self::B_ROWS;
            if row < TILE_K {
                let exists = self.b_row + row < depth;
                let address = self.b_address + stage + row * TILE_COLUMNS * F32_BYTES;
                if BY_CHUNKS {
                    let from = self.b.add((self.b_offsets[0] + row * self.n) as usize);
                    cg_or_zeros(address, from.cast::<Float4>(), exists);
                } else {
                    unrolled!(J in [0 1 2 3] {
                        let from = self.b.add((self.b_offsets[J] + row * self.n) as usize);
                        ca_or_zeros(address + J as u32 * F32_BYTES, from, exists);
                    });
                }
            }
        });
        commit_group();
        self.a = self.a.wrapping_add(depth as usize);
        self.b = self.b.wrapping_add(depth as usize * self.n as usize);
    }
}

#[inline(always)]
const fn min(x: u32, y: u32) -> u32 {
    if x < y { x } else { y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::cost;

    #[test]
    fn transposing_copies_have_no_conflicts() {
        let copy = cost(4, |lane| a_offset_bytes(lane / COPY_K, lane % COPY_K));
        assert_eq!(copy.conflicts, 0);
    }

    #[test]
    fn a_stage_has_room_for_both_tiles() {
        for (tile_k, tile_columns) in [(8, 128), (8, 256), (16, 256)] {
            let last_of_a = a_offset_bytes(TILE_ROWS - 1, tile_k - 1);
            assert!(last_of_a < b_offset_bytes(0, 0, tile_k, tile_columns));
            let last_of_b = b_offset_bytes(tile_k - 1, tile_columns - 1, tile_k, tile_columns);
            assert_eq!(last_of_b + F32_BYTES, stage_bytes(tile_k, tile_columns));
            // So that chunks, and lines, stay aligned.
            assert!(stage_bytes(tile_k, tile_columns).is_multiple_of(128));
        }
    }
}
