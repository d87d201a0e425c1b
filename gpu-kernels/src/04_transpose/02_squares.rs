//! A 64×64 tile, 16 bytes per access, for matrices whose rows are whole lines.
//!
//! The 32×32 kernels have one 4-byte load in flight per thread: too little to keep
//! the memory busy. Here a thread has four 16-byte loads in flight, and every
//! access, global or shared, moves a 16-byte vector (`CHUNK` elements).
//!
//! The tile is 16×16 squares of 4×4 elements, and there are 16×16 threads. Thread
//! (x, y) loads the four rows of square (y, x) and stores them to shared memory, one
//! vector each; then it loads the four rows of square (x, y), transposes the square in
//! its registers, and stores four rows of the output. Both times, consecutive lanes
//! have consecutive vectors in global memory.

use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use crate::matrix::element;
use crate::swizzle::Swizzle;

/// Side of the large tile, in elements.
pub const LARGE_TILE: u32 = 64;
/// Elements in a 16-byte vector.
pub const CHUNK: u32 = 4;
/// Side of the large tile, in squares of 4×4, and of its block, in threads.
pub const LARGE_TILE_SQUARES: u32 = LARGE_TILE / CHUNK;
/// Threads in a block of [`transpose_vectorized`](super::transpose_vectorized).
pub const LARGE_BLOCK_THREADS: u32 = LARGE_TILE_SQUARES * LARGE_TILE_SQUARES;

const CHUNK_BYTES: u32 = 16;
/// A line is 32 banks of 4 bytes: half a tile row.
pub(super) const LINE_BYTES: u32 = 128;
const LINE_CHUNKS: u32 = LINE_BYTES / CHUNK_BYTES;
/// The lines of one row of every square, for both halves of the tile.
const ROW_SLICE_BYTES: u32 = 2 * LARGE_TILE_SQUARES * LINE_BYTES;
pub(super) const LARGE_TILE_BYTES: u32 = LARGE_TILE * LARGE_TILE * 4;
#[cfg(test)]
const LARGE_TILE_CHUNKS: usize = (LARGE_TILE_BYTES / CHUNK_BYTES) as usize;

const _: () = assert!(CHUNK * ROW_SLICE_BYTES == LARGE_TILE_BYTES);

/// Offset in bytes of the 16-byte vector that is row `row_in_square` of the square
/// `(square_row, square_column)`.
///
/// A 16-byte access of a warp goes to the banks in four phases of 8 lanes, each
/// of 128 bytes. The 8 lanes of a phase have
///
/// - when they store, the same `square_row` and 8 consecutive `square_column`s;
/// - when they load, the same `square_column` and 8 consecutive `square_row`s.
///
/// So the lines of neighbouring square rows are consecutive, and the vectors
/// of line `l` are in the order `vector ^ (l mod 8)`: bits 4 to 6 of the offset
/// XOR bits 7 to 9. That is the 128-byte pattern that the hardware's own tile
/// copies use.
///
/// ```text
///   bits  13 12            11              10 … 7        6 … 4          3 … 0
///         row_in_square    right half      square_row    vector in line byte
///                                             └──── XOR ────┘
/// ```
#[inline(always)]
pub const fn chunk_offset_bytes(square_row: u32, square_column: u32, row_in_square: u32) -> u32 {
    let (half, chunk) = (square_column / LINE_CHUNKS, square_column % LINE_CHUNKS);
    let line = half * LARGE_TILE_SQUARES + square_row;
    Swizzle::<3, 4, 3>::apply(line * LINE_BYTES + chunk * CHUNK_BYTES)
        + row_in_square * ROW_SLICE_BYTES
}

/// Loads the square of a matrix whose first element is `(row, column)`; elements
/// outside the matrix are 0. Rows are a multiple of 4 long, so that each vector
/// is aligned, and lies wholly inside or outside.
#[inline(always)]
unsafe fn load_square(
    matrix: *const f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
) -> [Float4; 4] {
    let chunk = |i| {
        if row + i < n_rows && column < n_columns {
            Float4::load(matrix.add(element(row + i, column, n_columns)).cast())
        } else {
            Float4::default()
        }
    };
    [chunk(0), chunk(1), chunk(2), chunk(3)]
}

/// Stores a square to a matrix, as [`load_square`] loads one, leaving out what
/// is outside the matrix.
#[inline(always)]
unsafe fn store_square(
    matrix: *mut f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
    [a, b, c, d]: [Float4; 4],
) {
    let store = |i, chunk: Float4| {
        if row + i < n_rows && column < n_columns {
            chunk.store(matrix.add(element(row + i, column, n_columns)).cast());
        }
    };
    store(0, a);
    store(1, b);
    store(2, c);
    store(3, d);
}

