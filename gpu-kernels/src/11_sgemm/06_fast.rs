//! 8×16 elements per thread, warp tiles, fragments one step ahead.

use cuda_std::cp_async::{wait_all, wait_group};
use cuda_std::prelude::*;
use cuda_std::shared::{address_in_space, dynamic_shared_mem};
use cuda_std::vector::Float4;

use super::copies::{
    BLOCK_THREADS, Copies, TILE_ROWS, a_offset_bytes, b_offset_bytes, has_chunks, n_tiles,
    stage_bytes,
};
use super::fragments::{Fragment, N_THREADS, Place, TILE_COLUMNS, multiply, store_sums};
use super::unrolled;

/// Depth of the tiles along k.
const TILE_K: u32 = 8;
/// Stages: one is multiplied while the others' copies are in flight.
const STAGES: u32 = 4;
const STAGE_BYTES: u32 = stage_bytes(TILE_K, TILE_COLUMNS);

const _: () = assert!(BLOCK_THREADS == N_THREADS);

/// 8×16 elements per thread, fragments one step ahead.
///
/// # Safety
///
/// As [`sgemm_vectorized`](super::vectors::sgemm_vectorized), with this file's
/// [`BLOCK`], [`grid`] and [`SHARED_BYTES`].
#[kernel(launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn sgemm_fast(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    if has_chunks(n) {
        product::<true>((a, b, c), (m, n, k));
    } else {
        product::<false>((a, b, c), (m, n, k));
    }
}

/// The kernel, for matrices B that can or cannot be copied by chunks.
#[inline(always)]
unsafe fn product<const BY_CHUNKS: bool>(
    (a, b, c): (*const f32, *const f32, *mut f32),
    (m, n, k): (u32, u32, u32),
) {
    let ring = address_in_space(dynamic_shared_mem::<Float4>());
    let first_row = thread::block_idx_y() * TILE_ROWS;
    let first_column = thread::block_idx_x() * TILE_COLUMNS;
    let Place { row, column } = Place::of_thread();

    let n_tiles = n_tiles(k, TILE_K);
    let mut copies = Copies::<TILE_K, TILE_COLUMNS, BY_CHUNKS>::new(
        (a, b),
        (first_row, first_column),
        (m, n, k),
        ring,
    );
    copies.start_first();
    unrolled!(STAGE in [1 2 3] {
        copies.start_next(STAGE as u32 * STAGE_BYTES, (STAGE as u32) < n_tiles);
    });

    let mut sums = [[0.0_f32; 16]; 8];
    let mut fragments = [Fragment::EMPTY; 2];
    let mut stage = 0;
    let mut a_address = ring + a_offset_bytes(row, 0);
    let mut b_address = ring + b_offset_bytes(0, column, TILE_K, TILE_COLUMNS);
    wait_group::<{ STAGES - 1 }>();
    thread::sync_threads();
    fragments[0] = Fragment::load(a_address, b_address, 0);

    let mut tile = 0;
    while tile < n_tiles {
        unrolled!(K in [0 1 2 3 4 5 6 7] {
            const NEXT_K: u32 = (K as u32 + 1) % TILE_K;
            if NEXT_K != 0 {
                fragments[(K + 1) % 2] = Fragment::load(a_address, b_address, NEXT_K);
            } else {
                // The next step is the next tile's first. (After the last tile comes
                // one of zeros, which is read but not used.) Past the barrier all
                // threads have read all of this tile, and its stage is free.
                wait_group::<{ STAGES - 2 }>();
                thread::sync_threads();
                let free_stage = stage;
                let step = if stage == (STAGES - 1) * STAGE_BYTES {
                    0_u32.wrapping_sub(stage)
                } else {
                    STAGE_BYTES
                };
                stage = stage.wrapping_add(step);
                a_address = a_address.wrapping_add(step);
                b_address = b_address.wrapping_add(step);
                fragments[(K + 1) % 2] = Fragment::load(a_address, b_address, 0);
                copies.start_next(free_stage, tile + STAGES < n_tiles);
            }
            multiply(&mut sums, &fragments[K % 2]);
        });
        tile += 1;
    }
    wait_all();

    store_sums(c, first_row + row, first_column + column, m, n, &sums);
}

/// Block of [`sgemm_fast`], in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Dynamic shared memory of [`sgemm_fast`], in bytes.
pub const SHARED_BYTES: u32 = STAGES * STAGE_BYTES;

/// Grid of [`sgemm_fast`]: x over columns, y over rows.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(TILE_COLUMNS), m.div_ceil(TILE_ROWS), 1]
}
