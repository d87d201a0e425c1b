//! The speed of `mma.sync` with everything that the steps have taught.
//!
//! This is not a step of the ladder but a look back. [`pipelined`](crate::gemm::mma::pipelined) is
//! held up by its copies, whose addresses and instructions are issued between the products, and by
//! the barriers that its copies need. Here a warp that multiplies only loads fragments and
//! multiplies:
//!
//! | what | as in |
//! |---|---|
//! | tiles by TMA, four stages | [`tma`](super::tma) |
//! | a warpgroup that copies, two that multiply, barriers in memory | [`warp_specialized`](super::warp_specialized), whose copier this is |
//! | persistent blocks, tiles in an order that suits the cache | step 8 of [`warp_specialized`](super::warp_specialized) |
//! | 64×64 per warp, eight warps, C in whole sectors | [`pipelined`](crate::gemm::mma::pipelined) |
//!
//! The loading of fragments is new. A fragment of A for the next step is loaded as soon as the
//! products of the one that it replaces are issued, so A needs the registers of one step; B needs
//! those of two, and a quarter of it is loaded before each quarter of the products:
//!
//! ```text
//!     products of this step    rows 0–15     rows 16–31     rows 32–47     rows 48–63
//!     loads for the next    B₀           A₀ B₁          A₁ B₂          A₂ B₃          A₃
//! ```
//!
//! That goes on from one tile of C to the next: when a tile is stored, the fragments of the next
//! one's first step are already in registers.
//!
//! # Limits
//!
//! `mma.sync` itself. `docs/tuning/gemm_by_mma.md` has the measurements: with nothing to load at
//! all it has two thirds of cuBLASLt's speed at 8192³ on an H200.

use cuda_std::half::f16;
use cuda_std::mma::FragmentC;
use cuda_std::prelude::*;
use cuda_std::shared::{address_in_space, dynamic_shared_mem};
use cuda_std::warpgroup::{self, give_registers, take_registers};
use cuda_std::wgmma::WARPGROUP;
use cuda_std::{TensorMap, mbarrier};

use super::pipeline::{Ring, Turn, shared_bytes};
use super::warp_specialized::{
    A_BYTES, BLOCK_THREADS, COPIER_REGISTERS, MULTIPLIER_REGISTERS, N_MULTIPLIERS, STAGE_BYTES,
    STAGES, TILE_N, Walk, copy,
};
use super::{Sizes, TILE_M};
use crate::gemm::mma::fragments::{Addresses, Fragments, N_STEPS, Sums, WARP_SIDE, multiply_rows};
use crate::gemm::mma::matrices::{self, Scale};
use crate::gemm::mma::pipeline::ROW_BYTES;
use crate::gemm::mma::write_back;
use crate::warp::WARP_LANES;
use cuda_std::unrolled;

/// Warps that multiply.
const N_WARPS: u32 = N_MULTIPLIERS * WARPGROUP / WARP_LANES;
/// Warps above one another.
const WARP_ROWS: u32 = TILE_M / WARP_SIDE;
const _: () = assert!(N_WARPS == WARP_ROWS * (TILE_N / WARP_SIDE));

/// The part of C that is in shared memory.
const C_BYTES: u32 = N_WARPS * write_back::WARP_BYTES;
/// Dynamic shared memory, in bytes.
pub const SHARED_BYTES: u32 = shared_bytes(STAGES, STAGE_BYTES, C_BYTES);

