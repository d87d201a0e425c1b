//! Products of 16×16 blocks out of a 16×32 tile, each with one mistake in how
//! the tile or the fragments are used.
//!
//! They have the parameters of `gpu_kernels::tensor::wide`'s kernels. None of them is a
//! fault that memory checks could find: every access is in bounds, aligned and
//! initialised. Only the comparison with the reference shows it.

use cuda_std::half::f16;
use cuda_std::mma::{
    FragmentA, FragmentB, FragmentC, M16N8K16, load_a, load_b, load_b_pair, load_b_transposed, map,
    mma,
};
use cuda_std::prelude::*;
use cuda_std::swizzle::Swizzle;
use cuda_std::tile::{Plain, Tile};
use cuda_std::warp::FULL_MASK;

const SIDE: u32 = 16;
const COLUMNS: u32 = 32;
const WARP: u32 = 32;
const CHUNK: u32 = 8;

type PlainTile = Tile<f16, SIDE, COLUMNS, Plain>;
type Right = [FragmentB<f16, M16N8K16>; 2];

/// Fills the tile with the block's matrices.
#[inline(always)]
unsafe fn fill(tile: PlainTile, input: *const f16) {
    let input = input.add((thread::block_idx_x() * SIDE * COLUMNS) as usize);
    let lane = warp::lane_id();
    let mut chunk = lane;
    while chunk < SIDE * COLUMNS / CHUNK {
        let (row, column) = (chunk * CHUNK / COLUMNS, chunk * CHUNK % COLUMNS);
        *tile.chunk::<u128>(row, column) = *input.cast::<u128>().add(chunk as usize);
        chunk += WARP;
    }
    warp::sync_warp(FULL_MASK);
}

/// Writes the block's product.
#[inline(always)]
unsafe fn write(output: *mut f32, left: FragmentA<f16, M16N8K16>, right: Right) {
    let output = output.add((thread::block_idx_x() * SIDE * SIDE) as usize);
    let lane = warp::lane_id();
    let [b0, b1] = right;
    let c0 = mma(left, b0, FragmentC::<f32>::zero()).registers;
    let c1 = mma(left, b1, FragmentC::<f32>::zero()).registers;
    let mut register = 0;
    while register < 4 {
        let at = map::c32(lane, register as u32);
        let place = (at.row * SIDE + at.column) as usize;
        *output.add(place) = c0[register];
        *output.add(place + 8) = c1[register];
        register += 1;
    }
}

/// L·Rᵀ, the tile stored plain and loaded swizzled: the mistake that a layout in
/// the type prevents, made by force.
#[kernel(launch_bounds(WARP))]
pub unsafe fn stored_plain_loaded_swizzled(input: *const f16, output: *mut f32) {
    let tile = shared_tile!(PlainTile);
    fill(tile, input);
    let tile = tile.relaid::<Swizzle<2, 3, 3>>();
    write(output, load_a(tile, 0, 0), load_b_transposed(tile, 0, SIDE));
}

/// A·B without the transpose that B needs: it computes A·Bᵀ.
#[kernel(launch_bounds(WARP))]
pub unsafe fn b_without_trans(input: *const f16, output: *mut f32) {
    let tile = shared_tile!(PlainTile);
    fill(tile, input);
    write(output, load_a(tile, 0, 0), load_b_transposed(tile, 0, SIDE));
}

/// A·B with the right operand's quarters 1 and 2 exchanged, as they are for Bᵀ.
#[kernel(launch_bounds(WARP))]
pub unsafe fn fragments_swapped(input: *const f16, output: *mut f32) {
    let tile = shared_tile!(PlainTile);
    fill(tile, input);
    let [left, right] = load_b(tile, 0, SIDE);
    let ([r0, r1], [r2, r3]) = (left.registers, right.registers);
    write(output, load_a(tile, 0, 0), load_b_pair([r0, r2, r1, r3]));
}

/// A·B as it should be, to test that the checks let it pass.
#[kernel(launch_bounds(WARP))]
pub unsafe fn right_product(input: *const f16, output: *mut f32) {
    let tile = shared_tile!(PlainTile);
    fill(tile, input);
    write(output, load_a(tile, 0, 0), load_b(tile, 0, SIDE));
}
