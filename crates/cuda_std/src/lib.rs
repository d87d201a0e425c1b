//! Device library: indices, barriers, shuffles, shared memory, atomics.
#![no_std]

#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
