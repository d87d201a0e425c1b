//! Clusters: blocks that run at the same time and can access each other's shared memory. From
//! sm_90 on.
//!
//! A launch sets how many blocks are in a cluster (`LaunchConfig::with_cluster`). They run
//! at the same time, each on an SM of its own, and an address of shared memory can be mapped
//! to any of them: [`address_at`] gives the same place in another block. That can be read and
//! written, a barrier in memory can be arrived at
//! ([`mbarrier::arrive_at_if`](crate::mbarrier::arrive_at_if)), and one bulk copy can bring the
//! same bytes to several blocks ([`bulk`](crate::bulk)).
//!
//! A block's shared memory is gone once the block has ended. So a block that others may still
//! access waits for them at the end: [`sync`].
//!
//! Source: PTX ISA, `barrier.cluster`, `mapa`.

use crate::gpu_only;
use crate::vector::Float4;

/// LLVM's intrinsics.
#[cfg(target_arch = "nvptx64")]
mod llvm {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
        pub fn arrive();
        #[link_name = "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned"]
        pub fn arrive_relaxed();
        #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
        pub fn wait();
        #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.ctarank"]
        pub safe fn rank() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.nctarank"]
        pub safe fn n_blocks() -> u32;
    }
}

/// The block's number in its cluster, from 0. In a launch without clusters it is 0.
#[gpu_only]
#[inline(always)]
pub fn rank() -> u32 {
    llvm::rank()
}

/// Blocks in a cluster.
#[gpu_only]
#[inline(always)]
pub fn n_blocks() -> u32 {
    llvm::n_blocks()
}

/// Arrives at the cluster's barrier. All threads of the cluster see what this thread has done
/// before it, after their [`wait`].
///
/// # Safety
///
/// All threads of the warp call it together, and each calls [`wait`] before the next `arrive`.
#[gpu_only]
#[inline(always)]
pub unsafe fn arrive() {
    // SAFETY: by this function's own contract.
    unsafe { llvm::arrive() }
}

/// [`arrive`] for a thread that has written nothing for others, and only signals that
/// it has come this far: it does not wait for its own stores to become visible. Its accesses to
/// another block's shared memory may still be on their way, so no block may end relying on it.
///
/// # Safety
///
/// As [`arrive`].
#[gpu_only]
#[inline(always)]
pub unsafe fn arrive_relaxed() {
    // SAFETY: by this function's own contract.
    unsafe { llvm::arrive_relaxed() }
}

/// Waits until every thread of the cluster that has not ended has arrived.
///
/// # Safety
///
/// All threads of the warp call it together, after [`arrive`].
#[gpu_only]
#[inline(always)]
pub unsafe fn wait() {
    // SAFETY: by this function's own contract.
    unsafe { llvm::wait() }
}

/// Waits for all threads of the cluster: [`arrive`] and [`wait`].
///
/// # Safety
///
/// All threads of the warp call it together.
#[inline(always)]
pub unsafe fn sync() {
    // SAFETY: by this function's own contract.
    unsafe {
        arrive();
        wait();
    }
}

/// The address in block `rank` of the cluster that corresponds to this block's `address`: an
/// address in the space `shared::cluster`.
#[gpu_only]
#[inline(always)]
pub fn address_at(address: u32, rank: u32) -> u32 {
    let theirs: u32;
    // SAFETY: arithmetic on an address; no memory is touched.
    unsafe {
        ptx!(
            "mapa.shared::cluster.u32 {theirs}, {address}, {rank};",
            theirs = out(reg32) theirs, address = in(reg32) address, rank = in(reg32) rank,
            options(pure, nomem)
        );
    }
    theirs
}

/// The `u32` at an address of another block's shared memory ([`address_at`]).
///
/// # Safety
///
/// The cluster has the block, which has not ended; the four bytes there were written before
/// a [`sync`], and nothing writes them in the meantime.
#[gpu_only]
#[inline(always)]
pub unsafe fn load_u32(theirs: u32) -> u32 {
    let value: u32;
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "ld.shared::cluster.u32 {value}, [{theirs}];",
            value = out(reg32) value, theirs = in(reg32) theirs, options(readonly)
        );
    }
    value
}

/// The four `f32` at an address of another block's shared memory ([`address_at`]), in one access.
///
/// # Safety
///
/// As [`load_u32`], with 16 bytes at a multiple of 16.
#[gpu_only]
#[inline(always)]
pub unsafe fn load_float4(theirs: u32) -> Float4 {
    let (x, y, z, w): (f32, f32, f32, f32);
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "ld.shared::cluster.v4.f32 {{{x}, {y}, {z}, {w}}}, [{theirs}];",
            x = out(reg32) x, y = out(reg32) y, z = out(reg32) z, w = out(reg32) w,
            theirs = in(reg32) theirs, options(readonly)
        );
    }
    Float4::new(x, y, z, w)
}

/// Writes a `u32` to an address of another block's shared memory ([`address_at`]).
///
/// # Safety
///
/// The cluster has the block, which has not ended; there are four bytes there, and nothing
/// accesses them until a [`sync`].
#[gpu_only]
#[inline(always)]
pub unsafe fn store_u32(theirs: u32, value: u32) {
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "st.shared::cluster.u32 [{theirs}], {value};",
            theirs = in(reg32) theirs, value = in(reg32) value
        );
    }
}
