//! Warp specialization: some warps copy, others multiply.
//!
//! In [`sgemm_fast`](super::fast::sgemm_fast) every thread does everything. That costs
//! twice. Copies and their addresses are mixed in with the multiply-adds, for which the
//! assembler then finds no good registers ([the limits](super)). And all
//! warps meet at a barrier after each tile, however far each could have gone.
//!
//! Here eight warps only multiply. Four others copy, one on each of the
//! SM's schedulers, into a ring of stages. Two barriers per stage
//! ([`mbarrier`]) signal when it is *full* and when it is *free*; a warp waits for
//! another one only if the ring is empty or full:
//!
//! ```text
//!            ┌─ full ──▶
//!   copiers  │  stage 0  stage 1  stage 2  stage 3 │  multipliers
//!                                       ◀── free ──┘
//! ```
//!
//! Sums and fragments take more registers than twelve warps can have each: 65,536 for
//! 384 threads are 168 per thread. So the copiers give most of theirs up, and the
//! multipliers take them ([`warpgroup`](cuda_std::warpgroup)). This requires Hopper.

use cuda_std::cp_async::{ca_or_zeros, cg_or_zeros, wait_all};
use cuda_std::mbarrier;
use cuda_std::prelude::*;
use cuda_std::shared::{address_in_space, dynamic_shared_mem};
use cuda_std::vector::Float4;
use cuda_std::warpgroup::{give_registers, take_registers};

use super::copies::{TILE_ROWS, a_offset_bytes, b_offset_bytes, has_chunks, n_tiles, stage_bytes};
use super::fragments::{Fragment, Place, Sums, multiply, store_sums};
use super::partition::{Part, quotient};
use super::unrolled;
use crate::warp::WARP_LANES;

/// Columns of C that a block computes.
pub const TILE_COLUMNS: u32 = 256;
/// Depth of the tiles along k.
pub const TILE_K: u32 = 16;
/// Stages of the ring.
const STAGES: u32 = 4;
const STAGE_BYTES: u32 = stage_bytes(TILE_K, TILE_COLUMNS);

/// Elements in a chunk of 16 bytes.
const CHUNK: u32 = 4;
const F32_BYTES: u32 = 4;

/// Threads that multiply: the first of the block.
pub const N_MULTIPLIERS: u32 = 256;
/// Threads that copy: the others.
const N_COPIERS: u32 = 128;
const N_COPYING_WARPS: u32 = N_COPIERS / WARP_LANES;
/// Registers of a thread that multiplies, and of one that copies.
const MULTIPLIER_REGISTERS: u32 = 216;
const COPIER_REGISTERS: u32 = 72;

const _: () = assert!(
    N_MULTIPLIERS * MULTIPLIER_REGISTERS + N_COPIERS * COPIER_REGISTERS <= 65536,
    "an SM has this many registers"
);

/// Block, in threads.
pub const BLOCK_THREADS: u32 = N_MULTIPLIERS + N_COPIERS;

/// Where the stages begin, after the barriers.
const RING_OFFSET: u32 = 128;
/// Dynamic shared memory, in bytes.
pub const SHARED_BYTES: u32 = RING_OFFSET + STAGES * STAGE_BYTES;

const MBARRIER_BYTES: u32 = 8;
const _: () = assert!(2 * STAGES * MBARRIER_BYTES <= RING_OFFSET);

// The free ones first: compute-sanitizer's racecheck does not recognise a barrier that an
// instruction names by a negative offset from another one.

/// The barrier at which the threads that have read a stage arrive.
#[inline(always)]
const fn free(shared: u32, stage: u32) -> u32 {
    shared + stage * MBARRIER_BYTES
}

/// The barrier at which the threads that fill a stage arrive.
#[inline(always)]
const fn full(shared: u32, stage: u32) -> u32 {
    shared + (STAGES + stage) * MBARRIER_BYTES
}

/// A and B, and the sizes m, n and k.
#[derive(Clone, Copy)]
pub(super) struct Product {
    pub a: *const f32,
    pub b: *const f32,
    pub m: u32,
    pub n: u32,
    pub k: u32,
}

impl Product {
    /// Row and column of C where a tile begins; tiles are counted row by row.
    #[inline(always)]
    pub const fn corner(&self, tile: u32) -> (u32, u32) {
        let n_across = self.n.div_ceil(TILE_COLUMNS);
        let down = quotient(tile as u64, n_across as u64) as u32;
        (down * TILE_ROWS, (tile - down * n_across) * TILE_COLUMNS)
    }
}

/// Initialises the barriers, before the block splits into copiers and multipliers. Returns
/// the address of the shared memory.
#[inline(always)]
pub(super) unsafe fn set_up() -> u32 {
    let shared = address_in_space(dynamic_shared_mem::<Float4>());
    if thread::thread_idx_x() == 0 {
        let mut stage = 0;
        while stage < STAGES {
            mbarrier::init(full(shared, stage), N_COPIERS);
            mbarrier::init(free(shared, stage), N_MULTIPLIERS / WARP_LANES);
            stage += 1;
        }
    }
    thread::sync_threads();
    shared
}

