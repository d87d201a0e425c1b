//! Rows of 16 elements without padding: two rows share a bank.
//!
//! fails: count: share banks

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix;
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::warp::{FULL_MASK, lane_id, sync_warp};

/// # Safety
///
/// `block` holds 16 rows of 16 elements, `registers` four for each of 32 lanes. One warp.
#[kernel]
pub unsafe fn load_block(block: *const f16, registers: *mut u32) {
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
