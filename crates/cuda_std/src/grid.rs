//! Launches that follow one another without a gap (*programmatic dependent
//! launch*).
//!
//! Launches of one stream run one after the other: none starts before the last
//! block of the one before it has ended and all it wrote is visible. Between
//! them the device does nothing for a microsecond or more, and first and last
//! blocks have much of it to themselves. A kernel that is marked
//! `#[kernel(early)]` may start earlier. Then there are two calls:
//!
//! ```text
//!   first   ┤ … all blocks have called let_next_start ……… last block ends ├ visible
//!   second                     ├ starts, prepares … wait_for_previous ┄┄┄┄┄┤ works …
//! ```
//!
//! - [`wait_for_previous`], in the second: returns when the launch before it has
//!   ended and its memory is visible. **Every thread of an early kernel calls it**,
//!   before it reads anything that an earlier launch may write, and before it
//!   writes anything that an earlier launch may still use. That goes for *all*
//!   launches before it: the one just before has itself waited for the one before
//!   that, and so on, but only if its threads have.
//! - [`let_next_start`], in the first: when all its blocks have called it or
//!   ended, the next may start, if it is an early one. It promises nothing about
//!   what the first writes. Without it the next starts when all blocks have ended,
//!   which saves less.
//!
//! In which order a kernel makes the two calls matters to the next. If every thread
//! waits first, then the next kernel starts after the launch *before the last* has
//! ended, and may read what that one and those before it left without waiting.
//!
//! Loads through the read-only path ([`ldg`](crate::ldg)) are not for what an earlier
//! launch may write: it writes while this one has already started, and the compiler
//! may move such loads to before the wait. An ordinary load stays behind it.
//!
//! What a kernel does before it waits should be small: its blocks stand where
//! blocks of the one before could.
//!
//! Hopper (sm_90) and later can do it. Compiled for less, both calls are nothing,
//! and so they are on the simulator, where launches run one after the other
//! anyway; a launch that is not allowed to start early finds its wait over at
//! once. So one source is right everywhere.

/// Waits until the launches before this one in the stream have ended, and what
/// they wrote is visible (`griddepcontrol.wait`).
#[inline(always)]
pub fn wait_for_previous() {
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    // SAFETY: waits. Not `nomem`, so that no access moves to before it.
    unsafe {
        core::arch::asm!("griddepcontrol.wait;", options(nostack, preserves_flags));
    }
}

/// Lets the next launch of the stream start, if it is an early one, as soon as all
/// blocks of this one have called it or ended
/// (`griddepcontrol.launch_dependents`).
#[inline(always)]
pub fn let_next_start() {
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    // SAFETY: touches no memory of the kernel's.
    unsafe {
        core::arch::asm!(
            "griddepcontrol.launch_dependents;",
            options(nostack, preserves_flags)
        );
    }
}
