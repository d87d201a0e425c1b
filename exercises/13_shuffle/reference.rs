//! One thread, two loops.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n` elements, `sums` one for every 32 of them.
#[kernel]
pub unsafe fn warp_sums(x: *const f32, sums: *mut f32, n: u32) {
    for warp in 0..n.div_ceil(32) {
        let mut sum = 0.0;
        let mut i = 32 * warp;
        while i < n && i < 32 * warp + 32 {
            sum += *x.add(i as usize);
            i += 1;
        }
        *sums.add(warp as usize) = sum;
    }
}
