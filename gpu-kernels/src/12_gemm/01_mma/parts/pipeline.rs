//! Copies of tiles of A and B into shared memory, several stages ahead.
//!
//! A *stage* holds a tile of A, 128 rows of 64 elements, and below it one of B, 256 rows. The
//! stages are a ring: while the block multiplies one, copies fill the others.
//!
//! A row is 128 bytes, all 32 banks. Chunk `j` of row `i` lies at `j ^ (i mod 8)`, as
//! TMA puts it (its 128-byte pattern): the same chunk of
//! consecutive rows is in different banks, and `ldmatrix` has no conflicts.
//!
//! The loop must compute next to nothing. A thread's chunks lie 32 rows apart, in one
//! column of chunks, and so they are swizzled alike: their places in the stage differ by
//! constants. An address in global memory is the block's, the same for all threads and
//! advanced once per tile, plus a constant 32-bit offset: the instruction adds them.

use cuda_std::cp_async::{cg_first, cg_or_zeros, commit_group};
use cuda_std::half::f16;
use cuda_std::swizzle::Swizzle;
use cuda_std::vector::UInt4;

use super::matrices::{PITCH_UNIT, min};
use super::unrolled;

/// Rows of C that a block computes.
pub const TILE_ROWS: u32 = 128;
/// Columns of C that a block computes.
pub const TILE_COLUMNS: u32 = 256;
/// Depth of the tiles along k.
pub const TILE_K: u32 = 64;
/// Threads of a block.
pub const BLOCK_THREADS: u32 = 256;

const ELEMENT_BYTES: u32 = size_of::<f16>() as u32;
const CHUNK_BYTES: u32 = PITCH_UNIT * ELEMENT_BYTES;
/// Chunks in a row of a tile.
const ROW_CHUNKS: u32 = TILE_K / PITCH_UNIT;
/// Bytes from one row of a tile to the next.
pub const ROW_BYTES: u32 = TILE_K * ELEMENT_BYTES;
/// One stage.
pub const STAGE_BYTES: u32 = (TILE_ROWS + TILE_COLUMNS) * ROW_BYTES;
/// Where in a stage the tile of B begins.
pub const B_OFFSET_BYTES: u32 = TILE_ROWS * ROW_BYTES;

/// Rows that one copy of the block has.
const COPY_ROWS: u32 = BLOCK_THREADS / ROW_CHUNKS;
/// A thread's chunks of a tile of A, and of B.
const N_COPIES: [usize; 2] = [
    (TILE_ROWS / COPY_ROWS) as usize,
    (TILE_COLUMNS / COPY_ROWS) as usize,
];

// A row's eighth chunk is like its first; a thread's rows are swizzled alike.
const _: () = assert!(ROW_BYTES == 128 && COPY_ROWS.is_multiple_of(8));
// The loops below are written out this many times.
const _: () = assert!(N_COPIES[0] == 4 && N_COPIES[1] == 8);

/// Where in a tile the 16 bytes of column `chunk` of a row lie.
#[inline(always)]
pub const fn chunk_offset_bytes(row: u32, chunk: u32) -> u32 {
    Swizzle::<3, 4, 3>::apply(row * ROW_BYTES + chunk * CHUNK_BYTES)
}

/// A factor's rows that a block multiplies: where they begin, how many are left,
/// and how far apart they are, in elements.
#[derive(Clone, Copy)]
pub struct Rows {
    /// The first one.
    pub first: *const f16,
    /// Rows from it to the last.
    pub n_left: u32,
    /// Elements from one to the next.
    pub pitch: u32,
}

/// A thread's copies. Where `WHOLE_CHUNKS`, k is a multiple of 8.
pub struct Copies<const WHOLE_CHUNKS: bool> {
    a: *const u8,
    b: *const u8,
    /// Offsets from there to the thread's chunks.
    a_distances_bytes: [u32; N_COPIES[0]],
    b_distances_bytes: [u32; N_COPIES[1]],
    /// Address of the thread's first chunk in the first stage.
    address: u32,
    /// Elements along k from the thread's chunk on.
    n_left: u32,
}

