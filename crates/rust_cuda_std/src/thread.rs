//! [`cuda_std::thread`] with Rust-CUDA's types: indices as `glam`'s vectors, and barriers as safe
//! functions.
//!
//! A barrier that only some of a block's threads reach is undefined behaviour in PTX, whatever its
//! signature: the simulator's checks find one.

pub use cuda_std::thread::*;
use glam::{UVec2, UVec3};

macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> UVec3 {
            let Vec3 { x, y, z } = cuda_std::thread::$name();
            UVec3 { x, y, z }
        }
    )* };
}
vectors! {
    /// This thread's index in its block.
    thread_idx;
    /// This block's index in the grid.
    block_idx;
    /// The block's size in threads.
    block_dim;
    /// The grid's size in blocks.
    grid_dim;
    /// This thread's index in a grid of three dimensions.
    index_3d;
}

/// This thread's index in a grid of two dimensions.
#[inline(always)]
pub fn index_2d() -> UVec2 {
    let Vec2 { x, y } = cuda_std::thread::index_2d();
    UVec2 { x, y }
}

/// Waits until every thread of the block has arrived: `__syncthreads()`.
#[inline(always)]
pub fn sync_threads() {
    // SAFETY: not by this signature, which is Rust-CUDA's: the caller sees to it that all threads
    // of the block reach this call.
    unsafe { cuda_std::thread::sync_threads() }
}

macro_rules! counting_barriers {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(predicate: u32) -> u32 {
            // SAFETY: as for `sync_threads`.
            unsafe { cuda_std::thread::$name(predicate) }
        }
    )* };
}
counting_barriers! {
    /// [`sync_threads`], and the number of threads whose `predicate` is not 0.
    sync_threads_count;
    /// [`sync_threads`], and 1 if no thread's `predicate` is 0, else 0.
    sync_threads_and;
    /// [`sync_threads`], and 1 if any thread's `predicate` is not 0, else 0.
    sync_threads_or;
}
