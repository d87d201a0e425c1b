//! Only the block's own elements are loaded; its neighbours' are left out of the sum.
//!
//! fails: result: borders between two blocks

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have 256 threads.
#[kernel]
pub unsafe fn smooth(x: *const i32, y: *mut i32, n: u32) {
    let tile = shared_array![i32; 262];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    *tile.add(t as usize + 3) = if i < n { *x.add(i as usize) } else { 0 };
    if t < 3 {
        *tile.add(t as usize) = 0;
        *tile.add(t as usize + 259) = 0;
    }
    thread::sync_threads();
    if i < n {
        let mut sum = 0;
        for k in 0..7 {
            sum += *tile.add(t as usize + k);
        }
        *y.add(i as usize) = sum;
    }
}
