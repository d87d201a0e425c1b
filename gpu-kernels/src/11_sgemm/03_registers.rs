//! Many elements per thread: sums in registers, so that each value loaded from
//! shared memory is used more than once.
//!
//! A thread that computes R×S elements of C takes R values of A and S of B for
//! R·S multiply-adds. Where four values of A along k lie together, one load brings them:
//!
//! | elements per thread | values per multiply-add | loads |
//! |---|---|---|
//! | 1×1 ([`tiled`](super::tiled)) | 2 | 5/4 |
//! | 8×1 ([`sgemm_column`]) | 9/8 | 3/8 |
//! | 8×8 ([`sgemm_square`]) | 1/4 | 1/4 |
//!
//! An SM does 4 multiply-adds of a warp per cycle and serves one request to
//! shared memory: with more than 1/4 load per multiply-add it waits for shared memory.
//!
//! The sums must stay in registers, which have no addresses: every index into
//! them must be a constant for the compiler. `unrolled!` writes
//! the loops out.

use cuda_std::float::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::{element, load_or_zero, unrolled};

/// Depth of the tiles along k.
pub const TILE_K: u32 = 8;
/// Elements along k that one load of A has in [`sgemm_column`].
const CHUNK: u32 = 4;

// ---------------------------------------------------------------------------
// A column of 8
// ---------------------------------------------------------------------------

/// Elements of C that a thread of [`sgemm_column`] computes, one below the other.
const COLUMN_ROWS: u32 = 8;
/// Side of the tile of C, in elements.
const COLUMN_TILE: u32 = 64;
/// Threads in a block of [`sgemm_column`].
pub const COLUMN_THREADS: u32 = COLUMN_TILE * COLUMN_TILE / COLUMN_ROWS;

// Every thread loads one element of each tile.
const _: () = assert!(COLUMN_THREADS == COLUMN_TILE * TILE_K);

/// Eight elements of a column per thread: one value of B in a register meets eight of
/// A.
///
/// # Safety
///
/// As [`sgemm_naive`](super::naive::sgemm_naive), with [`COLUMN_BLOCK`] and
/// [`column_grid`].
#[kernel(launch_bounds(COLUMN_THREADS, 3))]
pub unsafe fn sgemm_column(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    // One array for both tiles: a thread's elements have the same place in both, so
    // one address serves both.
    let a_tile = shared_array![f32; 2 * (COLUMN_TILE * TILE_K) as usize, align = 16];
    let b_tile = a_tile.add((COLUMN_TILE * TILE_K) as usize);
    let thread = thread::thread_idx_x();
    let first_row = thread::block_idx_y() * COLUMN_TILE;
    let first_column = thread::block_idx_x() * COLUMN_TILE;
    // What it loads, and what it computes.
    let (a_row, a_k) = (thread / TILE_K, thread % TILE_K);
    let (b_k, b_column) = (thread / COLUMN_TILE, thread % COLUMN_TILE);
    let (row, column) = (thread / COLUMN_TILE * COLUMN_ROWS, thread % COLUMN_TILE);

    // Where along k its row of A ends: at once, if there is no such row. (Two numbers
    // instead of four: 40 registers must do, for three blocks per SM.)
    let a_end = if first_row + a_row < m && a_k < k {
        k - a_k
    } else {
        0
    };
    let a_first = (first_row + a_row) * k + a_k;

    let mut sums = [0.0_f32; COLUMN_ROWS as usize];
    let mut first = 0;
    while first < k {
        *a_tile.add(element(a_row, a_k, TILE_K)) = if first < a_end {
            *a.add((a_first + first) as usize)
        } else {
            0.0
        };
        *b_tile.add(element(b_k, b_column, COLUMN_TILE)) =
            load_or_zero(b, first + b_k, first_column + b_column, k, n);
        thread::sync_threads();
        unrolled!(HALF in [0 1] {
            const I: u32 = HALF as u32 * CHUNK;
            let b_values = [0, 1, 2, 3].map(|j| *b_tile.add(element(I + j, column, COLUMN_TILE)));
            unrolled!(R in [0 1 2 3 4 5 6 7] {
                let a_values = Float4::load(a_tile.add(element(row + R as u32, I, TILE_K)).cast());
                sums[R] = GpuFloat::mul_add(a_values.x, b_values[0], sums[R]);
                sums[R] = GpuFloat::mul_add(a_values.y, b_values[1], sums[R]);
                sums[R] = GpuFloat::mul_add(a_values.z, b_values[2], sums[R]);
                sums[R] = GpuFloat::mul_add(a_values.w, b_values[3], sums[R]);
            });
        });
        thread::sync_threads();
        first += TILE_K;
    }
    let (row, column) = (first_row + row, first_column + column);
    unrolled!(R in [0 1 2 3 4 5 6 7] {
        if row + (R as u32) < m && column < n {
            *c.add(element(row + R as u32, column, n)) = sums[R];
        }
    });
}

