//! Processes that fork.
//!
//! A child has its parent's memory but none of its threads: work that those had begun would never
//! be finished there, and waiting for it would never end. So, as on a GPU, a process's children
//! cannot use a driver that the process has initialized.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a process before this one has initialized the driver.
static IS_LOST: AtomicBool = AtomicBool::new(false);
/// Whether this process's children will learn of it.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Functions that need no initialized driver.
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
        // SAFETY: the function can be called in any child.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}

/// Whether the driver in this process's memory belongs to another process.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Whether a function cannot work because the driver belongs to another process.
pub(crate) fn is_lost_to(function: &str) -> bool {
    is_lost() && !NEED_NONE.contains(&function)
}
