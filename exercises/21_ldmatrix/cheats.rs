//! Kernels that must not pass, and how they fail.

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix;
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::warp::{FULL_MASK, lane_id, sync_warp};

/// Matrices 1 and 2 are exchanged, as for the *right* operand.
///
/// fails: result: are wrong
#[kernel]
pub unsafe fn exchanged_quarters(block: *const f16, registers: *mut u32) {
    let tile = shared_array![f16; 384, align = 128];
    let lane = lane_id();
    for k in 0..8 {
        let element = 32 * k + lane;
        *tile.add((element / 16 * 24 + element % 16) as usize) = *block.add(element as usize);
    }
    sync_warp(FULL_MASK);
    let (row, column) = (lane % 8 + lane / 16 * 8, lane / 8 % 2 * 8);
    let loaded = ldmatrix::x4_at(address_in_space(tile.add((row * 24 + column) as usize)));
    for (register, value) in loaded.into_iter().enumerate() {
        *registers.add(4 * lane as usize + register) = value;
    }
}

/// Loads each register separately.
///
/// fails: contract: by `ldmatrix`
#[kernel]
pub unsafe fn plain_loads(block: *const f16, registers: *mut u32) {
    let lane = lane_id();
    for register in 0..4 {
        let row = lane / 4 + register % 2 * 8;
        let column = lane % 4 * 2 + register / 2 * 8;
        let value = *block.add((16 * row + column) as usize).cast::<u32>();
        *registers.add((4 * lane + register) as usize) = value;
    }
}

/// Rows of 16 elements without padding: two rows share a bank.
///
/// fails: count: share banks
#[kernel]
pub unsafe fn rows_without_room(block: *const f16, registers: *mut u32) {
    let tile = shared_array![f16; 256, align = 128];
    let lane = lane_id();
    for k in 0..8 {
        let element = 32 * k + lane;
        *tile.add(element as usize) = *block.add(element as usize);
    }
    sync_warp(FULL_MASK);
    let (row, column) = (lane % 8 + lane / 8 % 2 * 8, lane / 16 * 8);
    let loaded = ldmatrix::x4_at(address_in_space(tile.add((row * 16 + column) as usize)));
    for (register, value) in loaded.into_iter().enumerate() {
        *registers.add(4 * lane as usize + register) = value;
    }
}