/// Block of [`sgemm_column`], in threads.
pub const COLUMN_BLOCK: [u32; 3] = [COLUMN_THREADS, 1, 1];

/// Grid of [`sgemm_column`]: x over columns, y over rows.
pub const fn column_grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(COLUMN_TILE), m.div_ceil(COLUMN_TILE), 1]
}

// ---------------------------------------------------------------------------
// A square of 8×8
// ---------------------------------------------------------------------------

/// Side of the tile of C, in elements.
pub const SQUARE_TILE: u32 = 128;
/// Side of the square of threads: a thread's rows, and its columns, are this far
/// apart.
const SQUARE_STEP: u32 = 16;
/// Threads in a block of [`sgemm_square`].
pub const SQUARE_THREADS: u32 = SQUARE_STEP * SQUARE_STEP;

/// 8×8 elements per thread: 16 loads from shared memory for 64 multiply-adds.
///
/// A thread's columns are 16 apart, so that consecutive lanes read consecutive
/// words; so are its rows.
///
/// # Safety
///
/// As [`sgemm_naive`](super::naive::sgemm_naive), with [`SQUARE_BLOCK`] and
/// [`square_grid`].
#[kernel(launch_bounds(SQUARE_THREADS, 2))]
pub unsafe fn sgemm_square(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let a_tile = shared_array![f32; (SQUARE_TILE * TILE_K) as usize];
    let b_tile = shared_array![f32; (TILE_K * SQUARE_TILE) as usize];
    let thread = thread::thread_idx_x();
    let first_row = thread::block_idx_y() * SQUARE_TILE;
    let first_column = thread::block_idx_x() * SQUARE_TILE;
    let (a_row, a_k) = (thread / TILE_K, thread % TILE_K);
    let (b_k, b_column) = (thread / SQUARE_TILE, thread % SQUARE_TILE);
    let (row, column) = (thread / SQUARE_STEP, thread % SQUARE_STEP);

    let mut sums = [[0.0_f32; 8]; 8];
    let mut first = 0;
    while first < k {
        unrolled!(PASS in [0 1 2 3] {
            const A_ROW: u32 = PASS as u32 * (SQUARE_THREADS / TILE_K);
            const B_K: u32 = PASS as u32 * (SQUARE_THREADS / SQUARE_TILE);
            *a_tile.add(element(a_row + A_ROW, a_k, TILE_K)) =
                load_or_zero(a, first_row + a_row + A_ROW, first + a_k, m, k);
            *b_tile.add(element(b_k + B_K, b_column, SQUARE_TILE)) =
                load_or_zero(b, first + b_k + B_K, first_column + b_column, k, n);
        });
        thread::sync_threads();
        for i in 0..TILE_K {
            let (mut a_values, mut b_values) = ([0.0_f32; 8], [0.0_f32; 8]);
            unrolled!(I in [0 1 2 3 4 5 6 7] {
                a_values[I] = *a_tile.add(element(row + I as u32 * SQUARE_STEP, i, TILE_K));
                b_values[I] = *b_tile.add(element(i, column + I as u32 * SQUARE_STEP, SQUARE_TILE));
            });
            unrolled!(R in [0 1 2 3 4 5 6 7] {
                unrolled!(S in [0 1 2 3 4 5 6 7] {
                    sums[R][S] = GpuFloat::mul_add(a_values[R], b_values[S], sums[R][S]);
                });
            });
        }
        thread::sync_threads();
        first += TILE_K;
    }
    unrolled!(R in [0 1 2 3 4 5 6 7] {
        unrolled!(S in [0 1 2 3 4 5 6 7] {
            let row = first_row + row + R as u32 * SQUARE_STEP;
            let column = first_column + column + S as u32 * SQUARE_STEP;
            if row < m && column < n {
                *c.add(element(row, column, n)) = sums[R][S];
            }
        });
    });
}

/// Block of [`sgemm_square`], in threads.
pub const SQUARE_BLOCK: [u32; 3] = [SQUARE_THREADS, 1, 1];

/// Grid of [`sgemm_square`]: x over columns, y over rows.
pub const fn square_grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(SQUARE_TILE), m.div_ceil(SQUARE_TILE), 1]
}
