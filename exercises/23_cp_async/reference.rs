//! One thread reads everything from global memory.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` holds `n_tiles` tiles of 256 elements for each of two blocks, `sums` 128 elements.
#[kernel]
pub unsafe fn row_sums(x: *const f32, sums: *mut f32, n_tiles: u32) {
    for thread in 0..128 {
        let (block, t) = (thread / 64, thread % 64);
        let mut sum = 0.0;
        for tile in 0..n_tiles {
            let first = 4 * (64 * (block * n_tiles + tile) + 63 - t);
            for k in 0..4 {
                sum += *x.add((first + k) as usize);
            }
        }
        *sums.add(thread as usize) = sum;
    }
}
