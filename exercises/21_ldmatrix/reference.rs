//! One thread assembles what every lane must have.

use cuda_std::half::f16;
use cuda_std::prelude::*;

/// # Safety
///
/// `block` holds 16 rows of 16 elements, `registers` four for each of 32 lanes.
#[kernel]
pub unsafe fn load_block(block: *const f16, registers: *mut u32) {
    let block = block.cast::<u16>();
    for lane in 0..32 {
        for register in 0..4 {
            let row = lane / 4 + register % 2 * 8;
            let column = lane % 4 * 2 + register / 2 * 8;
            let low = *block.add(16 * row + column) as u32;
            let high = *block.add(16 * row + column + 1) as u32;
            *registers.add(4 * lane + register) = high << 16 | low;
        }
    }
}
