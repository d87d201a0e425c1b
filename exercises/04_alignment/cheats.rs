//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Begins on a sector boundary, but also writes what comes before `first`.
///
/// fails: result: y[0] is
#[kernel]
pub unsafe fn from_the_beginning(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let i = first / 8 * 8 + thread::index_1d();
    if i < n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}

/// Begins at a multiple of 32, so the threads do not reach the end.
///
/// fails: result: y[256] is
#[kernel]
pub unsafe fn too_early(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let i = first / 32 * 32 + thread::index_1d();
    if i >= first && i < n {
        *y.add(i as usize) = 2.0 * *x.add(i as usize);
    }
}

/// Each lane handles its element in one of two rounds, by its sector: few sectors per request, but
/// twice as many requests.
///
/// fails: count: and one more
#[kernel]
pub unsafe fn two_requests(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let i = first + thread::index_1d();
    for round in 0..2 {
        if i < n && i / 8 % 2 == round {
            let value = core::ptr::read_volatile(x.add(i as usize));
            core::ptr::write_volatile(y.add(i as usize), 2.0 * value);
        }
    }
}
