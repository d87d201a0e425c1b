//! Small products: tiles of 64×128 in pairs, whose warpgroups alternate along k.
//!
//! 1,000 rows and columns are 128 tiles of 64×128, one for each SM. There is nothing to cut, and
//! what counts is how fast a tile gets through its SM. In [`split_k`](super::split_k) each
//! warpgroup multiplies half of the tile at every step; and `wgmma` reads both factors from shared
//! memory, which serves 128 bytes per cycle:
//!
//! | a step of 64×128×64, 256 cycles of products | bytes | cycles |
//! |---|---:|---:|
//! | copied | 24 KB | 192 |
//! | read by two warpgroups, 64×64 each, at every step | 32 KB | 256 |
//! | read by one warpgroup, 64×128, at every other step | 24 KB | 192 |
//!
//! So here one warpgroup multiplies the whole tile, and the other one does the next step: 384
//! cycles instead of 448. In the end each has half of every sum. It leaves the half of the columns
//! that the other one stores, and adds what the other one left to its own.
//!
//! If rows do not begin at multiples of 128 bytes, each row of a tile lies in two lines of the
//! cache, and everything waits for that. So two tiles one below the other form a pair, which copies
//! its B once.

use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::shared::{load_float4, store_float4};
use cuda_std::vector::Float4;
use cuda_std::wgmma::{AlongK, M, Operand, ROW_BYTES, Sums, WARPGROUP, wait_for_all_but};
use cuda_std::{TensorMap, bulk, cluster, grid as launches, mbarrier, warpgroup};

use super::depth;
use super::epilogue::{AsItIs, BOX_N, Store, TmaEpilogue};
use super::operand::Layout;
use super::pipeline::{Ring, Turn, shared_bytes};
use super::split_k::{BLOCK_THREADS, MULTIPLIER_THREADS, N_MULTIPLIERS};
use cuda_std::unrolled;

/// Columns of a tile; it has the rows of one `wgmma`.
const TILE_N: u32 = 128;
/// Sums per thread, half of which it leaves.
const REGISTERS: usize = 64;
const HALF: usize = REGISTERS / 2;
/// Blocks that share their columns of B.
const PAIR: u32 = 2;
const STAGES: u32 = 8;
const A_BYTES: u32 = M * ROW_BYTES;
const STAGE_BYTES: u32 = A_BYTES + TILE_N * ROW_BYTES;
/// The sums that a warpgroup leaves for the other one.
const LEFT_BYTES: u32 = (HALF * size_of::<f32>()) as u32 * WARPGROUP;
/// The barrier of the block at which both warpgroups meet; each has one of its own before it.
const MEETING: u32 = N_MULTIPLIERS + 1;

type Out<'a> = TmaEpilogue<'a, f16, AsItIs>;

const _: () = assert!(TILE_N == Sums::<f16, REGISTERS>::N && N_MULTIPLIERS == 2);
const _: () = assert!(HALF as u32 * 2 == BOX_N, "each stores one box");
const _: () = assert!(
    Out::STAGING_BYTES <= LEFT_BYTES,
    "a result fits where sums were left"
);
const _: () = assert!(
    STAGES.is_multiple_of(N_MULTIPLIERS),
    "a warpgroup always has the same stages"
);

/// Dynamic shared memory, in bytes.
pub const SHARED_BYTES: u32 = shared_bytes(STAGES, STAGE_BYTES, N_MULTIPLIERS * LEFT_BYTES);
/// Cluster: two tiles one below the other.
pub const CLUSTER: [u8; 3] = [1, PAIR as u8, 1];

/// Boxes of the maps of A and B.
pub fn boxes() -> [[u32; 2]; 2] {
    let depth = depth::<f16>();
    [
        AlongK::box_dims(depth, M, 1),
        AlongK::box_dims(depth, TILE_N, PAIR),
    ]
}

/// Grid: whole pairs of tiles.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    let rows = m.div_ceil(M).next_multiple_of(PAIR);
    [n.div_ceil(TILE_N), rows, 1]
}

/// A small product.
///
/// # Safety
///
/// `a`, `b` and `c` are maps of m and n rows along k, and of m rows along n, with these [`boxes`], the
/// [`C_BOX`](super::warp_specialized::C_BOX) and a swizzle of 128 bytes. Launch with this file's
/// [`grid`], [`CLUSTER`] and [`SHARED_BYTES`] and the [`BLOCK`](super::split_k::BLOCK) of split-K.
#[kernel(pdl, launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn gemm_small(a: &TensorMap, b: &TensorMap, c: &TensorMap, k: u32) {
    let ring = Ring::<STAGES>::new(STAGE_BYTES, N_MULTIPLIERS * LEFT_BYTES);
    let role = warpgroup::index();
    if thread::thread_idx_x() == 0 {
        ring.make(PAIR);
    }
    cluster::sync();
    // Up to here nothing depends on the previous launch.
    launches::let_next_start();
    launches::wait_for_previous();
    let n_steps = k.div_ceil(depth::<f16>());
    let row = thread::block_idx_y() * M;
    let column = thread::block_idx_x() * TILE_N;

    if role == N_MULTIPLIERS {
        if warp::is_elected() {
            copy(a, b, ring, n_steps, row, column);
        }
        cluster::arrive();
    } else {
        let mut sums = Sums::<f16, REGISTERS>::new();
        multiply(&mut sums, ring, role, n_steps);
        let sums = sums.finish();
        cluster::arrive();
        let store = Out::new(c, AsItIs);
        if role == 0 {
            exchange::<0>(ring, role, sums, store, row, column);
        } else {
            exchange::<HALF>(ring, role, sums, store, row, column);
        }
    }
    // No block ends while the other may still arrive at its barriers.
    cluster::wait();
}

