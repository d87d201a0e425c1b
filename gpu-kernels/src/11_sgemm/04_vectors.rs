//! 8×8 elements per thread, 16 bytes per access.
//!
//! The values that a thread needs for one step along k should lie together: then
//! one instruction loads four of them. B's do, since its rows run along C's
//! columns. A's rows run along k. So the tile of A is *transposed* on its way into
//! shared memory: loaded by rows of 16 bytes, stored element by element.
//!
//! A thread's 8×8 elements are four squares of 4×4, 64 apart:
//!
//! ```text
//!             columns  4·x …       64 + 4·x …
//!   rows 4·y …         ┌────┐         ┌────┐
//!                      └────┘         └────┘
//!   rows 64 + 4·y …    ┌────┐         ┌────┐
//!                      └────┘         └────┘
//! ```
//!
//! If they were one square of 8×8, eight lanes would read 16 bytes of every 32, and
//! collide in pairs in the banks.

use cuda_std::float::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::{element, load_or_zero, unrolled};

/// Side of the tile of C, in elements.
pub const TILE: u32 = 128;
/// Depth of the tiles along k.
pub const TILE_K: u32 = 8;
/// Elements in a chunk of 16 bytes.
pub const CHUNK: u32 = 4;
/// Side of the square of threads.
pub const SIDE_THREADS: u32 = 16;
/// Threads in a block.
pub const BLOCK_THREADS: u32 = SIDE_THREADS * SIDE_THREADS;

/// Elements from one row of the transposed tile of A to the next: one chunk more
/// than a row has.
///
/// A warp's store has two chunks' elements of 16 rows of A. Without the padding the
/// two would lie in the same banks: 4 · 128 words apart.
pub const A_PITCH: u32 = TILE + CHUNK;

const A_TILE_CHUNKS: usize = (TILE_K * A_PITCH / CHUNK) as usize;
const B_TILE_CHUNKS: usize = (TILE_K * TILE / CHUNK) as usize;

// Every thread loads one chunk of each tile.
const _: () = assert!(BLOCK_THREADS * CHUNK == TILE * TILE_K);
// A thread's squares are half a tile apart.
const _: () = assert!(2 * SIDE_THREADS * CHUNK == TILE);

/// Offset, in elements, of element `(row, k)` in the transposed tile of A: for the
/// stores, and for the loads of four rows of A at once.
#[inline(always)]
pub const fn a_offset(row: u32, k: u32) -> u32 {
    k * A_PITCH + row
}

/// The chunk of a matrix that starts at `(row, column)`, zeros where it has no
/// elements. In one access, if rows start at multiples of 16 bytes.
#[inline(always)]
unsafe fn load_chunk(
    matrix: *const f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
) -> Float4 {
    if n_columns.is_multiple_of(CHUNK) {
        if row < n_rows && column < n_columns {
            Float4::load(matrix.add(element(row, column, n_columns)).cast())
        } else {
            Float4::default()
        }
    } else {
        let at = |i| load_or_zero(matrix, row, column + i, n_rows, n_columns);
        Float4::new(at(0), at(1), at(2), at(3))
    }
}

/// Stores a chunk at `(row, column)` of a matrix, leaving out what is outside.
#[inline(always)]
pub(super) unsafe fn store_chunk(
    matrix: *mut f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
    chunk: Float4,
) {
    if n_columns.is_multiple_of(CHUNK) {
        if row < n_rows && column < n_columns {
            chunk.store(matrix.add(element(row, column, n_columns)).cast());
        }
    } else {
        let store_at = |i: u32, value| {
            if row < n_rows && column + i < n_columns {
                *matrix.add(element(row, column + i, n_columns)) = value;
            }
        };
        store_at(0, chunk.x);
        store_at(1, chunk.y);
        store_at(2, chunk.z);
        store_at(3, chunk.w);
    }
}

/// Eight values of two chunks that lie half a tile apart.
#[inline(always)]
pub(super) unsafe fn load_eight(address: u32) -> [f32; 8] {
    let first = cuda_std::shared::load_float4(address);
    let second = cuda_std::shared::load_float4(address + TILE / 2 * 4);
    [
        first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w,
    ]
}

/// Adds the products of eight values of A and eight of B.
#[inline(always)]
pub(super) fn multiply(sums: &mut [[f32; 8]; 8], a: [f32; 8], b: [f32; 8]) {
    unrolled!(R in [0 1 2 3 4 5 6 7] {
        unrolled!(S in [0 1 2 3 4 5 6 7] {
            sums[R][S] = GpuFloat::mul_add(a[R], b[S], sums[R][S]);
        });
    });
}

