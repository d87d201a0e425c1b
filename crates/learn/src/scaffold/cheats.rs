//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// The first thread does all of it: the result is right, and the other threads idle.
///
/// fails: count: one thread the work of many
#[kernel]
pub unsafe fn one_thread(x: *const f32, y: *mut f32, n: u32) {
    if thread::index_1d() == 0 {
        for i in 0..n {
            *y.add(i as usize) = 2.0 * *x.add(i as usize);
        }
    }
}
