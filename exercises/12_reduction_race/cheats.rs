//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Threads per block, and elements that a block adds up.
const BLOCK: u32 = 256;

/// A barrier for the adding threads only.
///
/// fails: barrier: only the adding threads
#[kernel]
pub unsafe fn barrier_in_the_branch(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; 256];
    let t = thread::thread_idx_x();
    let own = line.add(t as usize);
    *own = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    let mut stride = 128;
    while stride > 0 {
        if t < stride {
            *own += *own.add(stride as usize);
            thread::sync_threads();
        }
        stride /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = *own;
    }
}

/// Thread 0 adds up the line.
///
/// fails: count: Eight rounds are enough
#[kernel]
pub unsafe fn one_thread(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; 256];
    let t = thread::thread_idx_x();
    *line.add(t as usize) = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    if t == 0 {
        let mut sum = 0;
        for i in 0..256 {
            sum += core::ptr::read_volatile(line.add(i));
        }
        *sums.add(thread::block_idx_x() as usize) = sum;
    }
}

/// Volatile accesses instead of the barrier: no race, but no order either.
///
/// fails: result: They order nothing between threads
#[kernel]
pub unsafe fn volatile(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; BLOCK as usize];
    let t = thread::thread_idx_x();
    let own = line.add(t as usize);
    *own = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    let mut stride = BLOCK / 2;
    while stride > 0 {
        if t < stride {
            let other = own.add(stride as usize).read_volatile();
            own.write_volatile(own.read_volatile() + other);
        }
        stride /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = *own;
    }
}

/// Barriers only while several warps add: a warp alone gets it right in the usual order.
///
/// fails: race: in the previous round
#[kernel]
pub unsafe fn warps_alone(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; 256];
    let t = thread::thread_idx_x();
    let own = line.add(t as usize);
    *own = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    let mut stride = 128;
    while stride > 0 {
        if t < stride {
            *own += *own.add(stride as usize);
        }
        if stride > 16 {
            thread::sync_threads();
        }
        stride /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = *own;
    }
}

/// All threads add to the first element, atomically: one after another.
///
/// fails: contract: An atomic adds one element after another
#[kernel]
pub unsafe fn all_to_one(x: *const i32, sums: *mut i32) {
    let line = shared_array![i32; 256];
    let t = thread::thread_idx_x();
    let own = line.add(t as usize);
    *own = *x.add(thread::index_1d() as usize);
    thread::sync_threads();
    if t != 0 {
        atomic::add(line, *own, atomic::Shared, atomic::Block, atomic::Relaxed);
    }
    thread::sync_threads();
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = *own;
    }
}
