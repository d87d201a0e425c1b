//! Steps 11 to 14: ping-pong (the multiplying warpgroups alternate), and stream-K (all SMs work
//! to the end).
//!
//! # 11, 12: ping-pong
//!
//! In [`warp_specialized`](super::warp_specialized) both warpgroups multiply one tile, and then
//! both store it: some 5,000 cycles in which the tensor cores are idle, after every 65,000 at k =
//! 4096. Here each warpgroup has tiles of its own, 128×128. While one stores, the other multiplies;
//! a single warpgroup keeps the tensor cores busy as long as it is one product ahead.
//!
//! ```text
//!   warpgroup 0  ├── multiplies ──┤ stores ├┄┄┄┤├── multiplies ──┤ stores ├
//!   warpgroup 1  ├┄┄┄ waits ┄┄┄┄┄┄┤├── multiplies ──┤ stores ├┄┄┄┤├── multi…
//! ```
//!
//! They *must* alternate. A barrier in memory distinguishes only two phases: a warpgroup that
//! waited for a stage five rounds ahead would mistake an older round for its own. (Without
//! alternation, results were right up to k = 1024; then TMA overwrote tiles that were
//! being read.)
//!
//! # 13, 14: stream-K
//!
//! [`stream_k`](super::stream_k).

use cuda_std::atomic::{self, Acquire, Device, Global, Relaxed, Release};
use cuda_std::half::{bf16, f16};
use cuda_std::prelude::*;
use cuda_std::vector::Float4;
use cuda_std::warp::FULL_MASK;
use cuda_std::warpgroup::{self, give_registers, take_registers};
use cuda_std::wgmma::{
    AcrossK, AlongK, M, MultiplyTall, Operand, ROW_BYTES, TallSums, WARPGROUP, wait_for_all_but,
};
use cuda_std::{TensorMap, bulk, cluster, grid as launches, mbarrier};

use super::epilogue::{AsItIs, BOX_N, Direct, Half, Scaled, Store, TmaEpilogue};
use super::operand::Layout;
use super::pipeline::{Ring, Turn, shared_bytes};
use super::stream_k::{Part, Parts, StreamK};
use super::tile_scheduler::Tiles;
use super::warp_specialized::{COPIER_REGISTERS, MULTIPLIER_REGISTERS, N_MULTIPLIERS};
use super::{Sizes, TILE_M, depth};
use cuda_std::unrolled;

/// Columns of C that a warpgroup computes, of 128 rows.
pub const TILE_N: u32 = 128;
/// Registers with sums.
const SUMS: usize = 128;
const STAGES: u32 = 6;
const A_BYTES: u32 = TILE_M * ROW_BYTES;
const STAGE_BYTES: u32 = A_BYTES + TILE_N * ROW_BYTES;
/// Block, in threads.
pub const BLOCK_THREADS: u32 = super::warp_specialized::BLOCK_THREADS;
/// Block.
pub const BLOCK: [u32; 3] = super::warp_specialized::BLOCK;
/// Dynamic shared memory, in bytes.
pub const SHARED_BYTES: u32 = shared_bytes(
    STAGES,
    STAGE_BYTES,
    N_MULTIPLIERS * TmaEpilogue::<f16, AsItIs>::STAGING_BYTES,
);
/// Sums that a block may leave for the next.
pub const LEFT_SUMS: u32 = TILE_M * TILE_N;

/// Boxes of the maps of A and B of 16-bit elements, in clusters of `n_blocks`.
pub fn boxes<A: Layout, B: Layout>(n_blocks: u32) -> [[u32; 2]; 2] {
    [
        A::box_dims(depth::<f16>(), TILE_M, 1),
        B::box_dims(depth::<f16>(), TILE_N, n_blocks),
    ]
}

/// Box of the map of C.
pub const C_BOX: [u32; 2] = [BOX_N, TILE_M];

/// Tiles of C, in rows of `n_blocks`.
pub const fn n_tiles(m: u32, n: u32, n_blocks: u32) -> u32 {
    m.div_ceil(TILE_M * n_blocks) * n.div_ceil(TILE_N)
}

/// A grid of at most `most` blocks in clusters of `n_blocks`, as many as have work.
pub const fn grid(m: u32, n: u32, n_blocks: u32, most: u32) -> [u32; 3] {
    let (tiles, most) = (n_tiles(m, n, n_blocks), most / n_blocks);
    [if tiles < most { tiles } else { most } * n_blocks, 1, 1]
}

