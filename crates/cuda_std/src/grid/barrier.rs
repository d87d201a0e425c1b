//! A barrier of all threads of a launch, in kernels marked `#[kernel(cooperative)]`.
//!
//! A *cooperative* launch is one whose blocks are all resident at once, so that they may wait for
//! each other. The mark makes every launch of the kernel one; a launch with more blocks than fit is
//! refused. (The simulator has room for as many as an H200, apart from registers.)
//!
//! The driver gives such a launch a word for its blocks to meet at, where CUDA's
//! `this_grid().sync()` finds it too. Kernels launched by other means than `lockstep` need
//! `cuLaunchCooperativeKernel`.

use crate::atomic::{self, AcqRel, Acquire, Device, Global};
use crate::thread::{self, sync_threads};

/// Waits until all threads of the grid have arrived. Each of them reads after it what any of them
/// wrote before it.
///
/// Two block barriers, and an atomic of one thread per block, which then waits for all others: a
/// few microseconds.
///
/// # Panics
///
/// The launch is not cooperative.
///
/// # Safety
///
/// All threads of all blocks reach this very call: it is not in a branch or a loop that only some of
/// them take, and none has ended.
#[inline(always)]
#[track_caller]
pub unsafe fn sync() {
    let barrier = barrier();
    assert!(
        !barrier.is_null(),
        "`grid::sync` is for kernels marked `#[kernel(cooperative)]`"
    );
    let (grid, block) = (thread::grid_dim(), thread::block_idx());
    // Together the blocks add 2³¹: the top bit flips when the last of them arrives.
    let share = if block.x | block.y | block.z == 0 {
        TOP_BIT - (grid.x * grid.y * grid.z - 1)
    } else {
        1
    };
    // SAFETY: the barrier is the launch's own; threads of a block meet as the caller promises.
    unsafe {
        // The block's writes come before the arrival of its thread 0, and its reads after that
        // thread has seen the last arrival.
        sync_threads();
        if thread::index_in_block() == 0 {
            let before = atomic::add(barrier, share, Global, Device, AcqRel);
            while (atomic::load(barrier, Global, Device, Acquire) ^ before) & TOP_BIT == 0 {}
        }
        sync_threads();
    }
}

const TOP_BIT: u32 = 1 << 31;

/// The word that the launch's blocks arrive at; null if the launch is not cooperative. The driver
/// puts the address of its workspace into two registers; the word is the second in there.
#[crate::gpu_only]
#[inline(always)]
fn barrier() -> *mut u32 {
    let (high, low): (u32, u32);
    // SAFETY: reads registers.
    unsafe {
        ptx!(
            "mov.u32 {high}, %envreg1;",
            "mov.u32 {low}, %envreg2;",
            high = out(reg32) high, low = out(reg32) low, options(pure, nomem)
        );
    }
    let workspace = (u64::from(high) << 32 | u64::from(low)) as *mut u32;
    if workspace.is_null() {
        workspace
    } else {
        workspace.wrapping_add(1)
    }
}
