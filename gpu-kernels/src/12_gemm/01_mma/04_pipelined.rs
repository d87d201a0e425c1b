//! A pipeline: tiles three stages ahead, fragments one step ahead.
//!
//! [`swizzled`](super::swizzled) still does one thing at a time: it waits for its tiles, and
//! each `mma` waits for its `ldmatrix`; two blocks per SM fill some of the gaps.
//! Here everything is requested long before it is needed:
//!
//! ```text
//!     tiles       global → shared    three tiles before they are multiplied   (pipeline.rs)
//!     fragments   shared → registers one step of 16 before                    (fragments.rs)
//!     products                       32 mma per step, from registers alone
//! ```
//!
//! One barrier per tile serves two purposes. It comes after the wait for
//! the next tile's copies: past it, all threads' copies of that tile have arrived. And past it
//! no thread still reads the previous stage: its last fragments are in registers. So the stage
//! is refilled, a third of it in each of the next three steps, between the products.
//!
//! A warp has 64×64 sums in 128 registers, two sets of fragments in 64, and the rest for
//! addresses: 8 warps take all registers of an SM, and the ring nearly all shared
//! memory. So there is one block per SM. Blocks are grouped for the second-level cache
//! (tile_scheduler.rs), and C is stored in whole sectors (write_back.rs).
//!
//! # Limits
//!
//! The copies: twelve instructions per thread and tile, and the arithmetic of their addresses,
//! which are issued between the products. Barriers and fragments cost next to nothing; what
//! remains is `mma.sync` itself. `docs/tuning/gemm_pipelined.md` has the measurements.
//! `gemm_by_mma` (`02_hopper/variants/by_mma.rs`) is fed by Hopper's TMA.

use cuda_std::cp_async::{wait_all, wait_group};
use cuda_std::half::f16;
use cuda_std::mma::FragmentC;
use cuda_std::prelude::*;
use cuda_std::shared::{address_in_space, dynamic_shared_mem};

use super::fragments::{Addresses, Fragments, N_STEPS, Sums, WARP_SIDE, multiply};
use super::matrices::{PITCH_UNIT, Scale, Sizes, element};
use super::pipeline::{
    B_OFFSET_BYTES, BLOCK_THREADS, Copies, ROW_BYTES, Rows, STAGE_BYTES, TILE_COLUMNS, TILE_K,
    TILE_ROWS,
};
use super::tile_scheduler::tile_of;
use super::{unrolled, write_back};
use crate::warp::WARP_LANES;

/// Stages: one is multiplied while the others' copies are in flight.
const STAGES: u32 = 4;
/// Rows of tiles in a group of blocks.
const GROUP: u32 = 8;

/// Warps above one another.
const WARP_ROWS: u32 = TILE_ROWS / WARP_SIDE;

const _: () = assert!(
    BLOCK_THREADS / WARP_LANES == WARP_ROWS * (TILE_COLUMNS / WARP_SIDE),
    "a warp for each 64×64"
);
const _: () = assert!(
    write_back::WARP_BYTES * (BLOCK_THREADS / WARP_LANES) <= STAGES * STAGE_BYTES,
    "C fits where the tiles were"
);

/// The ring's alignment: a line of all banks, so that the swizzle is one of addresses.
#[repr(C, align(128))]
struct Line([u8; 128]);

/// Tiles and fragments requested long in advance, and products from registers alone.
///
/// # Safety
///
/// As [`gemm_naive`](super::naive::gemm_naive), with this file's [`BLOCK`], [`grid`] and
/// [`SHARED_BYTES`].
#[kernel(launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn gemm_pipelined(
    a: *const f16,
    b: *const f16,
    c: *mut f16,
    sizes: Sizes,
    scale: Scale,
) {
    if sizes.k.is_multiple_of(PITCH_UNIT) {
        product::<true>((a, b, c), sizes, scale);
    } else {
        product::<false>((a, b, c), sizes, scale);
    }
}

/// The kernel, for a k that is or is not a multiple of 8.
#[inline(always)]
unsafe fn product<const WHOLE_CHUNKS: bool>(
    (a, b, c): (*const f16, *const f16, *mut f16),
    sizes: Sizes,
    scale: Scale,
) {
    let memory = dynamic_shared_mem::<Line>();
    let ring = address_in_space(memory);
    let thread = thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);
    let [rows, columns, _] = tiles(sizes.m, sizes.n);
    let (tile_row, tile_column) = tile_of(thread::block_idx_x(), rows, columns, GROUP);
    let (first_row, first_column) = (tile_row * TILE_ROWS, tile_column * TILE_COLUMNS);

    let of_a = Rows {
        first: a.add(element(first_row, 0, sizes.a_pitch)),
        n_left: sizes.m - first_row,
        pitch: sizes.a_pitch,
    };
    let of_b = Rows {
        first: b.add(element(first_column, 0, sizes.b_pitch)),
        n_left: sizes.n - first_column,
        pitch: sizes.b_pitch,
    };
    let mut copies = Copies::<WHOLE_CHUNKS>::new(of_a, of_b, sizes.k, ring, thread);
    unrolled!(STAGE in [0 1 2] { copies.start(STAGE as u32 * STAGE_BYTES); });

    let row = warp % WARP_ROWS * WARP_SIDE;
    let column = warp / WARP_ROWS * WARP_SIDE;
    let a_rows = Addresses::of_a(ring + row * ROW_BYTES, lane);
    let b_rows = Addresses::of_b(ring + B_OFFSET_BYTES + column * ROW_BYTES, lane);
    let mut sums: Sums = [[FragmentC::zero(); 8]; 4];
    let mut fragments = [Fragments::EMPTY; 2];
    let (mut full, mut free) = (0, (STAGES - 1) * STAGE_BYTES);
    wait_group::<{ STAGES - 2 }>();
    thread::sync_threads();
    fragments[0] = Fragments::load(a_rows, b_rows, full, 0);

    let n_tiles = sizes.k.div_ceil(TILE_K);
    let mut tile = 0;
    while tile < n_tiles {
        unrolled!(K in [0 1 2 3] {
            const NEXT: usize = (K + 1) % N_STEPS;
            if NEXT == 0 {
                // The next step is the next tile's first. (After the last tile comes one of
                // zeros, which is read but not used.)
                wait_group::<{ STAGES - 2 }>();
                thread::sync_threads();
                free = full;
                full = if full == (STAGES - 1) * STAGE_BYTES { 0 } else { full + STAGE_BYTES };
            }
            fragments[(K + 1) % 2] = Fragments::load(a_rows, b_rows, full, NEXT);
            if NEXT != 0 {
                copies.start_part::<K>(free);
            }
            multiply(&mut sums, &fragments[K % 2]);
        });
        tile += 1;
    }
    wait_all();
    thread::sync_threads();
    let area = memory
        .cast::<f16>()
        .add((warp * write_back::WARP_BYTES / 2) as usize);
    let at = (first_row + row, first_column + column);
    write_back::store(c, &sizes, scale, area, at, &sums);
}

/// Rows and columns of tiles in C.
const fn tiles(m: u32, n: u32) -> [u32; 3] {
    [m.div_ceil(TILE_ROWS), n.div_ceil(TILE_COLUMNS), 1]
}

/// Block of [`gemm_pipelined`], in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Dynamic shared memory of [`gemm_pipelined`], in bytes.
pub const SHARED_BYTES: u32 = STAGES * STAGE_BYTES;

/// Grid of [`gemm_pipelined`]: one block per tile.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    let [rows, columns, _] = tiles(m, n);
    [rows * columns, 1, 1]
}
