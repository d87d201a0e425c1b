//! # Who else?
//!
//! Each warp keeps those of its 32 elements that are positive, side by side and in order, from
//! `out[32 * warp]` on, and writes to `counts[warp]` how many there are:
//!
//! ```text
//!   lane        0    1    2    3    4    5    6   …
//!   has         7   −3   −1    4    9   −8    2
//!   keeps       ✓              ✓    ✓         ✓
//!   its place   0              1    2         3
//! ```
//!
//! A lane's place depends on what all lanes before it have.
//!
//! **Predict:** what is the place of lane 6 if the lanes that keep something are, as bits,
//! `…1011001`?
//!
//! **Change** the two lines with an arrow.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, lanemask_lt, warp_vote_ballot};

/// # Safety
///
/// `x` holds `n` elements, `out` as many, rounded up to whole warps, `counts` one for each warp.
#[kernel]
pub unsafe fn keep_positive(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    let i = thread::index_1d();
    let value = if i < n { *x.add(i as usize) } else { 0 };
    let keep = value > 0;
    let place = 0; // ←
    let count = 0; // ←
    let first = i / 32 * 32;
    if keep {
        *out.add((first + place) as usize) = value;
    }
    if lane_id() == 0 && i < n {
        *counts.add((i / 32) as usize) = count;
    }
}
