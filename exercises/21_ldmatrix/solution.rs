//! The quarters of the block, by lanes.

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix;
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::warp::{FULL_MASK, lane_id, sync_warp};

/// Rows and columns of the block.
const SIDE: u32 = 16;
/// Elements from one row of the tile to the next.
const PITCH: u32 = 24;

/// # Safety
///
/// `block` holds 16 rows of 16 elements, `registers` four for each of 32 lanes. One warp.
#[kernel]
pub unsafe fn load_block(block: *const f16, registers: *mut u32) {
    let tile = shared_array![f16; (SIDE * PITCH) as usize, align = 128];
    let lane = lane_id();
    for k in 0..SIDE * SIDE / 32 {
        let element = 32 * k + lane;
        let place = element / SIDE * PITCH + element % SIDE;
        *tile.add(place as usize) = *block.add(element as usize);
    }
    sync_warp(FULL_MASK);
    let matrix = lane / 8;
    let row = lane % 8 + matrix % 2 * 8;
    let column = matrix / 2 * 8;
    let address = address_in_space(tile.add((row * PITCH + column) as usize));
    let loaded = ldmatrix::x4_at(address);
    for (register, value) in loaded.into_iter().enumerate() {
        *registers.add(4 * lane as usize + register) = value;
    }
}
