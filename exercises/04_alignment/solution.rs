//! Threads begin on a sector boundary; those before the first element idle.

use cuda_std::prelude::*;

/// Elements in a sector.
const SECTOR: u32 = 8;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn fill_tail(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let start = first / SECTOR * SECTOR;
    let i = start + thread::index_1d();
    if i >= first && i < n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}
