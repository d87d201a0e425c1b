//! One thread, warp after warp.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements, `out` as many, rounded up to whole warps, `counts` one for each warp.
#[kernel]
pub unsafe fn keep_positive(x: *const i32, out: *mut i32, counts: *mut u32, n: u32) {
    for warp in 0..n.div_ceil(32) {
        let mut count = 0;
        let mut i = 32 * warp;
        while i < n && i < 32 * warp + 32 {
            let value = *x.add(i as usize);
            if value > 0 {
                *out.add((32 * warp + count) as usize) = value;
                count += 1;
            }
            i += 1;
        }
        *counts.add(warp as usize) = count;
    }
}
