//! # One instruction, 32 addresses
//!
//! `ldmatrix` loads four matrices of 8×8 elements at once, for the tensor cores. Each lane gives
//! the address of one row of eight elements, 16 bytes, and gets two elements of each matrix. The
//! 16×16 block should be loaded as a tensor core expects its left operand:
//!
//! ```text
//!               columns 0–7             columns 8–15
//!   rows 0–7    matrix 0, register 0    matrix 2, register 2
//!   rows 8–15   matrix 1, register 1    matrix 3, register 3
//! ```
//!
//! Lanes 8·m to 8·m + 7 name the rows of matrix m, from top to bottom.
//!
//! **Predict:** which row of the block, and which column, does lane 21 name?
//!
//! **Change** `row` and `column`. The tile lies in shared memory with rows of [`PITCH`] elements.

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
    let row = lane % 8; // ←
    let column = 0; // ←
    let address = address_in_space(tile.add((row * PITCH + column) as usize));
    let loaded = ldmatrix::x4_at(address);
    for (register, value) in loaded.into_iter().enumerate() {
        *registers.add(4 * lane as usize + register) = value;
    }
}
