//! Every lane reads all elements before its own.
//!
//! fails: contract: by a vote

use cuda_std::prelude::*;
use cuda_std::warp::lane_id;

/// # Safety
///
/// `x` holds `n` elements, `out` as many, rounded up to whole warps, `counts` one for each warp.
#[kernel]
pub unsafe fn keep_positive(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i >= n {
        return;
    }
    let value = *x.add(i as usize);
    let first = i / 32 * 32;
    let (mut place, mut count) = (0, 0);
    let mut other = first;
    while other < n && other < first + 32 {
        let kept = u32::from(*x.add(other as usize) > 0);
        place += if other < i { kept } else { 0 };
        count += kept;
        other += 1;
    }
    if value > 0 {
        *out.add((first + place) as usize) = value;
    }
    if lane_id() == 0 {
        *counts.add((i / 32) as usize) = count;
    }
}
