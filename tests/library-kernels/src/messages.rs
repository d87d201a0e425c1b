//! Kernels that panic, with `cuda_std`'s feature `panic-messages`.

use cuda_std::prelude::*;

/// Panics with a constant message where `x` is 0.
#[kernel]
pub unsafe fn message_of_an_assertion(x: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    assert!(x[i] != 0, "x must not be 0");
    *out.add(i) = x[i];
}

/// Panics with numbers in its message where `x` is 0.
#[kernel]
pub unsafe fn message_with_numbers(x: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    assert_ne!(x[i], 0, "thread {i} of {}", x.len());
    *out.add(i) = x[i];
}

/// Reads past the end of its slice from thread `x.len()` on.
#[kernel]
pub unsafe fn message_of_an_index(x: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    *out.add(i) = x[i];
}

/// Panics with a message that is longer than a record's field where `x` is 0.
#[kernel]
pub unsafe fn message_that_is_long(x: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    if x[i] == 0 {
        panic!("{:>255}{}", "a", "ßß");
    }
    *out.add(i) = x[i];
}
