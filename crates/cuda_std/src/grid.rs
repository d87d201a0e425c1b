//! The whole launch: a barrier of all its blocks ([`sync`]), and launches that follow one another
//! without a gap, *programmatic dependent launch* (PDL).
//!
//! Launches of one stream run one after the other: none starts before the last
//! block of the previous one has ended and everything it wrote is visible. Between
//! them the device is idle for a microsecond or more, and the first and last
//! blocks have much of it to themselves. A kernel that is marked
//! `#[kernel(pdl)]` may start earlier. Then there are two calls:
//!
//! ```text
//!   first   ┤ … all blocks have called let_next_start ……… last block ends ├ visible
//!   second                     ├ starts, prepares … wait_for_previous ┄┄┄┄┄┤ works …
//! ```
//!
//! - [`wait_for_previous`], in the second: returns when the previous launch has
//!   ended and its memory is visible. **Every thread of a `pdl` kernel calls it**,
//!   before it reads anything that an earlier launch may write, and before it
//!   writes anything that an earlier launch may still use. That holds for *all*
//!   earlier launches: the previous one has itself waited for the one before
//!   that, and so on, but only if its threads have.
//! - [`let_next_start`], in the first: when all its blocks have called it or
//!   ended, the next may start, if it is a `pdl` kernel. It promises nothing about
//!   what the first writes. Without it the next starts when all blocks have ended,
//!   which saves less.
//!
//! The order in which a kernel makes the two calls matters to the next one. If every thread
//! waits first, then the next kernel starts after the launch *before the last* has
//! ended, and may read the results of that launch and earlier ones without waiting.
//!
//! Loads through the read-only path ([`ldg`](crate::ldg)) are not for memory that an earlier
//! launch may write: it may do so after this one has started, and the compiler
//! may move such loads before the wait. An ordinary load stays after it.
//!
//! A kernel should do little before it waits: its blocks take the place of
//! blocks of the previous launch.
//!
//! This needs Hopper (sm_90) or later. Compiled for less, both calls do nothing,
//! as on the simulator, where launches run one after the other
//! anyway; in a launch that is not allowed to start early the wait returns at
//! once. So one source is right everywhere.

mod barrier;

pub use barrier::sync;

/// Waits until the previous launches in the stream have ended, and what
/// they wrote is visible (`griddepcontrol.wait`).
#[inline(always)]
pub fn wait_for_previous() {
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    // SAFETY: waits. Not `nomem`, so that no access moves before it.
    unsafe {
        ptx!("griddepcontrol.wait;")
    }
}

/// Lets the next launch of the stream start, if it uses PDL, as soon as all
/// blocks of this one have called it or ended
/// (`griddepcontrol.launch_dependents`).
#[inline(always)]
pub fn let_next_start() {
    #[cfg(all(target_arch = "nvptx64", target_feature = "sm_90"))]
    // SAFETY: touches no memory of the kernel's.
    unsafe {
        ptx!("griddepcontrol.launch_dependents;")
    }
}