/// `mma.sync` fed by TMA.
///
/// # Safety
///
/// `a` and `b` are maps of m and n rows along k, with the [`boxes`](super::warp_specialized::boxes) of step 7
/// and a swizzle of 128 bytes; `c` holds C as `sizes` says, with a pitch that is a multiple of 8,
/// at a multiple of 16 bytes. m, n, k and `group` are not 0. Launch with the
/// [`BLOCK`](super::warp_specialized::BLOCK) and the [`grid`](super::warp_specialized::grid) of step 7 and with
/// [`SHARED_BYTES`].
#[kernel(launch_bounds(BLOCK_THREADS, 1))]
pub unsafe fn gemm_by_mma(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut f16,
    sizes: matrices::Sizes,
    scale: Scale,
    group: u32,
) {
    let ring = Ring::<STAGES>::new(STAGE_BYTES, C_BYTES);
    let role = warpgroup::index();
    if thread::thread_idx_x() == 0 {
        ring.make(N_WARPS);
    }
    thread::sync_threads();
    let matrices::Sizes { m, n, k, .. } = sizes;
    // Each role makes its own: a shared counter would be kept in local memory.
    let walk = || Walk::new::<f16, 1>(Sizes { m, n, k }, TILE_N, group, 0);
    if role == N_MULTIPLIERS {
        give_registers::<COPIER_REGISTERS>();
        let is_first = warp::broadcast(thread::thread_idx_x() % WARPGROUP / WARP_LANES, 0) == 0;
        if is_first && warp::is_elected() {
            copy::<f16, 1>(a, b, ring, walk());
        }
    } else {
        take_registers::<MULTIPLIER_REGISTERS>();
        multiply(ring, walk(), c, &sizes, scale);
    }
}

/// A warp that multiplies.
#[inline(always)]
unsafe fn multiply(
    ring: Ring<STAGES>,
    mut walk: Walk,
    c: *mut f16,
    sizes: &matrices::Sizes,
    scale: Scale,
) {
    let warp = warp::broadcast(thread::thread_idx_x() / WARP_LANES, 0);
    let lane = thread::thread_idx_x() % WARP_LANES;
    let (warp_row, warp_column) = (warp % WARP_ROWS * WARP_SIDE, warp / WARP_ROWS * WARP_SIDE);
    let a_rows = Addresses::of_a(ring.base + warp_row * ROW_BYTES, lane);
    let b_rows = Addresses::of_b(ring.base + A_BYTES + warp_column * ROW_BYTES, lane);
    let area = area(ring, warp);

    let mut turn = Turn::READ;
    let mut fragments = [Fragments::EMPTY; 2];
    mbarrier::wait(ring.full(turn.stage), turn.parity);
    fragments[0] = Fragments::load(a_rows, b_rows, turn.stage * STAGE_BYTES, 0);
    while let Some([row, column]) = walk.next::<1>() {
        let mut sums: Sums = [[FragmentC::zero(); 8]; 4];
        let mut step = 0;
        while step < walk.n_steps {
            step += 1;
            unrolled!(K in [0 1 2 3] {
                const NEXT: usize = (K + 1) % N_STEPS;
                if NEXT == 0 {
                    // The whole warp has read the stage.
                    warp::sync_warp(u32::MAX);
                    mbarrier::arrive_if(lane == 0, ring.free(turn.stage));
                    // After the last tile its first fragments are read again, but not used.
                    if step < walk.n_steps || walk.goes_on() {
                        turn.advance::<STAGES>();
                        mbarrier::wait(ring.full(turn.stage), turn.parity);
                    }
                }
                let stage = turn.stage * STAGE_BYTES;
                unrolled!(I in [0 1 2 3] {
                    fragments[(K + 1) % 2].load_b::<I>(b_rows, stage, NEXT);
                    multiply_rows::<I>(&mut sums, &fragments[K % 2]);
                    fragments[(K + 1) % 2].load_a::<I>(a_rows, stage, NEXT);
                });
            });
        }
        let at = (row + warp_row, column + warp_column);
        write_back::store(c, sizes, scale, area, at, &sums);
    }
}

/// The warp's part of the memory after the stages.
#[inline(always)]
unsafe fn area(ring: Ring<STAGES>, warp: u32) -> *mut f16 {
    let memory = dynamic_shared_mem::<u128>();
    let offset_bytes = ring.behind() - address_in_space(memory) + warp * write_back::WARP_BYTES;
    memory.byte_add(offset_bytes as usize).cast()
}
