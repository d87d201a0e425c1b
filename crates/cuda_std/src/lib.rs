//! Device library: indices, barriers, shuffles, shared memory, atomics.
#![no_std]
