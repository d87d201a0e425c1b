//! Shuffles only among lanes with an element.
//!
//! fails: warp: all lanes that its mask names

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// # Safety
///
/// `x` holds `n` elements, `sums` one for every 32 of them.
#[kernel]
pub unsafe fn warp_sums(x: *const f32, sums: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut sum = *x.add(i as usize);
        for delta in [16, 8, 4, 2, 1] {
            sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
        }
        if lane_id() == 0 {
            *sums.add(i as usize / 32) = sum;
        }
    }
}
