//! Four warps that share instructions: products of tiles ([`wgmma`](crate::wgmma)), and
//! registers that change hands. Hopper's own (sm_90a), which no later architecture takes over as
//! they are.
//!
//! A launch gives every thread as many registers. Where warps do different work,
//! some can give theirs up, and others take them. All warps of a warpgroup (warps
//! 4·i to 4·i + 3 of a block) do so together, each at the same place of the program.
//!
//! The assembler (ptxas) must know what it may use: the kernel has launch bounds with
//! a number of blocks, and what a role does is all in one branch, which begins with
//! the call.

use crate::{gpu_only, thread, warp};

/// Threads of a warpgroup.
pub const SIZE: u32 = 128;

/// LLVM's names.
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

/// Takes registers until every thread has `N`; waits until others have given up as
/// many.
///
/// # Safety
///
/// All threads of a warpgroup call it together. `N` is a multiple of 8 from 24 to
/// 256, and no less than a thread has.
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
/// As [`take_registers`], with `N` no more than a thread has.
#[gpu_only]
#[inline(always)]
pub unsafe fn give_registers<const N: u32>() {
    // SAFETY: by this function's own contract.
    unsafe { llvm::decrease(N) }
}

/// The number of this thread's warpgroup in its block. The assembler knows that it is the same in
/// all lanes, and so is what is computed from it.
///
/// # Safety
///
/// All 32 lanes of the warp call it together, in a block of one axis.
#[inline(always)]
pub unsafe fn index() -> u32 {
    // SAFETY: by this function's own contract.
    unsafe { warp::broadcast(thread::thread_idx_x() / SIZE) }
}

/// Waits for the other threads of the warpgroup, and for none else. `barrier` is one of the
/// block's 16 barriers; 0 is that of [`sync_threads`](crate::thread::sync_threads).
///
/// # Safety
///
/// All threads of the warpgroup call it together, and nobody else uses this barrier.
#[gpu_only]
#[inline(always)]
pub unsafe fn sync(barrier: u32) {
    // SAFETY: by this function's own contract.
    unsafe { llvm::barrier(barrier as i32, SIZE as i32) }
}
