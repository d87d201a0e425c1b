//! # One at a time, please
//!
//! The sum of all elements, in one word. Many threads change it, so each addition is atomic:
//!
//! ```text
//!   n = 1000     blocks  4      warps  32      threads  1024
//!                                ↑ this many requests for one word
//! ```
//!
//! This is correct, but memory carries out the additions to one word one after another.
//!
//! **Predict:** how many requests are there for a million elements? How many if each block adds up
//! its own elements first?
//!
//! **Change** the kernel so that each block asks for one atomic addition. (The fourth argument of
//! `atomic::add` is the scope: which threads may change the word. The fifth is the order; the sum
//! does not hand anything else over, so `Relaxed` is enough.)

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// # Safety
///
/// `x` holds `n` elements, `total` a zero. Blocks have 256 threads.
#[kernel]
pub unsafe fn total(x: *const u32, total: *mut u32, n: u32) {
    let i = thread::index_1d();
    let own = if i < n { *x.add(i as usize) } else { 0 };
    atomic::add(total, own, Global, Device, Relaxed);
}