impl<const WHOLE_CHUNKS: bool> Copies<WHOLE_CHUNKS> {
    /// The copies of a thread, into stages from `ring` on.
    ///
    /// Below the last row of a factor comes the last one once more: what is computed from it is
    /// not stored.
    #[inline(always)]
    pub fn new(a: Rows, b: Rows, k: u32, ring: u32, thread: u32) -> Self {
        let (row, chunk) = (thread / ROW_CHUNKS, thread % ROW_CHUNKS);
        let distance = |rows: Rows, copy: usize| {
            let row = min(row + copy as u32 * COPY_ROWS, rows.n_left - 1);
            (row * rows.pitch + chunk * PITCH_UNIT) * ELEMENT_BYTES
        };
        let mut copies = Self {
            a: a.first.cast(),
            b: b.first.cast(),
            a_distances_bytes: [0; _],
            b_distances_bytes: [0; _],
            address: ring + chunk_offset_bytes(row, chunk),
            n_left: k.saturating_sub(chunk * PITCH_UNIT),
        };
        unrolled!(I in [0 1 2 3] { copies.a_distances_bytes[I] = distance(a, I); });
        unrolled!(I in [0 1 2 3 4 5 6 7] { copies.b_distances_bytes[I] = distance(b, I); });
        copies
    }

    /// Starts a third of the next tile's copies, into the stage that begins `stage` bytes after
    /// the first; the third one closes the tile's group. Elements beyond k are zeros.
    ///
    /// # Safety
    ///
    /// No thread still reads the stage, and `PART` is 0, 1, 2 in successive calls.
    #[inline(always)]
    pub unsafe fn start_part<const PART: usize>(&mut self, stage: u32) {
        let to = self.address + stage;
        unrolled!(I in [0 1 2 3] {
            if I % 3 == PART {
                self.copy(to + I as u32 * COPY_ROWS * ROW_BYTES, self.a, self.a_distances_bytes[I]);
            }
        });
        unrolled!(I in [0 1 2 3 4 5 6 7] {
            if I % 3 == PART {
                let to = to + B_OFFSET_BYTES + I as u32 * COPY_ROWS * ROW_BYTES;
                self.copy(to, self.b, self.b_distances_bytes[I]);
            }
        });
        if PART == 2 {
            commit_group();
            self.a = self.a.wrapping_add(ROW_BYTES as usize);
            self.b = self.b.wrapping_add(ROW_BYTES as usize);
            self.n_left = self.n_left.saturating_sub(TILE_K);
        }
    }

    /// Starts all of the next tile's copies.
    ///
    /// # Safety
    ///
    /// As [`start_part`](Self::start_part).
    #[inline(always)]
    pub unsafe fn start(&mut self, stage: u32) {
        self.start_part::<0>(stage);
        self.start_part::<1>(stage);
        self.start_part::<2>(stage);
    }

    #[inline(always)]
    unsafe fn copy(&self, to: u32, from: *const u8, distance_bytes: u32) {
        let from = from.wrapping_add(distance_bytes as usize).cast::<UInt4>();
        if WHOLE_CHUNKS {
            cg_or_zeros(to, from, self.n_left != 0);
        } else {
            cg_first(to, from, min(self.n_left, PITCH_UNIT) * ELEMENT_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::cost;
    use cuda_std::mma::{pair_address, quad_address};

    #[test]
    fn copies_have_no_conflicts() {
        let copy = cost(16, |lane| {
            chunk_offset_bytes(lane / ROW_CHUNKS, lane % ROW_CHUNKS)
        });
        assert_eq!(copy.conflicts, 0);
    }

    #[test]
    fn matrices_of_both_factors_are_read_without_conflicts() {
        for step in 0..TILE_K / 16 {
            for address in [quad_address, pair_address] {
                let load = cost(16, |lane| {
                    let (row, column) = address(lane);
                    chunk_offset_bytes(16 + row, step * 2 + column / PITCH_UNIT)
                });
                assert_eq!(load.conflicts, 0);
            }
        }
    }

    #[test]
    fn a_step_along_k_is_an_xor_and_rows_further_down_an_addition() {
        for lane in 0..32 {
            let (row, column) = quad_address(lane);
            let first = chunk_offset_bytes(row, column / PITCH_UNIT);
            for step in 0..TILE_K / 16 {
                let there = chunk_offset_bytes(row, step * 2 + column / PITCH_UNIT);
                assert_eq!(there, first ^ (step * 2 * CHUNK_BYTES));
                let below = chunk_offset_bytes(row + 16, step * 2 + column / PITCH_UNIT);
                assert_eq!(below, there + 16 * ROW_BYTES);
            }
        }
    }

    #[test]
    fn a_stage_has_a_place_for_every_chunk() {
        let mut taken = [false; (STAGE_BYTES / CHUNK_BYTES) as usize];
        for (begin, rows) in [(0, TILE_ROWS), (B_OFFSET_BYTES, TILE_COLUMNS)] {
            for (row, chunk) in (0..rows).flat_map(|row| (0..ROW_CHUNKS).map(move |c| (row, c))) {
                let place = (begin + chunk_offset_bytes(row, chunk)) / CHUNK_BYTES;
                assert!(!core::mem::replace(&mut taken[place as usize], true));
            }
        }
        assert!(taken.iter().all(|&taken| taken));
    }
}
