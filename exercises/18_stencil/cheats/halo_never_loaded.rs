//! 256 threads load 256 elements of 262.
//!
//! fails: unwritten: who loads the last six

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements. Blocks have 256 threads.
#[kernel]
pub unsafe fn smooth(x: *const i32, y: *mut i32, n: u32) {
    let tile = shared_array![i32; 262];
    let (i, t) = (thread::index_1d(), thread::thread_idx_x());
    let from = i.wrapping_sub(3);
    *tile.add(t as usize) = if from < n { *x.add(from as usize) } else { 0 };
    thread::sync_threads();
    if i < n {
        let mut sum = 0;
        for k in 0..7 {
            sum += *tile.add(t as usize + k);
        }
        *y.add(i as usize) = sum;
    }
}
