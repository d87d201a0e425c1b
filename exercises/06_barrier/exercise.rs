//! # Who has written it?
//!
//! Each block of 256 threads reverses its piece of `x`: `y[first + t] = x[first + 255 - t]`.
//! Every thread stores its element in shared memory, and loads that of the thread opposite:
//!
//! ```text
//!   thread          0     1     2    …   254   255
//!   stores          x0    x1    x2       x254  x255
//!   loads           x255  x254  x253     x1    x0
//! ```
//!
//! **Predict:** the threads of a block are eight warps. Which warp's values does warp 0 load? Are
//! they sure to be there when it loads them?
//!
//! **Change** the kernel: one line is missing.

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements, a multiple of 256.
#[kernel]
pub unsafe fn reverse_blocks(x: *const u32, y: *mut u32, n: u32) {
    let line = shared_array![u32; 256];
    let (i, t) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    *line.add(t) = *x.add(i);
    *y.add(i) = *line.add(255 - t);
}
