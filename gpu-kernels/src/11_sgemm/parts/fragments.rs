//! A thread's part of a warp's tile of 64×64: 8×16 sums, and the values of one step along k in
//! registers.

use cuda_std::float::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::shared::load_float4;
use cuda_std::vector::Float4;

use super::copies::{TILE_ROWS, a_offset_bytes, b_offset_bytes};
use super::unrolled;
use super::vectors::store_chunk;
use crate::warp::WARP_LANES;

/// Columns of C that a block computes.
pub const TILE_COLUMNS: u32 = 256;
/// Threads of a block that multiply.
pub const N_THREADS: u32 = 256;

/// Elements in a chunk of 16 bytes.
const CHUNK: u32 = 4;
/// Side of the part of C that a warp computes.
const WARP_TILE: u32 = 64;
/// Lanes of a warp down its tile, with 8 rows each…
const LANE_ROWS: u32 = 8;
/// … and across it, with 16 columns each.
const LANE_COLUMNS: u32 = WARP_LANES / LANE_ROWS;

// Two chunks of rows and four of columns make a lane's 8×16 elements.
const _: () = assert!(WARP_TILE == 2 * CHUNK * LANE_ROWS);
const _: () = assert!(WARP_TILE == 4 * CHUNK * LANE_COLUMNS);
const _: () =
    assert!(N_THREADS / WARP_LANES == (TILE_ROWS / WARP_TILE) * (TILE_COLUMNS / WARP_TILE));

/// First row and column of a lane's elements in the warp's tile, in chunks.
///
/// The lanes are an 8×4 grid, but not counted row by row. A load of 16 bytes goes to
/// the banks in four groups of 8 lanes, or in two of 16 if every lane has the same
/// address as the lane whose number differs in bit 0, or every lane as the one that
/// differs in bit 1. So bit 0 tells columns apart and bit 1 rows: loads of A merge by
/// bit 0, those of B by bit 1, and each takes two wavefronts instead of four.
#[inline(always)]
pub const fn lane_chunk(lane: u32) -> (u32, u32) {
    (
        lane >> 1 & 1 | lane >> 2 & 2 | lane >> 2 & 4,
        lane & 1 | lane >> 1 & 2,
    )
}

/// Where a thread's first sum is in the block's tile of C.
pub(super) struct Place {
    pub row: u32,
    pub column: u32,
}

impl Place {
    /// The place of this thread's.
    #[inline(always)]
    pub fn of_thread() -> Self {
        let thread = thread::thread_idx_x();
        let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);
        let (lane_row, lane_column) = lane_chunk(lane);
        Self {
            row: warp % (TILE_ROWS / WARP_TILE) * WARP_TILE + lane_row * CHUNK,
            column: warp / (TILE_ROWS / WARP_TILE) * WARP_TILE + lane_column * CHUNK,
        }
    }
}

/// A thread's sums, row by row.
pub(super) type Sums = [[f32; 16]; 8];

/// The values of A and B that a thread needs for one step along k.
#[derive(Clone, Copy)]
pub(super) struct Fragment {
    a: [f32; 8],
    b: [f32; 16],
}

impl Fragment {
    pub const EMPTY: Self = Self {
        a: [0.0; 8],
        b: [0.0; 16],
    };

    /// The values for step `k` of a stage. The addresses are those of the thread's first
    /// elements in the stage.
    #[inline(always)]
    pub unsafe fn load(a_address: u32, b_address: u32, k: u32) -> Self {
        let mut fragment = Self::EMPTY;
        unrolled!(I in [0 1 2 3] {
            let chunk = load_float4(b_address + b_step_bytes(k, I as u32));
            fragment.b[4 * I] = chunk.x;
            fragment.b[4 * I + 1] = chunk.y;
            fragment.b[4 * I + 2] = chunk.z;
            fragment.b[4 * I + 3] = chunk.w;
        });
        unrolled!(I in [0 1] {
            let chunk = load_float4(a_address + a_step_bytes(k, I as u32));
            fragment.a[4 * I] = chunk.x;
            fragment.a[4 * I + 1] = chunk.y;
            fragment.a[4 * I + 2] = chunk.z;
            fragment.a[4 * I + 3] = chunk.w;
        });
        fragment
    }
}

/// Distance from a thread's first element of A in a stage to its chunk `chunk` in step `k`.
#[inline(always)]
const fn a_step_bytes(k: u32, chunk: u32) -> u32 {
    a_offset_bytes(chunk * CHUNK * LANE_ROWS, k)
}

/// The same for B.
#[inline(always)]
const fn b_step_bytes(k: u32, chunk: u32) -> u32 {
    b_offset_bytes(k, chunk * CHUNK * LANE_COLUMNS, 0, TILE_COLUMNS)
}

/// Adds the products of one step.
///
/// Down a column and up the next one: a value of B stays in place for eight
/// multiply-adds. The register file delivers two operands per cycle, one from the even
/// registers and one from the odd; the third must be one that the previous instruction
/// already used.
#[inline(always)]
pub(super) fn multiply(sums: &mut Sums, fragment: &Fragment) {
    unrolled!(S in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] {
        unrolled!(STEP in [0 1 2 3 4 5 6 7] {
            const R: usize = if S.is_multiple_of(2) { STEP } else { 7 - STEP };
            sums[R][S] = GpuFloat::mul_add(fragment.a[R], fragment.b[S], sums[R][S]);
        });
    });
}

/// Stores a thread's sums, the first at `(row, column)`.
#[inline(always)]
pub(super) unsafe fn store_sums(c: *mut f32, row: u32, column: u32, m: u32, n: u32, sums: &Sums) {
    unrolled!(R in [0 1 2 3 4 5 6 7] {
        const ROW: u32 = R as u32 / CHUNK * CHUNK * LANE_ROWS + R as u32 % CHUNK;
        unrolled!(I in [0 1 2 3] {
            let s = [sums[R][4 * I], sums[R][4 * I + 1], sums[R][4 * I + 2], sums[R][4 * I + 3]];
            store_chunk(
                c,
                row + ROW,
                column + I as u32 * CHUNK * LANE_COLUMNS,
                m,
                n,
                Float4::new(s[0], s[1], s[2], s[3]),
            );
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::cost;

    #[test]
    fn lanes_have_chunks_of_their_own() {
        let mut taken = [[false; LANE_COLUMNS as usize]; LANE_ROWS as usize];
        for lane in 0..WARP_LANES {
            let (row, column) = lane_chunk(lane);
            assert!(!core::mem::replace(
                &mut taken[row as usize][column as usize],
                true
            ));
        }
    }

    #[test]
    fn loads_merge_and_have_no_conflicts() {
        for lane in 0..WARP_LANES {
            assert_eq!(lane_chunk(lane).0, lane_chunk(lane ^ 1).0, "rows by bit 0");
            assert_eq!(
                lane_chunk(lane).1,
                lane_chunk(lane ^ 2).1,
                "columns by bit 1"
            );
        }
        let of_a = cost(16, |lane| a_offset_bytes(lane_chunk(lane).0 * CHUNK, 3));
        let of_b = cost(16, |lane| {
            b_offset_bytes(3, lane_chunk(lane).1 * CHUNK, 8, TILE_COLUMNS)
        });
        assert_eq!((of_a.conflicts, of_b.conflicts), (0, 0));
    }
}
