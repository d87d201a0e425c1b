//! Counts the lane itself too: every element is one place too far.
//!
//! fails: result: in their old order

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, lanemask_le, warp_vote_ballot};

/// # Safety
///
/// `x` holds `n` elements, `out` as many, rounded up to whole warps, `counts` one for each warp.
#[kernel]
pub unsafe fn keep_positive(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    let i = thread::index_1d();
    let value = if i < n { *x.add(i as usize) } else { 0 };
    let kept = warp_vote_ballot(FULL_MASK, value > 0);
    let place = (kept & lanemask_le()).count_ones() % 32;
    if value > 0 {
        *out.add((i / 32 * 32 + place) as usize) = value;
    }
    if lane_id() == 0 && i < n {
        *counts.add((i / 32) as usize) = kept.count_ones();
    }
}
