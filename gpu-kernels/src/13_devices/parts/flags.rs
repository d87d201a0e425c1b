//! Flags between devices.

use cuda_std::atomic::{self, Acquire, Global, Release, System};
use cuda_std::prelude::*;

/// Sets a flag, mostly in another device's memory. Whoever sees it sees everything that this thread
/// has stored before, or that others of its device had handed on to it.
///
/// # Safety
///
/// `flag` is a word of a device whose memory this one may use.
#[inline(always)]
pub unsafe fn set(flag: *mut u32, value: u32) {
    atomic::store(flag, value, Global, System, Release);
}

/// Waits until a flag is `value` or more.
///
/// # Safety
///
/// `flag` is a word of a device whose memory this one may use; someone sets it.
#[inline(always)]
pub unsafe fn wait_for(flag: *mut u32, value: u32) {
    while atomic::load(flag, Global, System, Acquire) < value {}
}

/// Meets the blocks of the same number on all devices: what any of them stored before is visible to
/// all threads of all of them afterwards.
///
/// Thread `i` deals with device `i`. `flags` has the address of each device's flags, of which block
/// `b` has [`MOST_DEVICES`] from `b · MOST_DEVICES` on: one for each device that sets it.
///
/// # Safety
///
/// All threads of the block reach this call, and so do those of the other blocks, with the same
/// `epoch`; it is greater than in the call before, and than 0. The block has at least `n_devices` threads.
#[inline(always)]
pub unsafe fn meet(flags: *const u64, rank: u32, n_devices: u32, epoch: u32) {
    let (block, thread) = (thread::block_idx_x(), thread::index_in_block());
    thread::sync_threads();
    if thread < n_devices {
        set(
            of_device::<u32>(flags, thread).add(place(block, rank)),
            epoch,
        );
        wait_for(
            of_device::<u32>(flags, rank).add(place(block, thread)),
            epoch,
        );
    }
    thread::sync_threads();
}

/// The most devices that these kernels work on.
pub const MOST_DEVICES: u32 = 8;

/// Where the flag of a block is that a device sets.
pub const fn place(block: u32, rank: u32) -> usize {
    (block * MOST_DEVICES + rank) as usize
}

/// What a list of addresses has for a device.
///
/// # Safety
///
/// The list is that long.
#[inline(always)]
pub unsafe fn of_device<T>(addresses: *const u64, device: u32) -> *mut T {
    let address = *addresses.add(device as usize);
    // Made from a pointer to global memory, so that the compiler knows that this is one as well: an
    // integer made a pointer may be to any memory, which takes slower instructions.
    addresses.cast_mut().cast::<T>().with_addr(address as usize)
}
