//! The last warp waits for the first ones, by luck: all elements are stored twice, which takes time.
//!
//! fails: race: in any order

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements, a multiple of 256.
#[kernel]
pub unsafe fn reverse_blocks(x: *const u32, y: *mut u32, n: u32) {
    let line = shared_array![u32; 256];
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    // Every thread stores its own element and its partner's: what it loads is there in any order.
    *line.add(t) = *x.add(i);
    *line.add(255 - t) = *x.add(i - t + 255 - t);
    *y.add(i) = *line.add(255 - t);
}
