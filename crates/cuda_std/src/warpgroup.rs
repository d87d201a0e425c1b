//! Warpgroups: four warps that share instructions, namely products of tiles
//! ([`wgmma`](crate::wgmma)), and reallocation of registers. Specific to Hopper (sm_90a); no later
//! architecture keeps them unchanged.
//!
//! A launch gives every thread the same number of registers. If warps do different work,
//! some can give theirs up, and others take them. All warps of a warpgroup (warps
//! 4·i to 4·i + 3 of a block) do so together, each at the same point of the program.
//!
//! The assembler (ptxas) must know what it may use: the kernel has launch bounds with
//! a number of blocks, and all code of a role is in one branch, which begins with
//! the call.

use crate::{gpu_only, thread, warp};

/// Threads of a warpgroup.
pub const SIZE: u32 = 128;

/// LLVM's intrinsics.
#[cfg(target_arch = "nvptx64")]
mod llvm {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
        pub fn increase(n: u32);
        #[link_name = "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"]
        pub fn decrease(n: u32);
        #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
        pub fn barrier(id: i32, n_threads: i32);
    }
}

/// Takes registers until every thread has `N`; waits until others have given up that
/// many.
///
/// # Safety
///
/// All threads of a warpgroup call it together. `N` is a multiple of 8 from 24 to
/// 256, and at least as many as a thread has.
#[gpu_only]
#[inline(always)]
pub unsafe fn take_registers<const N: u32>() {
    // SAFETY: by this function's own contract.
    unsafe { llvm::increase(N) }
}

/// Gives registers up until every thread has `N` left.
///
/// # Safety
///
/// As [`take_registers`], with `N` at most as many as a thread has.
#[gpu_only]
#[inline(always)]
pub unsafe fn give_registers<const N: u32>() {
    // SAFETY: by this function's own contract.
    unsafe { llvm::decrease(N) }
}

/// The number of this thread's warpgroup in its block. The assembler knows that it is the same in
/// all lanes, as is everything computed from it.
///
/// # Safety
///
/// All 32 lanes of the warp call it together, in a block of one axis.
#[inline(always)]
pub unsafe fn index() -> u32 {
    // SAFETY: by this function's own contract.
    unsafe { warp::broadcast(thread::thread_idx_x() / SIZE, 0) }
}

/// Waits for the other threads of the warpgroup only. `barrier` is one of the
/// block's 16 barriers; 0 is that of [`sync_threads`](crate::thread::sync_threads).
///
/// # Safety
///
/// All threads of the warpgroup call it together, and no other thread uses this barrier.
#[gpu_only]
#[inline(always)]
pub unsafe fn sync(barrier: u32) {
    // SAFETY: by this function's own contract.
    unsafe { llvm::barrier(barrier as i32, SIZE as i32) }
}
