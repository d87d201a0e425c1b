//! A product over several devices: what is far away is fetched while what is here is multiplied.
//!
//! `C = A · B`. Each device has a band of the rows of A, of B, and of C. For its rows of C it needs all of
//! B, which does not fit, or not yet: B's bands are fetched one after the other, each into one of two
//! buffers, while the band before is multiplied with the columns of A that belong to it.
//!
//! ```text
//!   multiply  │ own band  │ next one's │ …
//!   fetch     │ next one's│ …          │
//! ```
//!
//! [`gemm_add`] multiplies; the host copies between devices, in a stream of its own, and orders the two by
//! events. A product takes longer than the copy if a device has enough rows: each byte of B takes part in
//! as many multiplications as the band of A has rows.

use cuda_std::prelude::*;
use cuda_std::unrolled;

/// Side of a block's tile of C.
pub const TILE: u32 = 64;
/// Depth of the tiles of A and B in shared memory.
const DEPTH: u32 = 16;
/// A thread's rows, and its columns.
const EACH: u32 = 4;
/// Threads along a side.
const SIDE: u32 = TILE / EACH;
const BLOCK_THREADS: u32 = SIDE * SIDE;
/// Block, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid for a band of C: x over columns.
pub const fn grid(n_rows: u32, n_columns: u32) -> [u32; 3] {
    [n_columns.div_ceil(TILE), n_rows.div_ceil(TILE), 1]
}

/// Adds the product of some columns of A and a band of B to a band of C.
///
/// # Safety
///
/// `a` has `m` rows of `a_pitch` numbers, of which the `k` from `first_k` on are multiplied; `b` has `k`
/// rows of `n`, `c` `m` of `n`. Launch with [`BLOCK`] and [`grid`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn gemm_add(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
    a_pitch: u32,
    first_k: u32,
) {
    // A's tile lies on its side, so that a thread's rows are next to each other.
    let a_tile = shared_array![f32; (DEPTH * TILE) as usize];
    let b_tile = shared_array![f32; (DEPTH * TILE) as usize];
    let thread = thread::index_in_block();
    let (first_row, first_column) = (thread::block_idx_y() * TILE, thread::block_idx_x() * TILE);
    let (own_row, own_column) = (thread / SIDE * EACH, thread % SIDE * EACH);

    let mut sums = [[0.0_f32; EACH as usize]; EACH as usize];
    let mut first = 0;
    while first < k {
        unrolled!(I in [0 1 2 3] {
            let at = thread + I as u32 * BLOCK_THREADS;
            let (row, depth) = (at / DEPTH, at % DEPTH);
            let is_there = first_row + row < m && first + depth < k;
            *a_tile.add((depth * TILE + row) as usize) = if is_there {
                *a.add((first_row + row) as usize * a_pitch as usize + (first_k + first + depth) as usize)
            } else {
                0.0
            };
            let (depth, column) = (at / TILE, at % TILE);
            let is_there = first + depth < k && first_column + column < n;
            *b_tile.add((depth * TILE + column) as usize) = if is_there {
                *b.add((first + depth) as usize * n as usize + (first_column + column) as usize)
            } else {
                0.0
            };
        });
        thread::sync_threads();
        let mut depth = 0;
        while depth < DEPTH {
            let of_a = a_tile.add((depth * TILE + own_row) as usize);
            let of_b = b_tile.add((depth * TILE + own_column) as usize);
            unrolled!(R in [0 1 2 3] {
                unrolled!(C in [0 1 2 3] {
                    sums[R][C] = GpuFloat::mul_add(*of_a.add(R), *of_b.add(C), sums[R][C]);
                });
            });
            depth += 1;
        }
        thread::sync_threads();
        first += DEPTH;
    }
    unrolled!(R in [0 1 2 3] {
        unrolled!(C in [0 1 2 3] {
            let (row, column) = (first_row + own_row + R as u32, first_column + own_column + C as u32);
            if row < m && column < n {
                let at = row as usize * n as usize + column as usize;
                *c.add(at) += sums[R][C];
            }
        });
    });
}
