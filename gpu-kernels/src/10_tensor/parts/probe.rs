//! The instructions bare: registers in, registers out.
//!
//! For tests of what the other files take for granted: which lane holds which element
//! ([`cuda_std::mma::map`]), and how the hardware rounds. Nothing here is laid
//! out for speed or to avoid conflicts.
//!
//! Register files lie in memory as `[case][register][lane]`, 32 bits each.

use cuda_std::half::{bf16, f16};
use cuda_std::mma::map::address_of;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
use cuda_std::mma::stmatrix;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K8, M16N8K16, ldmatrix, mma};
use cuda_std::prelude::*;
use cuda_std::tile::{Plain, Tile};
use cuda_std::warp::FULL_MASK;

use super::{WARP, fill};

/// Four 8×8 matrices below each other.
pub type Matrices = Tile<f16, 32, 8, Plain>;

/// Elements of [`Matrices`].
pub const N_ELEMENTS: usize = 32 * 8;

/// Registers that [`probe_ldmatrix`] writes: x1, x2, x4, then each transposed.
pub const LDMATRIX_REGISTERS: usize = 2 * (1 + 2 + 4);

/// Row of [`Matrices`] that `lane` names: the matrices follow each other.
#[inline(always)]
pub const fn matrices_row(lane: u32) -> u32 {
    let (matrix, row) = address_of(lane);
    matrix * 8 + row
}

/// Writes a register of every lane.
#[inline(always)]
unsafe fn put<const N: usize>(output: *mut u32, first: usize, registers: [u32; N]) {
    let lane = warp::lane_id() as usize;
    let mut i = 0;
    while i < N {
        *output.add((first + i) * WARP as usize + lane) = registers[i];
        i += 1;
    }
}

/// Reads a register of every lane.
#[inline(always)]
unsafe fn get<const N: usize>(input: *const u32, first: usize) -> [u32; N] {
    let lane = warp::lane_id() as usize;
    let mut registers = [0; N];
    let mut i = 0;
    while i < N {
        registers[i] = *input.add((first + i) * WARP as usize + lane);
        i += 1;
    }
    registers
}

/// Loads four matrices in all six ways, and writes what each lane got:
/// `output[register][lane]`, in the order of [`LDMATRIX_REGISTERS`].
///
/// # Safety
///
/// `input` is aligned to 16 bytes and holds [`N_ELEMENTS`]; `output` has room for
/// 32 times [`LDMATRIX_REGISTERS`]. Launch one block of 32 threads.
#[kernel(launch_bounds(WARP))]
pub unsafe fn probe_ldmatrix(input: *const f16, output: *mut u32) {
    let tile = shared_tile!(Matrices);
    let lane = warp::lane_id();
    fill::<WARP, _, _, _>(tile, input, lane);
    warp::sync_warp(FULL_MASK);
    let row = matrices_row(lane);
    put(output, 0, ldmatrix::x1(tile, row, 0));
    put(output, 1, ldmatrix::x2(tile, row, 0));
    put(output, 3, ldmatrix::x4(tile, row, 0));
    put(output, 7, ldmatrix::x1_trans(tile, row, 0));
    put(output, 8, ldmatrix::x2_trans(tile, row, 0));
    put(output, 10, ldmatrix::x4_trans(tile, row, 0));
}

/// Stores four registers per lane in all six ways, and writes the tile after each:
/// `output[way][32][8]`. What a way does not store is zero.
///
/// # Safety
///
/// `input` holds 4 registers of 32 lanes; `output` is aligned to 16 bytes and has
/// room for 6 times [`N_ELEMENTS`]. Launch one block of 32 threads.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
#[kernel(launch_bounds(WARP))]
pub unsafe fn probe_stmatrix(input: *const u32, output: *mut f16) {
    use super::drain;

    let tile = shared_tile!(Matrices);
    let lane = warp::lane_id();
    let row = matrices_row(lane);
    let registers = get::<4>(input, 0);
    let [r0, r1, ..] = registers;
    macro_rules! way {
        ($i:literal, $store:expr) => {{
            *tile.chunk::<u128>(lane, 0) = 0;
            warp::sync_warp(FULL_MASK);
            $store;
            warp::sync_warp(FULL_MASK);
            drain::<WARP, _, _, _>(tile, output.add($i * N_ELEMENTS), lane);
            warp::sync_warp(FULL_MASK);
        }};
    }
    way!(0, stmatrix::x1(tile, row, 0, [r0]));
    way!(1, stmatrix::x2(tile, row, 0, [r0, r1]));
    way!(2, stmatrix::x4(tile, row, 0, registers));
    way!(3, stmatrix::x1_trans(tile, row, 0, [r0]));
    way!(4, stmatrix::x2_trans(tile, row, 0, [r0, r1]));
    way!(5, stmatrix::x4_trans(tile, row, 0, registers));
}

/// Registers as [`FragmentC<f32>`] has them.
#[inline(always)]
fn floats(registers: [u32; 4]) -> [f32; 4] {
    registers.map(f32::from_bits)
}

/// And back.
#[inline(always)]
fn bits(floats: [f32; 4]) -> [u32; 4] {
    floats.map(f32::to_bits)
}

/// Registers as [`FragmentC<f16>`] has them: unchanged.
#[inline(always)]
const fn halves(registers: [u32; 2]) -> [u32; 2] {
    registers
}

macro_rules! mma_probes {
    ($($(#[$doc:meta])* $name:ident: $shape:ty, $t:ty, $c:ty, $na:literal $nb:literal $nc:literal, $in:ident $out:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Register files as the module says, a case per block. Launch with
        /// [`BLOCK`](super::BLOCK) threads.
        #[kernel(launch_bounds(WARP))]
        pub unsafe fn $name(a: *const u32, b: *const u32, c: *const u32, d: *mut u32) {
            let case = thread::block_idx_x() as usize;
            let a = FragmentA::<$t, $shape>::new(get(a, case * $na));
            let b = FragmentB::<$t, $shape>::new(get(b, case * $nb));
            let c = FragmentC::<$c>::new($in(get(c, case * $nc)));
            put(d, case * $nc, $out(mma(a, b, c).registers));
        }
    )* };
}

mma_probes! {
    /// `mma` m16n8k8, f16 summed in f16.
    probe_mma_k8_f16_f16: M16N8K8, f16, f16, 2 1 2, halves halves;
    /// `mma` m16n8k8, f16 summed in f32.
    probe_mma_k8_f16_f32: M16N8K8, f16, f32, 2 1 4, floats bits;
    /// `mma` m16n8k8, bf16 summed in f32.
    probe_mma_k8_bf16_f32: M16N8K8, bf16, f32, 2 1 4, floats bits;
    /// `mma` m16n8k16, f16 summed in f16.
    probe_mma_k16_f16_f16: M16N8K16, f16, f16, 4 2 2, halves halves;
    /// `mma` m16n8k16, f16 summed in f32.
    probe_mma_k16_f16_f32: M16N8K16, f16, f32, 4 2 4, floats bits;
    /// `mma` m16n8k16, bf16 summed in f32.
    probe_mma_k16_bf16_f32: M16N8K16, bf16, f32, 4 2 4, floats bits;
}
