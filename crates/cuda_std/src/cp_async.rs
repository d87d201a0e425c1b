//! Asynchronous copies from global to shared memory (`cp.async`).
//!
//! The bytes do not pass through registers, and the thread goes on at once.
//! They are in shared memory only after a wait: copies are gathered into a
//! group by [`commit_group`], groups complete in order, and [`wait_group`]
//! waits until no more than `N` of them are in flight. A wait is for the
//! copies of *this thread*; other threads see the bytes after a barrier that
//! follows it.
//!
//! ```
//! # use cuda_std::vector::UInt4;
//! # use cuda_std::{cp_async, thread};
//! # unsafe fn example(chunk: *mut UInt4, input: *const f32, offset: usize) { unsafe {
//! cp_async::cg(chunk, input.add(offset).cast::<UInt4>());
//! cp_async::commit_group();
//! // … work that does not need the tile …
//! cp_async::wait_group::<0>();
//! thread::sync_threads();
//! # } }
//! ```
//!
//! | function | bytes | way |
//! |---|---|---|
//! | [`ca`] | 4, 8, 16 | through the first-level cache |
//! | [`cg`] | 16 | past it; the counters show no bank conflicts for the shared-memory write |
//!
//! [`ca_or_zeros`] and [`cg_or_zeros`] write zeros instead where there is nothing
//! to copy: beyond a matrix's edge, for example. [`cg_first`] copies the first of 16
//! bytes and writes zeros for the rest, where a row ends within them. They take the
//! target as an address in the shared space, which stays a 32-bit number.
//!
//! Left out: cache hints.

use crate::gpu_only;

/// A `cp.async` with `shared` as the address in the shared space, `global` as that in the
/// global space, and more operands.
#[cfg(target_arch = "nvptx64")]
macro_rules! start_copy {
    ($copy:literal, $shared:expr, $global:expr, $($operands:tt)*) => {
        core::arch::asm!(
            "{{",
            ".reg .b64 global;",
            "cvta.to.global.u64 global, {global};",
            $copy,
            "}}",
            shared = in(reg32) $shared,
            global = in(reg64) $global,
            $($operands)*
            options(nostack, preserves_flags)
        )
    };
}

/// Starts a copy of one `V`, of 4, 8 or 16 bytes, through the first-level cache.
///
/// # Safety
///
/// `shared` points to the block's shared memory and `global` to global memory,
/// both aligned to `V`'s size and valid for it; nothing reads or writes the
/// former until a wait has completed the copy.
#[gpu_only]
#[inline(always)]
pub unsafe fn ca<V: Copy>(shared: *mut V, global: *const V) {
    const {
        assert!(
            matches!(size_of::<V>(), 4 | 8 | 16),
            "cp.async.ca copies 4, 8 or 16 bytes"
        );
    }
    // SAFETY: by this function's own contract.
    unsafe {
        start_copy!(
            "cp.async.ca.shared.global [{shared}], [global], {bytes};",
            crate::shared::address_in_space(shared),
            global,
            bytes = const size_of::<V>(),
        );
    }
}

/// Starts a copy of one `V`, of 16 bytes, past the first-level cache.
///
/// # Safety
///
/// As [`ca`].
#[gpu_only]
#[inline(always)]
pub unsafe fn cg<V: Copy>(shared: *mut V, global: *const V) {
    const { assert!(size_of::<V>() == 16, "cp.async.cg copies 16 bytes") }
    // SAFETY: by this function's own contract.
    unsafe {
        start_copy!(
            "cp.async.cg.shared.global [{shared}], [global], 16;",
            crate::shared::address_in_space(shared),
            global,
        );
    }
}

/// Starts a copy of one `V`, as [`ca`], or of zeros of the same size if not `exists`;
/// then nothing is read.
///
/// # Safety
///
/// As [`ca`], with `shared` the address in the shared space; `global` need not be
/// valid if not `exists`.
#[gpu_only]
#[inline(always)]
pub unsafe fn ca_or_zeros<V: Copy>(shared: u32, global: *const V, exists: bool) {
    const {
        assert!(
            matches!(size_of::<V>(), 4 | 8 | 16),
            "cp.async.ca copies 4, 8 or 16 bytes"
        );
    }
    // SAFETY: by this function's own contract.
    unsafe {
        start_copy!(
            "cp.async.ca.shared.global [{shared}], [global], {bytes}, {source_bytes};",
            shared,
            global,
            bytes = const size_of::<V>(),
            source_bytes = in(reg32) if exists { size_of::<V>() as u32 } else { 0 },
        );
    }
}

/// Starts a copy of one `V`, as [`cg`], or of zeros of the same size if not `exists`;
/// then nothing is read.
///
/// # Safety
///
/// As [`ca_or_zeros`].
#[gpu_only]
#[inline(always)]
pub unsafe fn cg_or_zeros<V: Copy>(shared: u32, global: *const V, exists: bool) {
    const { assert!(size_of::<V>() == 16, "cp.async.cg copies 16 bytes") }
    // SAFETY: by this function's own contract.
    unsafe {
        start_copy!(
            "cp.async.cg.shared.global [{shared}], [global], 16, {source_bytes};",
            shared,
            global,
            source_bytes = in(reg32) if exists { 16_u32 } else { 0 },
        );
    }
}

/// Starts a copy of the first `n_bytes` of a `V` of 16 bytes, as [`cg`]; the rest of
/// the 16 become zeros.
///
/// # Safety
///
/// As [`ca_or_zeros`]; `n_bytes` is at most 16, and `global` need only be valid for that many.
#[gpu_only]
#[inline(always)]
pub unsafe fn cg_first<V: Copy>(shared: u32, global: *const V, n_bytes: u32) {
    const { assert!(size_of::<V>() == 16, "cp.async.cg copies 16 bytes") }
    // SAFETY: by this function's own contract.
    unsafe {
        start_copy!(
            "cp.async.cg.shared.global [{shared}], [global], 16, {n_bytes};",
            shared,
            global,
            n_bytes = in(reg32) n_bytes,
        );
    }
}

/// Closes a group: all copies that this thread has started since the last one.
#[gpu_only]
#[inline(always)]
pub fn commit_group() {
    // SAFETY: touches no memory itself; ordered with the copies as an
    // instruction with effects.
    unsafe { ptx!("cp.async.commit_group;") }
}

/// Waits until at most the `N` most recent of this thread's groups are in flight.
#[gpu_only]
#[inline(always)]
pub fn wait_group<const N: u32>() {
    // SAFETY: after it, shared memory has changed, which the compiler expects
    // of assembly that is not marked otherwise.
    unsafe { ptx!("cp.async.wait_group {n};", n = const N) }
}

/// Waits for all copies that this thread started, in groups or not.
#[gpu_only]
#[inline(always)]
pub fn wait_all() {
    // SAFETY: as in `wait_group`.
    unsafe { ptx!("cp.async.wait_all;") }
}
