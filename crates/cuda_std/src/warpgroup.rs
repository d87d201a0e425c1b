//! Four warps that share instructions: registers that change hands. Hopper's own
//! (sm_90a), which no later architecture takes over as they are.
//!
//! A launch gives every thread as many registers. Where warps do different work,
//! some can give theirs up, and others take them. All warps of a warpgroup (warps
//! 4·i to 4·i + 3 of a block) do so together, each at the same place of the program.
//!
//! The assembler (ptxas) must know what it may use: the kernel has launch bounds with
//! a number of blocks, and what a role does is all in one branch, which begins with
//! the call.

use crate::gpu_only;

/// LLVM's names.
#[cfg(target_arch = "nvptx64")]
mod llvm {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
        pub fn increase(n: u32);
        #[link_name = "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"]
        pub fn decrease(n: u32);
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