/// Whether this thread copies.
#[inline(always)]
pub(super) fn is_copier() -> bool {
    thread::thread_idx_x() >= N_MULTIPLIERS
}

/// A thread that copies.
pub(super) struct Copier {
    product: Product,
    shared: u32,
    /// The stage to fill next.
    stage: u32,
    /// Parity of the phase at whose end the stage is free.
    parity: u32,
}

/// Rows of A that a copying warp handles, and elements along k of one copy.
const COPIER_ROWS: u32 = TILE_ROWS / N_COPYING_WARPS;
const COPY_K: u32 = 8;
/// Rows of A in one copy.
const COPY_ROWS: u32 = WARP_LANES / COPY_K;

const _: () = assert!(COPIER_ROWS / COPY_ROWS == 8 && TILE_K == 2 * COPY_K);
// A row of a tile of B is two copies by chunks, or eight by elements.
const _: () = assert!(TILE_COLUMNS == 2 * WARP_LANES * CHUNK);
const _: () = assert!(TILE_K / N_COPYING_WARPS == 4);

impl Copier {
    /// This thread as a copier, with all stages free. Takes the role: see [`warpgroup`].
    ///
    /// [`warpgroup`]: cuda_std::warpgroup
    #[inline(always)]
    pub unsafe fn start(product: Product, shared: u32) -> Self {
        give_registers::<COPIER_REGISTERS>();
        Self {
            product,
            shared,
            stage: 0,
            parity: 1,
        }
    }

    /// Copies the tiles of A and B for a part of a tile of C.
    #[inline(always)]
    pub unsafe fn copy<const BY_CHUNKS: bool>(&mut self, part: Part) {
        let Product { a, b, m, n, k } = self.product;
        let (first_row, first_column) = self.product.corner(part.tile);
        let warp = (thread::thread_idx_x() - N_MULTIPLIERS) / WARP_LANES;
        let lane = thread::thread_idx_x() % WARP_LANES;
        let (a_k, a_row) = (lane % COPY_K, warp * COPIER_ROWS + lane / COPY_K);

        // The first tile along k is the partial one (see `copies`).
        let first_depth = k - (n_tiles(k, TILE_K) - 1) * TILE_K;
        let first_k = if part.first == 0 {
            0
        } else {
            first_depth + (part.first - 1) * TILE_K
        };
        let mut a = a.add(first_row as usize * k as usize + first_k as usize);
        let mut b = b.add(first_k as usize * n as usize);
        let mut a_offsets = [0; 8];
        let mut columns = [0; 8];
        unrolled!(I in [0 1 2 3 4 5 6 7] {
            let row = min(a_row + I as u32 * COPY_ROWS, m - 1 - first_row);
            a_offsets[I] = row * k + a_k;
            columns[I] = if !BY_CHUNKS {
                min(first_column + I as u32 * WARP_LANES + lane, n - 1)
            } else if I < 2 {
                min(first_column + (I as u32 * WARP_LANES + lane) * CHUNK, n - CHUNK)
            } else {
                0
            };
        });
        let a_address = self.shared + RING_OFFSET + a_offset_bytes(a_row, a_k);
        let b_address = self.shared
            + RING_OFFSET
            + b_offset_bytes(warp, 0, TILE_K, TILE_COLUMNS)
            + lane
                * if BY_CHUNKS {
                    CHUNK * F32_BYTES
                } else {
                    F32_BYTES
                };

        let mut step = part.first;
        while step < part.end {
            let depth = if step == 0 { first_depth } else { TILE_K };
            self.wait_until_free();
            let stage = self.stage * STAGE_BYTES;
            unrolled!(I in [0 1 2 3 4 5 6 7] {
                let from = a.add(a_offsets[I] as usize);
                let to = a_address + stage + a_offset_bytes(I as u32 * COPY_ROWS, 0);
                ca_or_zeros(to, from, a_k < depth);
                ca_or_zeros(to + a_offset_bytes(0, COPY_K), from.add(COPY_K as usize), a_k + COPY_K < depth);
            });
            unrolled!(I in [0 1 2 3] {
                const ROW: u32 = I as u32 * N_COPYING_WARPS;
                let exists = warp + ROW < depth;
                let row = b.add(((warp + ROW) * n) as usize);
                let to = b_address + stage + ROW * TILE_COLUMNS * F32_BYTES;
                unrolled!(J in [0 1 2 3 4 5 6 7] {
                    let from = row.add(columns[J] as usize);
                    if !BY_CHUNKS {
                        ca_or_zeros(to + J as u32 * WARP_LANES * F32_BYTES, from, exists);
                    } else if J < 2 {
                        let to = to + J as u32 * WARP_LANES * CHUNK * F32_BYTES;
                        cg_or_zeros(to, from.cast::<Float4>(), exists);
                    }
                });
            });
            mbarrier::arrive_after_copies(full(self.shared, self.stage));
            a = a.add(depth as usize);
            b = b.add(depth as usize * n as usize);
            self.stage += 1;
            if self.stage == STAGES {
                self.stage = 0;
                self.parity ^= 1;
            }
            step += 1;
        }
    }

