//! # The data is there, isn't it?
//!
//! A message of 64 numbers goes from block to block. Each block waits for the flag of the block
//! before it, adds 1 to each number, and sets its own flag:
//!
//! ```text
//!   block 0                 block 1                        block 2
//!   data += 1
//!   flags[0] = 1   ───→     while flags[0] == 0 {}
//!                           data += 1
//!                           flags[1] = 1         ───→      …
//! ```
//!
//! Flags are set and read by atomic accesses. The data is not, and it takes a different way through
//! memory.
//!
//! **Predict:** block 1 sees flag 1. Which of the data of block 0 must it see?
//!
//! **Change** the orders of the two atomic accesses. The orders are `Relaxed`, `Acquire` and
//! `Release`; the scopes are `Block`, `Device` and `System`.

use cuda_std::atomic::{self, Acquire, Block, Device, Global, Relaxed, Release};
use cuda_std::prelude::*;

/// # Safety
///
/// `data` holds 64 elements, `flags` a zero for each block. Blocks have 64 threads.
#[kernel]
pub unsafe fn pass_on(data: *mut u32, flags: *mut u32, n_blocks: u32) {
    let (block, t) = (
        thread::block_idx_x() as usize,
        thread::thread_idx_x() as usize,
    );
    if block > 0 && t == 0 {
        while atomic::load(flags.add(block - 1), Global, Block, Relaxed) == 0 {}
    }
    thread::sync_threads();
    *data.add(t) += 1;
    thread::sync_threads();
    if t == 0 {
        atomic::store(flags.add(block), 1, Global, Block, Relaxed);
    }
}
