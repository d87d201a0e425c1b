//! Kernels that must not pass, and how they fail.

use cuda_std::atomic::{self, AcqRel, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, warp_shuffle_down};

/// Adds up by atomics.
///
/// fails: count: another way
#[kernel]
pub unsafe fn atomic_sum(
    x: *const i32,
    partial: *mut i32,
    ticket: *mut u32,
    sum: *mut i32,
    n_blocks: u32,
) {
    let mut own = *x.add(thread::index_1d() as usize);
    for delta in [16, 8, 4, 2, 1] {
        own += warp_shuffle_down(FULL_MASK, own, delta, 32).0;
    }
    let t = thread::thread_idx_x();
    if t % 32 == 0 {
        let _ = atomic::add(partial, own, Global, Device, atomic::AcqRel);
        let drawn = atomic::add(ticket, 1, Global, Device, atomic::AcqRel);
        if drawn == 2 * n_blocks - 1 {
            *sum = atomic::load(partial, Global, Device, Relaxed);
        }
    }
}

/// Volatile accesses instead of fences: right in the usual order, but none of them waits for
/// another.
///
/// fails: race: a relaxed atomic orders
#[kernel]
pub unsafe fn volatile(
    x: *const i32,
    partial: *mut i32,
    ticket: *mut u32,
    sum: *mut i32,
    n_blocks: u32,
) {
    let sums = shared_array![i32; 2];
    let t = thread::thread_idx_x() as usize;
    let mut own = *x.add(thread::index_1d() as usize);
    for delta in [16, 8, 4, 2, 1] {
        own += warp_shuffle_down(FULL_MASK, own, delta, 32).0;
    }
    if t % 32 == 0 {
        *sums.add(t / 32) = own;
    }
    thread::sync_threads();
    if t != 0 {
        return;
    }
    *partial.add(thread::block_idx_x() as usize) = *sums + *sums.add(1);
    let drawn = atomic::add(ticket, 1, Global, Device, Relaxed);
    if drawn == n_blocks - 1 {
        let mut all = 0;
        for block in 0..n_blocks {
            all += core::ptr::read_volatile(partial.add(block as usize));
        }
        *sum = all;
    }
}

/// A fence in the writers alone.
///
/// fails: race: on the reader's side
#[kernel]
pub unsafe fn writers_fence(
    x: *const i32,
    partial: *mut i32,
    ticket: *mut u32,
    sum: *mut i32,
    n_blocks: u32,
) {
    let sums = shared_array![i32; 2];
    let t = thread::thread_idx_x() as usize;
    let mut own = *x.add(thread::index_1d() as usize);
    for delta in [16, 8, 4, 2, 1] {
        own += warp_shuffle_down(FULL_MASK, own, delta, 32).0;
    }
    if t % 32 == 0 {
        *sums.add(t / 32) = own;
    }
    thread::sync_threads();
    if t != 0 {
        return;
    }
    *partial.add(thread::block_idx_x() as usize) = *sums + *sums.add(1);
    atomic::fence(Device, AcqRel);
    let drawn = atomic::add(ticket, 1, Global, Device, Relaxed);
    if drawn == n_blocks - 1 {
        let mut all = 0;
        for block in 0..n_blocks {
            all += *partial.add(block as usize);
        }
        *sum = all;
    }
}
