//! Processes that fork.
//!
//! A child has its parent's memory and none of its threads: work that those had begun would
//! never be done there, and who waits for it would wait for ever. So it is as on a GPU: a driver
//! that a process has initialized, none of its children can use.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a process before this one has initialized the driver.
static IS_LOST: AtomicBool = AtomicBool::new(false);
/// Whether this one's children are told.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// What needs no driver that is initialized.
const NEED_NONE: [&str; 6] = [
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGetExportTable",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
];

/// From here on the driver is lost to children of this process. To be called before there is
/// anything to lose.
pub(crate) fn watch() {
    extern "C" fn in_child() {
        IS_LOST.store(true, Ordering::Relaxed);
    }
    if !IS_WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: The function can be called in any child.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}

/// Whether the driver that this process has memory of is another's.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Whether a function cannot do what it is for, because the driver is another process's.
pub(crate) fn is_lost_to(function: &str) -> bool {
    is_lost() && !NEED_NONE.contains(&function)
}
