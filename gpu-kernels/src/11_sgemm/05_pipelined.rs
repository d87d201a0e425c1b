//! A pipeline: tiles are copied while others are multiplied.
//!
//! The kernels before this one alternate: they load a tile, which takes more than a
//! thousand cycles, then multiply it. Only other blocks on the same SM keep it busy
//! meanwhile. Here the copies are asynchronous (`parts/copies.rs`), two tiles ahead:
//! no thread waits for memory, and no values pass through registers.
//!
//! One barrier per tile serves two purposes. It comes after the wait for the next
//! tile's copies: past it, all threads' copies of that tile have arrived. And past it
//! no thread still reads the previous tile's stage: it can be refilled.

use cuda_std::cp_async::{wait_all, wait_group};
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::copies::{Copies, a_offset_bytes, b_offset_bytes, has_chunks, n_tiles, stage_bytes};
use super::unrolled;
use super::vectors::{BLOCK_THREADS, CHUNK, SIDE_THREADS, TILE, load_eight, multiply, store_sums};

/// Depth of the tiles along k.
const TILE_K: u32 = 8;
/// Stages: one is multiplied while the others' copies are in flight.
const STAGES: u32 = 3;
const STAGE_BYTES: u32 = stage_bytes(TILE_K, TILE);
const RING_CHUNKS: usize = (STAGES * STAGE_BYTES / 16) as usize;

const _: () = assert!(BLOCK_THREADS == super::copies::BLOCK_THREADS);
const _: () = assert!(TILE == super::copies::TILE_ROWS);

/// [`sgemm_vectorized`](super::vectors::sgemm_vectorized) with copies that run ahead.
///
/// # Safety
///
/// As [`sgemm_vectorized`](super::vectors::sgemm_vectorized).
#[kernel(launch_bounds(BLOCK_THREADS, 2))]
pub unsafe fn sgemm_pipelined(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let ring = shared_array![Float4; RING_CHUNKS, align = 128];
    let ring = cuda_std::shared::address_in_space(ring);
    if has_chunks(n) {
        product::<true>((a, b, c), (m, n, k), ring);
    } else {
        product::<false>((a, b, c), (m, n, k), ring);
    }
}

/// The kernel, for matrices B that can or cannot be copied by chunks.
#[inline(always)]
unsafe fn product<const BY_CHUNKS: bool>(
    (a, b, c): (*const f32, *const f32, *mut f32),
    (m, n, k): (u32, u32, u32),
    ring: u32,
) {
    let thread = thread::thread_idx_x();
    let first_row = thread::block_idx_y() * TILE;
    let first_column = thread::block_idx_x() * TILE;
    let (row, column) = (thread / SIDE_THREADS * CHUNK, thread % SIDE_THREADS * CHUNK);

    let n_tiles = n_tiles(k, TILE_K);
    let mut copies =
        Copies::<TILE_K, TILE, BY_CHUNKS>::new((a, b), (first_row, first_column), (m, n, k), ring);
    copies.start_first();
    copies.start_next(STAGE_BYTES, 1 < n_tiles);

    let mut sums = [[0.0_f32; 8]; 8];
    let (mut stage, mut free_stage) = (0, (STAGES - 1) * STAGE_BYTES);
    let mut tile = 0;
    while tile < n_tiles {
        wait_group::<{ STAGES - 2 }>();
        thread::sync_threads();
        copies.start_next(free_stage, tile + STAGES - 1 < n_tiles);
        free_stage = stage;

        let a_address = ring + stage + a_offset_bytes(row, 0);
        let b_address = ring + stage + b_offset_bytes(0, column, TILE_K, TILE);
        unrolled!(K in [0 1 2 3 4 5 6 7] {
            let a_values = load_eight(a_address + a_offset_bytes(0, K as u32));
            let b_values = load_eight(b_address + K as u32 * TILE * 4);
            multiply(&mut sums, a_values, b_values);
        });
        stage += STAGE_BYTES;
        if stage == STAGES * STAGE_BYTES {
            stage = 0;
        }
        tile += 1;
    }
    wait_all();
    store_sums(c, first_row + row, first_column + column, m, n, &sums);
}
