//! Lane 0 gets the values one after the other.
//!
//! fails: count: in five rounds

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_idx};

/// # Safety
///
/// `x` holds `n` elements, `sums` one for every 32 of them.
#[kernel]
pub unsafe fn warp_sums(x: *const f32, sums: *mut f32, n: u32) {
    let i = thread::index_1d();
    let own = if i < n { *x.add(i as usize) } else { 0.0 };
    let mut sum = 0.0;
    for lane in 0..32 {
        sum += warp_shuffle_idx(FULL_MASK, own, lane, 32).0;
    }
    if lane_id() == 0 && i < n {
        *sums.add(i as usize / 32) = sum;
    }
}