/// The arguments of a launch other than the matrices.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub sizes: Sizes,
    /// Rows of tiles in a group.
    pub group: u32,
    /// Whether tiles are cut up where they do not divide evenly.
    pub is_cut: bool,
    pub left: Left,
}

/// Where blocks leave sums for the next block: [`LEFT_SUMS`] for each block, and a flag, which is
/// 0.
#[derive(Clone, Copy)]
pub(super) struct Left {
    pub sums: *mut f32,
    pub flags: *mut u32,
}

impl Left {
    /// No place: for kernels that do not cut tiles.
    pub(super) const NOWHERE: Self = Self {
        sums: core::ptr::null_mut(),
        flags: core::ptr::null_mut(),
    };

    /// The thread's first chunk of what `block` leaves. The next ones follow, each a chunk of
    /// every thread further, so that lanes are side by side.
    #[inline(always)]
    unsafe fn chunks(self, block: u32) -> *mut Float4 {
        self.sums
            .add(block as usize * LEFT_SUMS as usize)
            .cast::<Float4>()
            .add((thread::thread_idx_x() % WARPGROUP) as usize)
    }

    /// Leaves sums for the next block.
    #[inline(always)]
    unsafe fn put(self, block: u32, barrier: u32, sums: &[f32; SUMS]) {
        let chunks = self.chunks(block);
        unrolled::<{ SUMS / 4 }>(|i| {
            Float4::new(
                sums[4 * i],
                sums[4 * i + 1],
                sums[4 * i + 2],
                sums[4 * i + 3],
            )
            .store(chunks.add(i * WARPGROUP as usize));
        });
        warpgroup::sync(barrier);
        if thread::thread_idx_x().is_multiple_of(WARPGROUP) {
            atomic::store(self.flags.add(block as usize), 1, Global, Device, Release);
        }
    }

    /// Adds what `block` has left, once it has, and clears its flag for the next launch. All
    /// threads poll the flag, so that all go on together.
    #[inline(always)]
    unsafe fn add(self, block: u32, barrier: u32, sums: &mut [f32; SUMS]) {
        let flag = self.flags.add(block as usize);
        loop {
            let is_there = atomic::load(flag, Global, Device, Acquire) != 0;
            if warp::warp_vote_all(FULL_MASK, is_there) {
                break;
            }
        }
        warpgroup::sync(barrier);
        if thread::thread_idx_x().is_multiple_of(WARPGROUP) {
            atomic::store(flag, 0, Global, Device, Relaxed);
        }
        let chunks = self.chunks(block);
        unrolled::<{ SUMS / 4 }>(|i| {
            let chunk = Float4::load(chunks.add(i * WARPGROUP as usize));
            sums[4 * i] += chunk.x;
            sums[4 * i + 1] += chunk.y;
            sums[4 * i + 2] += chunk.z;
            sums[4 * i + 3] += chunk.w;
        });
    }
}

/// The work of a block, for all its roles.
#[derive(Clone, Copy)]
struct Work {
    ring: Ring<STAGES>,
    tiles: Tiles,
    stream_k: StreamK,
    /// Number of the cluster, and of the block in it.
    cluster: u32,
    rank: u32,
    left: Left,
}

impl Work {
    #[inline(always)]
    const fn parts(&self) -> Parts {
        self.stream_k.parts(self.cluster)
    }

    /// Row and column of C where the block's part of a tile begins.
    #[inline(always)]
    const fn corner<const BLOCKS: u32>(&self, tile: u32) -> [u32; 2] {
        let place = self.tiles.place(tile);
        [
            (place.row * BLOCKS + self.rank) * TILE_M,
            place.column * TILE_N,
        ]
    }

    /// Number in the grid of this block, or of its counterpart in another cluster.
    #[inline(always)]
    const fn block<const BLOCKS: u32>(&self, cluster: u32) -> u32 {
        cluster * BLOCKS + self.rank
    }
}

