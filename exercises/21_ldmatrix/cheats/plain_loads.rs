//! Loads each register separately.
//!
//! fails: contract: by `ldmatrix`

use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::warp::lane_id;

/// # Safety
///
/// `block` holds 16 rows of 16 elements, `registers` four for each of 32 lanes. One warp.
#[kernel]
pub unsafe fn load_block(block: *const f16, registers: *mut u32) {
    let lane = lane_id();
    for register in 0..4 {
        let row = lane / 4 + register % 2 * 8;
        let column = lane % 4 * 2 + register / 2 * 8;
        let value = *block.add((16 * row + column) as usize).cast::<u32>();
        *registers.add((4 * lane + register) as usize) = value;
    }
}
