//! # From lane to lane
//!
//! Each warp adds up its 32 elements. The lanes of a warp can pass registers to each other:
//!
//! ```text
//!   lane              0        1        2     …    15       16  …  31
//!   has               a0       a1       a2         a15      a16    a31
//!   adds lane + 16    a0+a16   a1+a17   a2+a18     a15+a31   –      –
//!   adds lane + 8     …
//! ```
//!
//! **Predict:** how many rounds does it take until lane 0 has the sum of all 32? What do lanes 16 to
//! 31 do meanwhile?
//!
//! **Change** the kernel: the rounds are missing. If `n` is not a multiple of 32, the last warp has
//! lanes without an element.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// # Safety
///
/// `x` holds `n` elements, `sums` one for every 32 of them.
#[kernel]
pub unsafe fn warp_sums(x: *const f32, sums: *mut f32, n: u32) {
    let i = thread::index_1d();
    let mut sum = if i < n { *x.add(i as usize) } else { 0.0 };
    // The gap.
    if lane_id() == 0 && i < n {
        *sums.add(i as usize / 32) = sum;
    }
}