/// Stores a thread's 8×8 sums. `row` and `column` are those of its first square.
#[inline(always)]
pub(super) unsafe fn store_sums(
    c: *mut f32,
    row: u32,
    column: u32,
    m: u32,
    n: u32,
    sums: &[[f32; 8]; 8],
) {
    unrolled!(R in [0 1 2 3 4 5 6 7] {
        const ROW: u32 = R as u32 / CHUNK * (TILE / 2) + R as u32 % CHUNK;
        let s = sums[R];
        store_chunk(c, row + ROW, column, m, n, Float4::new(s[0], s[1], s[2], s[3]));
        store_chunk(c, row + ROW, column + TILE / 2, m, n, Float4::new(s[4], s[5], s[6], s[7]));
    });
}

/// 8×8 elements per thread out of a transposed tile of A: four loads from shared
/// memory for 64 multiply-adds.
///
/// # Safety
///
/// As [`sgemm_naive`](super::naive::sgemm_naive), with this file's [`BLOCK`] and
/// [`grid`], and all three aligned to 16 bytes.
#[kernel(launch_bounds(BLOCK_THREADS, 2))]
pub unsafe fn sgemm_vectorized(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let a_tile = shared_array![Float4; A_TILE_CHUNKS, align = 128].cast::<f32>();
    let b_tile = shared_array![Float4; B_TILE_CHUNKS, align = 128].cast::<f32>();
    let a_address = cuda_std::shared::address_in_space(a_tile);
    let b_address = cuda_std::shared::address_in_space(b_tile);
    let thread = thread::thread_idx_x();
    let first_row = thread::block_idx_y() * TILE;
    let first_column = thread::block_idx_x() * TILE;
    // The chunks that it loads, and the squares that it computes.
    let (a_row, a_k) = (thread / (TILE_K / CHUNK), thread % (TILE_K / CHUNK) * CHUNK);
    let (b_k, b_column) = (thread / (TILE / CHUNK), thread % (TILE / CHUNK) * CHUNK);
    let (row, column) = (thread / SIDE_THREADS * CHUNK, thread % SIDE_THREADS * CHUNK);

    let mut sums = [[0.0_f32; 8]; 8];
    let mut first = 0;
    while first < k {
        let a_chunk = load_chunk(a, first_row + a_row, first + a_k, m, k);
        let b_chunk = load_chunk(b, first + b_k, first_column + b_column, k, n);
        *a_tile.add(a_offset(a_row, a_k) as usize) = a_chunk.x;
        *a_tile.add(a_offset(a_row, a_k + 1) as usize) = a_chunk.y;
        *a_tile.add(a_offset(a_row, a_k + 2) as usize) = a_chunk.z;
        *a_tile.add(a_offset(a_row, a_k + 3) as usize) = a_chunk.w;
        b_chunk.store(b_tile.add(element(b_k, b_column, TILE)).cast());
        thread::sync_threads();
        unrolled!(K in [0 1 2 3 4 5 6 7] {
            let a_values = load_eight(a_address + 4 * a_offset(row, K as u32));
            let b_values = load_eight(b_address + 4 * element(K as u32, column, TILE) as u32);
            multiply(&mut sums, a_values, b_values);
        });
        thread::sync_threads();
        first += TILE_K;
    }
    store_sums(c, first_row + row, first_column + column, m, n, &sums);
}

/// Block of [`sgemm_vectorized`], in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of [`sgemm_vectorized`]: x over columns, y over rows.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(TILE), m.div_ceil(TILE), 1]
}

#[cfg(test)]
mod tests {
    use super::{A_PITCH, CHUNK, SIDE_THREADS, TILE, TILE_K, a_offset};
    use crate::banks::cost;

    #[test]
    fn transposing_stores_have_no_conflicts_for_the_padding() {
        let store = |pitch: u32| {
            cost(4, |lane| {
                let (row, k) = (lane / (TILE_K / CHUNK), lane % (TILE_K / CHUNK) * CHUNK);
                4 * (k * pitch + row)
            })
        };
        assert_eq!(store(A_PITCH).conflicts, 0);
        assert_eq!(store(TILE).ways, 2);
        assert_eq!(a_offset(5, 3), 3 * A_PITCH + 5);
    }

    #[test]
    fn squares_of_4_are_read_without_conflicts_and_squares_of_8_are_not() {
        let read = |apart: u32| cost(16, |lane| 4 * apart * (lane % SIDE_THREADS));
        assert_eq!(read(CHUNK).conflicts, 0);
        assert_eq!(read(2 * CHUNK).ways, 2);
    }
}
