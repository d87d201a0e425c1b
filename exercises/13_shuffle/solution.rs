//! Five rounds of shuffles.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// # Safety
///
/// `x` holds `n` elements, `sums` one for every 32 of them.
#[kernel]
pub unsafe fn warp_sums(x: *const f32, sums: *mut f32, n: u32) {
    let i = thread::index_1d();
    let mut sum = if i < n { *x.add(i as usize) } else { 0.0 };
    for delta in [16, 8, 4, 2, 1] {
        sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
    }
    if lane_id() == 0 && i < n {
        *sums.add(i as usize / 32) = sum;
    }
}