/// Loads a 16-byte vector of the tile. The compiler would split a plain load, because
/// its elements are used separately here, and lanes that load single elements of
/// vectors have bank conflicts.
#[cuda_std::gpu_only]
#[inline(always)]
unsafe fn load_chunk(address: *const Float4) -> Float4 {
    let (x, y, z, w);
    // SAFETY: reads shared memory that the caller vouches for. Not `pure`, so that it
    // stays after the barrier.
    unsafe {
        core::arch::asm!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.shared.u64 place, {address};",
            "ld.shared.v4.f32 {{{x}, {y}, {z}, {w}}}, [place];",
            "}}",
            address = in(reg64) address,
            x = out(reg32) x,
            y = out(reg32) y,
            z = out(reg32) z,
            w = out(reg32) w,
            options(readonly, nostack, preserves_flags)
        );
    }
    Float4::new(x, y, z, w)
}

/// The transpose of a square of four rows of four.
#[inline(always)]
pub const fn transpose_square([a, b, c, d]: [Float4; 4]) -> [Float4; 4] {
    [
        Float4::new(a.x, b.x, c.x, d.x),
        Float4::new(a.y, b.y, c.y, d.y),
        Float4::new(a.z, b.z, c.z, d.z),
        Float4::new(a.w, b.w, c.w, d.w),
    ]
}

/// Transposes the tile that starts at `(first_row, first_column)`, where rows of both
/// matrices are aligned.
#[inline(always)]
pub(super) unsafe fn transpose_squares(
    tile: *mut u8,
    input: *const f32,
    output: *mut f32,
    first_row: u32,
    first_column: u32,
    n_rows: u32,
    n_columns: u32,
) {
    let at = |offset_bytes: u32| tile.add(offset_bytes as usize).cast::<Float4>();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());

    // All loads before the first store: four accesses in flight at once.
    let (row, column) = (first_row + y * CHUNK, first_column + x * CHUNK);
    let [a, b, c, d] = load_square(input, row, column, n_rows, n_columns);
    a.store(at(chunk_offset_bytes(y, x, 0)));
    b.store(at(chunk_offset_bytes(y, x, 1)));
    c.store(at(chunk_offset_bytes(y, x, 2)));
    d.store(at(chunk_offset_bytes(y, x, 3)));
    thread::sync_threads();

    let square = transpose_square([
        load_chunk(at(chunk_offset_bytes(x, y, 0))),
        load_chunk(at(chunk_offset_bytes(x, y, 1))),
        load_chunk(at(chunk_offset_bytes(x, y, 2))),
        load_chunk(at(chunk_offset_bytes(x, y, 3))),
    ]);
    let (row, column) = (first_column + y * CHUNK, first_row + x * CHUNK);
    store_square(output, row, column, n_columns, n_rows, square);
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of [`transpose_vectorized`](super::transpose_vectorized), in threads.
pub const LARGE_BLOCK: [u32; 3] = [LARGE_TILE_SQUARES, LARGE_TILE_SQUARES, 1];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::cost;

    extern crate std;
    use std::collections::BTreeSet;

    #[test]
    fn chunks_have_places_of_their_own() {
        let mut places = BTreeSet::new();
        for square_row in 0..LARGE_TILE_SQUARES {
            for square_column in 0..LARGE_TILE_SQUARES {
                for row_in_square in 0..CHUNK {
                    places.insert(chunk_offset_bytes(square_row, square_column, row_in_square));
                }
            }
        }
        assert_eq!(places.len(), LARGE_TILE_CHUNKS);
        assert!(places.iter().all(|place| place.is_multiple_of(CHUNK_BYTES)));
        assert!(places.last() < Some(&LARGE_TILE_BYTES));
    }

    #[test]
    fn the_large_tile_has_no_conflicts() {
        // Lane l of warp w is thread (l mod 16, 2·w + l / 16).
        for warp in 0..LARGE_BLOCK_THREADS / 32 {
            let thread = |lane| (lane % 16, 2 * warp + lane / 16);
            for row_in_square in 0..CHUNK {
                let stores = cost(16, |lane| {
                    let (x, y) = thread(lane);
                    chunk_offset_bytes(y, x, row_in_square)
                });
                let loads = cost(16, |lane| {
                    let (x, y) = thread(lane);
                    chunk_offset_bytes(x, y, row_in_square)
                });
                assert_eq!((stores.conflicts, loads.conflicts), (0, 0), "warp {warp}");
            }
        }
    }

    #[test]
    fn without_the_swizzle_the_large_tile_has_conflicts() {
        let offset = |square_row, square_column| {
            (square_column / 8 * 16 + square_row) * 128 + square_column % 8 * 16
        };
        assert_eq!(cost(16, |lane| offset(lane % 16, lane / 16)).ways, 8);
    }

    #[test]
    fn squares_are_transposed() {
        let row = |i: u32| {
            let at = |j| (10 * i + j) as f32;
            Float4::new(at(0), at(1), at(2), at(3))
        };
        let column = |j: u32| {
            let at = |i: u32| (10 * i + j) as f32;
            Float4::new(at(0), at(1), at(2), at(3))
        };
        assert_eq!(
            transpose_square([0, 1, 2, 3].map(row)),
            [0, 1, 2, 3].map(column)
        );
    }
}