/// A block in ping-pong.
#[inline(always)]
pub(super) unsafe fn work<T, A, B, const BLOCKS: u32, const CUT: bool, S>(
    a: &TensorMap,
    b: &TensorMap,
    plan: Plan,
    store: S,
) where
    T: MultiplyTall<SUMS, Sum = f32>,
    A: Layout,
    B: Layout,
    S: Store,
{
    let ring = Ring::<STAGES>::new(STAGE_BYTES, N_MULTIPLIERS * S::STAGING_BYTES);
    let role = warpgroup::index();
    let rank = if BLOCKS > 1 { cluster::rank() } else { 0 };
    if thread::thread_idx_x() == 0 {
        ring.make(BLOCKS);
    }
    if BLOCKS > 1 {
        cluster::sync();
    } else {
        thread::sync_threads();
    }
    // Up to here nothing depends on the previous launch.
    launches::let_next_start();
    launches::wait_for_previous();
    let tiles = Tiles::new(plan.sizes, TILE_M * BLOCKS, TILE_N, plan.group);
    let n_steps = plan.sizes.k.div_ceil(depth::<T>());
    let n_clusters = thread::grid_dim_x() / BLOCKS;
    let work = Work {
        ring,
        tiles,
        stream_k: StreamK::new(tiles.count(), n_steps, n_clusters, CUT & plan.is_cut),
        cluster: thread::block_idx_x() / BLOCKS,
        rank,
        left: plan.left,
    };
    if role == N_MULTIPLIERS {
        give_registers::<COPIER_REGISTERS>();
        let is_first = warp::broadcast(thread::thread_idx_x() % WARPGROUP / 32, 0) == 0;
        if is_first && warp::is_elected() {
            copy::<T, A, B, BLOCKS>(a, b, work);
        }
    } else {
        take_registers::<MULTIPLIER_REGISTERS>();
        multiply::<T, A, B, BLOCKS, CUT, S>(role, work, store);
    }
    if BLOCKS > 1 {
        // No block ends while others may still arrive at its barriers.
        cluster::sync();
    }
}

/// The thread that copies.
#[inline(always)]
unsafe fn copy<T: MultiplyTall<SUMS>, A: Layout, B: Layout, const BLOCKS: u32>(
    a: &TensorMap,
    b: &TensorMap,
    work: Work,
) {
    bulk::prefetch_map(a);
    bulk::prefetch_map(b);
    let ring = work.ring;
    let mut turn = Turn::FILL;
    let mut parts = work.parts();
    while let Some(part) = parts.next() {
        let [row, column] = work.corner::<BLOCKS>(part.tile);
        let mut step = part.first;
        while step < part.end {
            mbarrier::wait(ring.free(turn.stage), turn.parity);
            let full = ring.full(turn.stage);
            let to = ring.base + turn.stage * STAGE_BYTES;
            let k = step * depth::<T>();
            mbarrier::arrive_expecting(full, STAGE_BYTES);
            A::load(to, a, TILE_M, row, k, full);
            if BLOCKS > 1 {
                let rows = TILE_N / BLOCKS;
                let first = work.rank * rows;
                let to = to + A_BYTES + first * ROW_BYTES;
                B::load_to_all(to, b, rows, column + first, k, full, (1 << BLOCKS) - 1);
            } else {
                B::load(to + A_BYTES, b, TILE_N, column, k, full);
            }
            turn.advance::<STAGES>();
            step += 1;
        }
    }
}

/// A warpgroup that multiplies every other part.
#[inline(always)]
unsafe fn multiply<T, A, B, const BLOCKS: u32, const CUT: bool, S>(role: u32, work: Work, store: S)
where
    T: MultiplyTall<SUMS, Sum = f32>,
    A: Layout,
    B: Layout,
    S: Store,
{
    let ring = work.ring;
    let staging = ring.behind() + role * S::STAGING_BYTES;
    let thread = thread::thread_idx_x() % WARPGROUP;
    let mut sums = TallSums::<T, SUMS>::new();
    let mut parts = work.parts();
    // Steps of all parts before this one, and whose turn it is.
    let mut n_before = 0;
    let mut whose = 0;
    let mut parity = role ^ 1;
    while let Some(part) = parts.next() {
        let (first_step, is_mine) = (n_before, whose == role);
        n_before += part.end - part.first;
        whose ^= 1;
        if is_mine {
            let [row, column] = work.corner::<BLOCKS>(part.tile);
            mbarrier::wait(ring.other(role), parity);
            parity ^= 1;
            let turn = Turn::after::<STAGES>(first_step);
            add_products::<T, A, B, BLOCKS, CUT>(&mut sums, work, turn, part);
            mbarrier::arrive_if(thread == 0, ring.other(role ^ 1));
            let last = Turn::after::<STAGES>(n_before - 1);
            let sums = sums.finish();
            free::<BLOCKS>(ring, last.stage, true);
            let is_left = CUT && work.stream_k.is_left(part);
            if is_left {
                let block = work.block::<BLOCKS>(work.cluster);
                work.left.put(block, role + 1, sums);
            } else {
                if CUT && part.first != 0 {
                    let block = work.block::<BLOCKS>(work.cluster - 1);
                    work.left.add(block, role + 1, sums);
                }
                store.store::<true, SUMS>(staging, role, sums, row, column);
            }
        }
    }
    store.end();
}