    /// The multipliers free a stage when they begin with the next one. So before
    /// the first, they free the ring's last: that one is a phase ahead.
    #[inline(always)]
    unsafe fn wait_until_free(&self) {
        let ahead = (self.stage == STAGES - 1) as u32;
        mbarrier::wait(free(self.shared, self.stage), self.parity ^ ahead);
    }

    /// Stays until all copies are done, as a thread that has started any must.
    #[inline(always)]
    pub fn end(self) {
        wait_all();
    }
}

/// A thread that multiplies.
pub(super) struct Multiplier {
    shared: u32,
    /// Where its sums are in a tile of C.
    pub place: Place,
    /// The stage to read next, and the parity of the phase at whose end it is full.
    stage: u32,
    parity: u32,
    /// The stage read last.
    previous: u32,
}

impl Multiplier {
    /// This thread as a multiplier. Takes the role: see [`warpgroup`].
    ///
    /// [`warpgroup`]: cuda_std::warpgroup
    #[inline(always)]
    pub unsafe fn start(shared: u32) -> Self {
        take_registers::<MULTIPLIER_REGISTERS>();
        Self {
            shared,
            place: Place::of_thread(),
            stage: 0,
            parity: 0,
            previous: STAGES - 1,
        }
    }

    /// Sums of products over a part of a tile.
    ///
    /// The loop begins with the *last* step of the tile before, whose values are in
    /// registers already: so the wait for the next stage and the loop's branch are
    /// in one place, and nothing else interrupts the multiply-adds. In the first iteration
    /// those values are zeros.
    #[inline(always)]
    pub unsafe fn sums(&mut self, part: Part) -> Sums {
        let first_stage = self.shared + RING_OFFSET;
        let a_address = first_stage + a_offset_bytes(self.place.row, 0);
        let b_address = first_stage + b_offset_bytes(0, self.place.column, TILE_K, TILE_COLUMNS);

        let mut sums = [[0.0_f32; 16]; 8];
        let mut fragments = [Fragment::EMPTY; 2];
        let mut step = part.first;
        while step < part.end {
            mbarrier::wait(full(self.shared, self.stage), self.parity);
            let stage = self.stage * STAGE_BYTES;
            let (a_address, b_address) = (a_address + stage, b_address + stage);
            fragments[0] = Fragment::load(a_address, b_address, 0);
            multiply(&mut sums, &fragments[1]);
            // The whole warp has read the stage before.
            warp::sync_warp(u32::MAX);
            if thread::thread_idx_x().is_multiple_of(WARP_LANES) {
                mbarrier::arrive(free(self.shared, self.previous));
            }
            self.previous = self.stage;
            self.stage += 1;
            if self.stage == STAGES {
                self.stage = 0;
                self.parity ^= 1;
            }
            unrolled!(K in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14] {
                fragments[(K + 1) % 2] = Fragment::load(a_address, b_address, K as u32 + 1);
                multiply(&mut sums, &fragments[K % 2]);
            });
            step += 1;
        }
        multiply(&mut sums, &fragments[1]);
        sums
    }
}

#[inline(always)]
const fn min(x: u32, y: u32) -> u32 {
    if x < y { x } else { y }
}

/// [`sgemm_fast`](super::fast::sgemm_fast), warp-specialized.
///
/// # Safety
///
/// As [`sgemm_vectorized`](super::vectors::sgemm_vectorized), with this file's
/// [`BLOCK`], [`grid`] and [`SHARED_BYTES`].
#[kernel(launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn sgemm_warp_specialized(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    let product = Product { a, b, m, n, k };
    let shared = set_up();
    let part = Part {
        tile: thread::block_idx_x(),
        first: 0,
        end: n_tiles(k, TILE_K),
    };
    if is_copier() {
        let mut copier = Copier::start(product, shared);
        if has_chunks(n) {
            copier.copy::<true>(part);
        } else {
            copier.copy::<false>(part);
        }
        copier.end();
    } else {
        let mut multiplier = Multiplier::start(shared);
        let sums = multiplier.sums(part);
        let (first_row, first_column) = product.corner(part.tile);
        let Place { row, column } = multiplier.place;
        store_sums(c, first_row + row, first_column + column, m, n, &sums);
    }
}

/// Block of [`sgemm_warp_specialized`], in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Tiles of C.
#[inline(always)]
pub const fn n_tiles_of_c(m: u32, n: u32) -> u32 {
    m.div_ceil(TILE_ROWS) * n.div_ceil(TILE_COLUMNS)
}

/// Grid of [`sgemm_warp_specialized`]: a block per tile.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n_tiles_of_c(m, n), 1, 1]
}