/// The thread that copies.
#[inline(always)]
unsafe fn copy(
    a: &TensorMap,
    b: &TensorMap,
    ring: Ring<STAGES>,
    n_steps: u32,
    row: u32,
    column: u32,
) {
    bulk::prefetch_map(a);
    bulk::prefetch_map(b);
    let rows = TILE_N / PAIR;
    let first = cluster::rank() * rows;
    let mut turn = Turn::FILL;
    let mut step = 0;
    while step < n_steps {
        mbarrier::wait(ring.free(turn.stage), turn.parity);
        let full = ring.full(turn.stage);
        let to = ring.base + turn.stage * STAGE_BYTES;
        let k = step * depth::<f16>();
        mbarrier::arrive_expecting(full, STAGE_BYTES);
        AlongK::load(to, a, M, row, k, full);
        let to = to + A_BYTES + first * ROW_BYTES;
        AlongK::load_to_all(to, b, rows, column + first, k, full, (1 << PAIR) - 1);
        turn.advance::<STAGES>();
        step += 1;
    }
}

/// A warpgroup that multiplies every other step.
#[inline(always)]
unsafe fn multiply(sums: &mut Sums<f16, REGISTERS>, ring: Ring<STAGES>, role: u32, n_steps: u32) {
    let tile_a = Operand::<f16, AlongK>::at(ring.base);
    let tile_b = Operand::<f16, AlongK>::at(ring.base + A_BYTES);
    let thread = thread::thread_idx_x() % WARPGROUP;
    let mut turn = Turn::after::<STAGES>(role);
    let mut previous = 0;
    let mut step = role;
    while step < n_steps {
        mbarrier::wait(ring.full(turn.stage), turn.parity);
        let further = turn.stage * STAGE_BYTES;
        let is_further = step != role;
        sums.add_product(tile_a.further(further), tile_b.further(further), is_further);
        // The product before this one is done: one thread signals to each block that its stage is
        // free.
        wait_for_all_but::<1>();
        let says_so = is_further & (thread < PAIR);
        mbarrier::arrive_at_if(says_so, ring.free(previous), thread);
        previous = turn.stage;
        turn.advance::<STAGES>();
        turn.advance::<STAGES>();
        step += N_MULTIPLIERS;
    }
}

/// Leaves half of the sums, adds what the other warpgroup has left to the other half, which begins
/// with register `FIRST`, and stores it.
#[inline(always)]
unsafe fn exchange<const FIRST: usize>(
    ring: Ring<STAGES>,
    role: u32,
    sums: &[f32; REGISTERS],
    store: Out<'_>,
    row: u32,
    column: u32,
) {
    let left_by = |role: u32| {
        let thread = thread::thread_idx_x() % WARPGROUP;
        ring.behind() + role * LEFT_BYTES + thread * size_of::<Float4>() as u32
    };
    const CHUNK_BYTES: u32 = size_of::<Float4>() as u32 * WARPGROUP;
    let to = left_by(role);
    unrolled::<{ HALF / 4 }>(|chunk| {
        let i = HALF - FIRST + 4 * chunk;
        let four = Float4::new(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
        store_float4(to + chunk as u32 * CHUNK_BYTES, four);
    });
    thread::sync_some_threads::<MEETING, MULTIPLIER_THREADS>();
    let from = left_by(1 - role);
    let mut half = [0.0; HALF];
    unrolled::<{ HALF / 4 }>(|chunk| {
        let theirs = load_float4(from + chunk as u32 * CHUNK_BYTES);
        let i = 4 * chunk;
        half[i] = sums[FIRST + i] + theirs.x;
        half[i + 1] = sums[FIRST + i + 1] + theirs.y;
        half[i + 2] = sums[FIRST + i + 2] + theirs.z;
        half[i + 3] = sums[FIRST + i + 3] + theirs.w;
    });
    // Once the whole warpgroup has come to the box, what the other one left has been read.
    let staging = ring.behind() + (1 - role) * LEFT_BYTES;
    store.store::<false, HALF>(staging, role, &half, row, column + role * BOX_N);
    store.end();
}
