//! Passing a message: data, and a flag that says the data is there.
//!
//! ```text
//!   sender                        receiver
//!   data = 42                     while flag == 0 {}
//!   flag = 1                      read data            42?
//! ```
//!
//! Not necessarily. The flag may become visible before the data, because the
//! compiler moved the store, or because the two lie in different parts of
//! memory and one is faster; and the receiver's read may be served from a cache
//! line that is older than the flag. Nothing orders the two accesses.
//!
//! A release–acquire pair does. The sender stores the flag with *release*: everything
//! it wrote before becomes visible no later than the flag. The receiver loads the flag
//! with *acquire*: everything it reads afterwards is no older than the flag. If the
//! acquire sees what the release wrote, the receiver sees the data. Both name a *scope*
//! that contains both threads. The instructions are `st.release` and `ld.acquire`; the
//! hardware waits for earlier stores to become visible, and discards stale lines of
//! the L1 cache.
//!
//! In both kernels the message goes along a chain, and each link adds to it, so
//! that one stale read spoils the end:
//!
//! - [`pass_between_blocks`]: block to block, through global memory, in device
//!   scope. Thread 0 handles the flag; a barrier passes what it acquired on to
//!   its block, and gathers what its block wrote before it releases.
//! - [`pass_between_warps`]: warp to warp, through shared memory, in block
//!   scope.
//!
//! A receiver waits only for senders that are sure to run: blocks start in
//! index order, so a block may wait for those before it, but not for those after
//! it. All warps of a block are resident at the same time.

use cuda_std::atomic::{self, Acquire, Block, Device, Global, Release, Shared};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp};

use crate::warp::WARP_LANES;

/// Threads in a block.
pub const BLOCK_THREADS: u32 = 256;
/// Blocks in the chain of [`pass_between_blocks`].
pub const N_LINKS: u32 = 16;

/// Warps in the chain of [`pass_between_warps`].
pub const BLOCK_WARPS: u32 = BLOCK_THREADS / WARP_LANES;

const _: () = assert!(BLOCK_THREADS.is_multiple_of(WARP_LANES));

/// Element `thread` of the message after `n_links` links: each adds its
/// number, counting from 1, and the element's.
pub const fn message(thread: u32, n_links: u32) -> u32 {
    n_links * (n_links + 1) / 2 + n_links * thread
}

/// Passes a message of [`BLOCK_THREADS`] elements from block to block.
///
/// # Safety
///
/// `data` holds [`BLOCK_THREADS`] zeros, `flags` a 0 for each block, and
/// `received` as many elements as the grid has threads. Launch with [`BLOCK`]
/// threads and any number of blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn pass_between_blocks(data: *mut u32, flags: *mut u32, received: *mut u32) {
    let (block, thread) = (thread::block_idx_x(), thread::thread_idx_x());
    if block > 0 {
        if thread == 0 {
            let flag = flags.add((block - 1) as usize);
            while atomic::load(flag, Global, Device, Acquire) == 0 {}
        }
        thread::sync_threads();
    }
    let element = data.add(thread as usize);
    let own = *element;
    *received.add(thread::index_1d() as usize) = own;
    *element = own + (block + 1) + thread;
    thread::sync_threads();
    if thread == 0 {
        atomic::store(flags.add(block as usize), 1, Global, Device, Release);
    }
}

/// Passes a message of 32 elements from warp to warp.
///
/// # Safety
///
/// `received` holds [`BLOCK_THREADS`] elements. Launch with [`BLOCK`] threads
/// and one block.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn pass_between_warps(received: *mut u32) {
    let data = shared_array![u32; WARP_LANES as usize];
    let flags = shared_array![u32; BLOCK_WARPS as usize];
    let thread = thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);
    if lane == 0 {
        *flags.add(warp as usize) = 0;
    }
    if warp == 0 {
        *data.add(lane as usize) = 0;
    }
    thread::sync_threads();

    if warp > 0 {
        if lane == 0 {
            let flag = flags.add((warp - 1) as usize);
            while atomic::load(flag, Shared, Block, Acquire) == 0 {}
        }
        sync_warp(FULL_MASK);
    }
    let element = data.add(lane as usize);
    let own = *element;
    *received.add(thread as usize) = own;
    *element = own + (warp + 1) + lane;
    sync_warp(FULL_MASK);
    if lane == 0 {
        atomic::store(flags.add(warp as usize), 1, Shared, Block, Release);
    }
}

/// Block of both kernels, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
/// Grid of [`pass_between_blocks`].
pub const GRID: [u32; 3] = [N_LINKS, 1, 1];

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn each_link_adds_its_number_and_the_elements() {
        for thread in [0, 1, 31] {
            let mut value = 0;
            for link in 0..20 {
                assert_eq!(message(thread, link), value);
                value += (link + 1) + thread;
            }
        }
    }
}
