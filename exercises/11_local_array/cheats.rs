//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Reads everything again for each digit.
///
/// fails: count: not once for each digit
#[kernel]
pub unsafe fn four_passes(values: *const u32, out: *mut u32, n_threads: u32) {
    let t = thread::index_1d();
    if t >= n_threads {
        return;
    }
    for digit in 0..4 {
        let mut count = 0;
        for k in 0..16 {
            let value = core::ptr::read_volatile(values.add((k * n_threads + t) as usize));
            count += u32::from(value % 4 == digit);
        }
        *out.add((digit * n_threads + t) as usize) = count;
    }
}

/// The counters in shared memory.
///
/// fails: count: much nearer than local memory
#[kernel]
pub unsafe fn shared_array(values: *const u32, out: *mut u32, n_threads: u32) {
    let all = shared_array![u32; 512];
    let t = thread::index_1d();
    if t >= n_threads {
        return;
    }
    let counts = all.add(thread::thread_idx_x() as usize);
    for digit in 0..4 {
        *counts.add(128 * digit) = 0;
    }
    for k in 0..16 {
        let digit = *values.add((k * n_threads + t) as usize) % 4;
        *counts.add(128 * digit as usize) += 1;
    }
    for digit in 0..4 {
        *out.add((digit * n_threads + t) as usize) = *counts.add(128 * digit as usize);
    }
}