/// One thread signals to each block of the cluster that a stage is free.
#[inline(always)]
unsafe fn free<const BLOCKS: u32>(ring: Ring<STAGES>, stage: u32, when: bool) {
    let thread = thread::thread_idx_x() % WARPGROUP;
    let when = when & (thread < BLOCKS);
    if BLOCKS > 1 {
        mbarrier::arrive_at_if(when, ring.free(stage), thread);
    } else {
        mbarrier::arrive_if(when, ring.free(stage));
    }
}

/// Adds the products of a part's steps, and frees all stages but the last.
#[inline(always)]
unsafe fn add_products<T, A, B, const BLOCKS: u32, const CUT: bool>(
    sums: &mut TallSums<T, SUMS>,
    work: Work,
    mut turn: Turn,
    part: Part,
) where
    T: MultiplyTall<SUMS, Sum = f32>,
    A: Layout,
    B: Layout,
{
    let ring = work.ring;
    let upper = Operand::<T, A>::at(ring.base);
    // Along k the next 64 rows, across k the next box: the same distance either way.
    let lower = upper.further(M * ROW_BYTES);
    let tile_b = Operand::<T, B>::at(ring.base + A_BYTES);
    let mut previous = 0;
    let mut step = part.first;
    while step < part.end {
        mbarrier::wait(ring.full(turn.stage), turn.parity);
        let further = turn.stage * STAGE_BYTES;
        // The assembler, which sees the shares computed, does not know otherwise that this is the
        // same in all lanes, and would take each instruction's descriptor from a lane's registers.
        let further = if CUT {
            warp::broadcast(further, 0)
        } else {
            further
        };
        sums.add_product(
            upper.further(further),
            lower.further(further),
            tile_b.further(further),
            step != part.first,
        );
        // The product before this one is done.
        wait_for_all_but::<1>();
        free::<BLOCKS>(ring, previous, step != part.first);
        previous = turn.stage;
        turn.advance::<STAGES>();
        step += 1;
    }
}

/// Ping-pong, alone or by pairs of blocks: then the grid is in clusters of 2.
///
/// # Safety
///
/// `a`, `b` and `c` are maps of m and n rows along k, and of m rows along n, with these
/// [`boxes`] and [`C_BOX`] and a swizzle of 128 bytes. Launch with [`grid`], [`BLOCK`] and
/// [`SHARED_BYTES`]; `group` is not 0.
#[kernel(
    pdl,
    launch_bounds(BLOCK_THREADS, 1),
    instances(
        gemm_ping_pong = gemm_in_ping_pong::<f16, 1>,
        gemm_ping_pong_pairs = gemm_in_ping_pong::<f16, 2>,
        gemm_bf16_ping_pong = gemm_in_ping_pong::<bf16, 1>,
    )
)]
pub unsafe fn gemm_in_ping_pong<T: Half + MultiplyTall<128, Sum = f32>, const BLOCKS: u32>(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    m: u32,
    n: u32,
    k: u32,
    group: u32,
) {
    let plan = Plan {
        sizes: Sizes { m, n, k },
        group,
        is_cut: false,
        left: Left::NOWHERE,
    };
    let store = TmaEpilogue::<T, _>::new(c, AsItIs);
    work::<T, AlongK, AlongK, BLOCKS, false, _>(a, b, plan, store);
}

/// Stream-K, alone or by pairs of blocks: then the grid is in clusters of 2.
///
/// # Safety
///
/// As [`gemm_ping_pong`]; `sums` has room for [`LEFT_SUMS`] for each block, aligned to 16 bytes,
/// and `flags` an element for each, all 0, and 0 again when the kernel has ended.
/// Blocks with lower numbers start first, and [`StreamK::fits`].
#[kernel(
    pdl,
    launch_bounds(BLOCK_THREADS, 1),
    instances(
        gemm_stream_k = gemm_in_shares::<1>,
        gemm_stream_k_pairs = gemm_in_shares::<2>,
    )
)]
pub unsafe fn gemm_in_shares<const BLOCKS: u32>(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    m: u32,
    n: u32,
    k: u32,
    group: u32,
    sums: *mut f32,
    flags: *mut u32,
) {
    let plan = Plan {
        sizes: Sizes { m, n, k },
        group,
        is_cut: true,
        left: Left { sums, flags },
    };
    let store = TmaEpilogue::<f16, _>::new(c, AsItIs);
    work::<f16, AlongK, AlongK, BLOCKS, true, _>(a, b, plan, store);
}

