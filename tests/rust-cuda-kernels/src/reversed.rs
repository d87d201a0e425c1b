//! A kernel of its module's name.

use cuda_std::{kernel, thread};

/// The numbers in reverse.
#[kernel]
pub unsafe fn reversed(from: &[u128], to: *mut u128) {
    let i = thread::index_1d() as usize;
    if i < from.len() {
        unsafe { *to.add(i) = from[from.len() - 1 - i] };
    }
}
