//! Barriers in shared memory (`mbarrier`): some threads arrive, others wait, and
//! no thread has to do both.
//!
//! [`thread::sync_threads`](crate::thread::sync_threads) makes all threads wait for
//! all others. Here a thread that has filled a buffer *arrives* and goes on, and only
//! the threads that want to read it wait; when they have read it, they arrive at another
//! barrier, at which the next thread to fill the buffer waits.
//!
//! A barrier is 8 bytes of shared memory. It counts arrivals; when there have been as many
//! as [`init`] set, its *phase* ends, and it counts anew. Phases are distinguished by
//! parity: [`has_ended`]`(barrier, parity)` is true once the phase of that parity is
//! over and the next one runs. So before any thread has arrived, phase 0 has not ended,
//! and the one "before" it, of parity 1, has.
//!
//! What a thread did before it arrived is visible to those that found the phase ended.
//!
//! All functions take the barrier's address in the shared space
//! ([`address_in_space`](crate::shared::address_in_space)).
//!
//! From sm_90 on a phase also counts bytes: [`arrive_expecting`] sets how many will come,
//! a bulk copy ([`bulk`](crate::bulk)) subtracts those it has brought, and the phase ends when
//! no arrival and no byte is missing. And a barrier may belong to another block of the cluster
//! ([`arrive_if`], [`arrive_at_if`]).
//!
//! Left out: waiting for a phase by its state instead of its parity.

use crate::gpu_only;

/// Whether a phase has ended, by one of the instructions that test it.
#[cfg(target_arch = "nvptx64")]
macro_rules! ask {
    ($instruction:literal, $barrier:expr, $parity:expr) => {{
        let ended: u32;
        ptx!(
            "{{",
            ".reg .pred ended;",
            concat!("mbarrier.", $instruction, ".parity.shared.b64 ended, [{barrier}], {parity};"),
            "selp.u32 {ended}, 1, 0, ended;",
            "}}",
            barrier = in(reg32) $barrier,
            parity = in(reg32) $parity,
            ended = out(reg32) ended
        );
        ended != 0
    }};
}

/// Initialises a barrier whose phases end after `n_arrivals`. Other threads may use it
/// after a [`sync_threads`](crate::thread::sync_threads).
///
/// # Safety
///
/// `barrier` is the address of 8 bytes of shared memory, a multiple of 8, that hold
/// no barrier in use.
#[gpu_only]
#[inline(always)]
pub unsafe fn init(barrier: u32, n_arrivals: u32) {
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "mbarrier.init.shared.b64 [{barrier}], {n};",
            barrier = in(reg32) barrier, n = in(reg32) n_arrivals
        );
    }
}

/// Arrives.
///
/// # Safety
///
/// `barrier` is the address of a barrier.
#[gpu_only]
#[inline(always)]
pub unsafe fn arrive(barrier: u32) {
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "{{",
            ".reg .b64 state;",
            "mbarrier.arrive.shared.b64 state, [{barrier}];",
            "}}",
            barrier = in(reg32) barrier
        );
    }
}

/// Arrives once all copies ([`cp_async`](crate::cp_async)) that this thread has
/// started are done. The thread goes on at once.
///
/// # Safety
///
/// As [`arrive`].
#[gpu_only]
#[inline(always)]
pub unsafe fn arrive_after_copies(barrier: u32) {
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!("cp.async.mbarrier.arrive.noinc.shared.b64 [{barrier}];", barrier = in(reg32) barrier);
    }
}

/// Whether the phase of this parity (0 or 1) has ended.
///
/// # Safety
///
/// As [`arrive`]; and the phase is the current one or the one before it.
#[gpu_only]
#[inline(always)]
pub unsafe fn has_ended(barrier: u32, parity: u32) -> bool {
    // SAFETY: by this function's own contract.
    unsafe { ask!("test_wait", barrier, parity) }
}

/// Waits until the phase of this parity has ended.
///
/// # Safety
///
/// As [`has_ended`].
#[gpu_only]
#[inline(always)]
pub unsafe fn wait(barrier: u32, parity: u32) {
    // SAFETY: by this function's own contract.
    while !unsafe { may_have_ended(barrier, parity) } {}
}

/// [`has_ended`], which may let the thread sleep for a while before it returns false.
#[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
#[inline(always)]
unsafe fn may_have_ended(barrier: u32, parity: u32) -> bool {
    // SAFETY: as in `has_ended`.
    unsafe { ask!("try_wait", barrier, parity) }
}

#[cfg(all(target_arch = "nvptx64", not(target_feature = "sm_90")))]
use has_ended as may_have_ended;

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
pub use since_sm_90::*;

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
mod since_sm_90 {
    use crate::gpu_only;

    /// Makes barriers that this thread has initialised ([`init`](super::init)) known to bulk copies
    /// and to the other blocks of the cluster. These may use them after a barrier that follows.
    #[gpu_only]
    #[inline(always)]
    pub fn publish() {
        // SAFETY: it only orders accesses.
        unsafe {
            ptx!("fence.mbarrier_init.release.cluster;", "fence.proxy.async;");
        }
    }

    /// Arrives, and announces this many more bytes for this phase. It ends only when
    /// bulk copies have brought them.
    ///
    /// # Safety
    ///
    /// `barrier` is the address of a barrier of this block. Copies that complete at it bring
    /// exactly this many bytes, at most 2²⁰ − 1 in a phase.
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn arrive_expecting(barrier: u32, n_bytes: u32) {
        // SAFETY: by this function's own contract.
        unsafe {
            ptx!(
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [{barrier}], {n_bytes};",
                barrier = in(reg32) barrier, n_bytes = in(reg32) n_bytes
            );
        }
    }

    /// [`arrive`](super::arrive), or nothing, without a branch.
    ///
    /// # Safety
    ///
    /// As [`arrive`](super::arrive).
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn arrive_if(condition: bool, barrier: u32) {
        // SAFETY: by this function's own contract.
        unsafe {
            ptx!(
                "{{",
                ".reg .pred p;",
                "setp.ne.u32 p, {condition}, 0;",
                "@p mbarrier.arrive.shared::cta.b64 _, [{barrier}];",
                "}}",
                condition = in(reg32) condition as u32, barrier = in(reg32) barrier
            );
        }
    }

    /// Arrives at the barrier that block `rank` of the cluster has at this address, or does
    /// nothing, without a branch.
    ///
    /// # Safety
    ///
    /// The cluster has the block, which has not ended, and has a barrier there.
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn arrive_at_if(condition: bool, barrier: u32, rank: u32) {
        // SAFETY: by this function's own contract.
        unsafe {
            ptx!(
                "{{",
                ".reg .pred p;",
                ".reg .b32 theirs;",
                "setp.ne.u32 p, {condition}, 0;",
                "@p mapa.shared::cluster.u32 theirs, {barrier}, {rank};",
                "@p mbarrier.arrive.shared::cluster.b64 _, [theirs];",
                "}}",
                condition = in(reg32) condition as u32, barrier = in(reg32) barrier,
                rank = in(reg32) rank
            );
        }
    }
}