/// alpha·A·B + beta·C in the elements of A and B, by pairs of blocks, by stream-K if `is_cut`
/// is not 0.
///
/// | | A | B |
/// |---|---|---|
/// | n | by rows | by rows |
/// | t | by columns | by columns |
///
/// # Safety
///
/// `a`, `b` and `c` are maps of the matrices in these layouts, with [`boxes`] for clusters of 2 and
/// [`C_BOX`] and a swizzle of 128 bytes; `c_rows` is where `c` begins, with rows `pitch` elements
/// apart. `sums` has room for [`LEFT_SUMS`] for each block, aligned to 16 bytes, and `flags` an
/// element for each, all 0, and 0 again when the kernel has ended. Launch with [`grid`] in
/// clusters of 2, [`BLOCK`] and [`SHARED_BYTES`]; blocks with lower numbers start first; `group` is
/// not 0, and [`StreamK::fits`].
#[kernel(
    pdl,
    launch_bounds(BLOCK_THREADS, 1),
    instances(
        gemm_f16_nn = gemm_halves::<f16, AlongK, AcrossK>,
        gemm_f16_nt = gemm_halves::<f16, AlongK, AlongK>,
        gemm_f16_tn = gemm_halves::<f16, AcrossK, AcrossK>,
        gemm_f16_tt = gemm_halves::<f16, AcrossK, AlongK>,
        gemm_bf16_nn = gemm_halves::<bf16, AlongK, AcrossK>,
        gemm_bf16_nt = gemm_halves::<bf16, AlongK, AlongK>,
        gemm_bf16_tn = gemm_halves::<bf16, AcrossK, AcrossK>,
        gemm_bf16_tt = gemm_halves::<bf16, AcrossK, AlongK>,
    )
)]
pub unsafe fn gemm_halves<T: Half + MultiplyTall<128, Sum = f32>, A: Layout, B: Layout>(
    a: &TensorMap,
    b: &TensorMap,
    c: &TensorMap,
    c_rows: *const T,
    m: u32,
    n: u32,
    k: u32,
    pitch: u32,
    alpha: f32,
    beta: f32,
    group: u32,
    is_cut: u32,
    sums: *mut f32,
    flags: *mut u32,
) {
    let sizes = Sizes { m, n, k };
    let finish = Scaled {
        alpha,
        beta,
        c: c_rows,
        pitch,
        sizes,
    };
    let plan = Plan {
        sizes,
        group,
        is_cut: is_cut != 0,
        left: Left { sums, flags },
    };
    work::<T, A, B, 2, true, _>(a, b, plan, TmaEpilogue::<T, _>::new(c, finish));
}

/// [`gemm_halves`] with a result in `f32`, which is stored from registers.
///
/// # Safety
///
/// As [`gemm_halves`], without a map of C: `c` has rows `pitch` elements apart, an even number.
#[kernel(
    pdl,
    launch_bounds(BLOCK_THREADS, 1),
    instances(
        gemm_f16_f32_nn = gemm_floats::<f16, AlongK, AcrossK>,
        gemm_f16_f32_nt = gemm_floats::<f16, AlongK, AlongK>,
        gemm_f16_f32_tn = gemm_floats::<f16, AcrossK, AcrossK>,
        gemm_f16_f32_tt = gemm_floats::<f16, AcrossK, AlongK>,
        gemm_bf16_f32_nn = gemm_floats::<bf16, AlongK, AcrossK>,
        gemm_bf16_f32_nt = gemm_floats::<bf16, AlongK, AlongK>,
        gemm_bf16_f32_tn = gemm_floats::<bf16, AcrossK, AcrossK>,
        gemm_bf16_f32_tt = gemm_floats::<bf16, AcrossK, AlongK>,
    )
)]
pub unsafe fn gemm_floats<T: MultiplyTall<128, Sum = f32>, A: Layout, B: Layout>(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
    pitch: u32,
    alpha: f32,
    beta: f32,
    group: u32,
    is_cut: u32,
    sums: *mut f32,
    flags: *mut u32,
) {
    let sizes = Sizes { m, n, k };
    let finish = Scaled {
        alpha,
        beta,
        c: c.cast_const(),
        pitch,
        sizes,
    };
    let plan = Plan {
        sizes,
        group,
        is_cut: is_cut != 0,
        left: Left { sums, flags },
    };
    let store = Direct {
        c,
        pitch,
        sizes,
        finish,
    };
    work::<T, A, B, 2, true, _>(a, b, plan, store);
}
