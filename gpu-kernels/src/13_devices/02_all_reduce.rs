//! All-reduce: the sum over all devices, for all devices.
//!
//! Each of `d` devices has `n` numbers, and gets the sums. There are three ways to trade the bytes that
//! cross the links against the number of times that devices wait for each other:
//!
//! | kernel | crosses into each device | waits |
//! |---|---|---|
//! | [`all_reduce_one_shot`] | `d − 1` times `n` numbers, by loads | twice |
//! | [`all_reduce_two_shot`] | `2 (d − 1) / d` times `n`: a part of all inputs, and the other parts of the sums | twice |
//! | [`all_reduce_ring`] | the same, always from one neighbour | `2 (d − 1)` times |
//!
//! One shot is best for few numbers, where waiting is all that counts; the ring needs a link to one
//! neighbour only.
//!
//! Sums are added in the order of the devices in the first two, so that all get the same bits. In the ring
//! each part begins at another device.

use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::flags::{MOST_DEVICES, meet, of_device, place, set, wait_for};

/// Threads of a block.
pub const BLOCK_THREADS: u32 = 256;
/// Block of all kernels, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
/// The most blocks of a launch: all must be on the device at once.
pub const MOST_BLOCKS: u32 = 132;
/// Numbers that a thread moves at once.
pub const CHUNK: u32 = 4;

const _: () = assert!(MOST_DEVICES <= BLOCK_THREADS);

/// Blocks for `n` numbers.
pub const fn n_blocks(n: u32) -> u32 {
    let wanted = n.div_ceil(CHUNK * BLOCK_THREADS);
    if wanted == 0 {
        1
    } else if wanted < MOST_BLOCKS {
        wanted
    } else {
        MOST_BLOCKS
    }
}

/// Flags that a device needs for [`MOST_BLOCKS`].
pub const N_FLAGS: usize = (MOST_BLOCKS * MOST_DEVICES) as usize;

/// Chunks of a device's part of `n` numbers: the first, and how many.
pub const fn part(n: u32, n_devices: u32, device: u32) -> (u32, u32) {
    let n_chunks = n / CHUNK;
    let each = n_chunks.div_ceil(n_devices);
    let first = device * each;
    let first = if first < n_chunks { first } else { n_chunks };
    let end = if first + each < n_chunks {
        first + each
    } else {
        n_chunks
    };
    (first, end - first)
}

#[inline(always)]
fn sum(a: Float4, b: Float4) -> Float4 {
    Float4::new(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w)
}

/// The sum of a chunk of all devices' inputs.
#[inline(always)]
unsafe fn sum_of_all(inputs: *const u64, n_devices: u32, chunk: u32) -> Float4 {
    let of = |device: u32| {
        let input: *const Float4 = of_device::<Float4>(inputs, device);
        Float4::load(input.add(chunk as usize))
    };
    let mut total = of(0);
    let mut device = 1;
    while device < n_devices {
        total = sum(total, of(device));
        device += 1;
    }
    total
}

/// Every device reads all inputs.
///
/// # Safety
///
/// `inputs` and `flags` have the address of each device's input, of `n` numbers (a multiple of
/// [`CHUNK`]), aligned to 16 bytes, and of its [`N_FLAGS`] flags, 0 at first. `output` is as long as an
/// input. `epoch` is greater than in the launch before, and at first 1. Launch with [`BLOCK`] and [`n_blocks`], on all
/// devices at the same time.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn all_reduce_one_shot(
    inputs: *const u64,
    output: *mut f32,
    flags: *const u64,
    rank: u32,
    n_devices: u32,
    n: u32,
    epoch: u32,
) {
    // All inputs are there…
    meet(flags, rank, n_devices, 2 * epoch);
    let mut chunk = thread::index_1d();
    while chunk < n / CHUNK {
        let total = sum_of_all(inputs, n_devices, chunk);
        total.store(output.cast::<Float4>().add(chunk as usize));
        chunk += thread::grid_dim_x() * BLOCK_THREADS;
    }
    // …and stay until all have read them.
    meet(flags, rank, n_devices, 2 * epoch + 1);
}

/// Every device adds a part, and stores the sums on all devices.
///
/// # Safety
///
/// As [`all_reduce_one_shot`], with the addresses of all outputs.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn all_reduce_two_shot(
    inputs: *const u64,
    outputs: *const u64,
    flags: *const u64,
    rank: u32,
    n_devices: u32,
    n: u32,
    epoch: u32,
) {
    meet(flags, rank, n_devices, 2 * epoch);
    let (first, n_chunks) = part(n, n_devices, rank);
    let mut i = thread::index_1d();
    while i < n_chunks {
        let total = sum_of_all(inputs, n_devices, first + i);
        // Each begins with another device, so that no link has to carry all at once.
        let mut k = 0;
        while k < n_devices {
            let device = (rank + k) % n_devices;
            let output: *mut Float4 = of_device(outputs, device);
            total.store(output.add((first + i) as usize));
            k += 1;
        }
        i += thread::grid_dim_x() * BLOCK_THREADS;
    }
    // The other devices' parts are here.
    meet(flags, rank, n_devices, 2 * epoch + 1);
}

/// Numbers of the inbox of [`all_reduce_ring`]: a part for each step that adds, twice.
pub const fn inbox_len(n: u32, n_devices: u32) -> usize {
    let (_, n_chunks) = part(n, n_devices, 0);
    2 * (n_devices - 1) as usize * n_chunks as usize * CHUNK as usize
}

/// Parts go around: each device adds its own numbers to what comes from the one before it, and hands the
/// sums on; then the sums go around.
///
/// A block waits only for the same block of the device before it. What comes in waits in an inbox, a
/// place for each step; odd and even launches have one each, since a neighbour may still read that of the
/// launch before.
///
/// # Safety
///
/// `input` and `output` have `n` numbers (a multiple of [`CHUNK`]), aligned to 16 bytes, `inbox` and
/// `next_inbox` [`inbox_len`]; those that are called `next` are the next device's. Flags and `epoch` as in
/// [`all_reduce_one_shot`]. Launch with [`BLOCK`] and [`n_blocks`], on all devices at the same time.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn all_reduce_ring(
    input: *const f32,
    output: *mut f32,
    inbox: *const f32,
    flags: *mut u32,
    next_output: *mut f32,
    next_inbox: *mut f32,
    next_flags: *mut u32,
    rank: u32,
    n_devices: u32,
    n: u32,
    epoch: u32,
) {
    let (block, thread) = (thread::block_idx_x(), thread::index_in_block());
    let (_, inbox_chunks) = part(n, n_devices, 0);
    let inbox_of = |step: u32| ((epoch % 2) * (n_devices - 1) + step) * inbox_chunks;
    let n_steps = 2 * (n_devices - 1);
    let mut step = 0;
    while step <= n_steps {
        // Of step s a device hands on the part that it was handed in step s − 1: at first its own.
        let owner = (rank + 2 * n_devices - step % n_devices) % n_devices;
        let (first, n_chunks) = part(n, n_devices, owner);
        if step > 0 {
            if thread == 0 {
                wait_for(flags.add(place(block, 0)), epoch * n_steps + step);
            }
            thread::sync_threads();
            if step == n_steps {
                // What has come last is where it belongs.
                break;
            }
        }
        // The sum is whole once all have added to it; then it is only handed on.
        let is_adding = step < n_devices;
        let mut i = thread::index_1d();
        while i < n_chunks {
            let at = (first + i) as usize;
            let value = if is_adding {
                let own = Float4::load(input.cast::<Float4>().add(at));
                let mut value = own;
                if step > 0 {
                    let came = inbox
                        .cast::<Float4>()
                        .add((inbox_of(step - 1) + i) as usize);
                    value = sum(Float4::load(came), own);
                }
                value
            } else {
                Float4::load(output.cast::<Float4>().add(at))
            };
            if step + 1 >= n_devices && is_adding {
                value.store(output.cast::<Float4>().add(at));
            }
            if step < n_steps {
                let to = if step + 1 < n_devices {
                    next_inbox
                        .cast::<Float4>()
                        .add((inbox_of(step) + i) as usize)
                } else {
                    next_output.cast::<Float4>().add(at)
                };
                value.store(to);
            }
            i += thread::grid_dim_x() * BLOCK_THREADS;
        }
        if step < n_steps {
            thread::sync_threads();
            if thread == 0 {
                set(next_flags.add(place(block, 0)), epoch * n_steps + step + 1);
            }
        }
        step += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, inbox_len, n_blocks, part};

    #[test]
    fn parts_are_all_chunks_once() {
        for (n, n_devices) in [(4, 3), (1000, 8), (1024, 2), (0, 4), (36, 8)] {
            let mut next = 0;
            for device in 0..n_devices {
                let (first, n_chunks) = part(n, n_devices, device);
                assert_eq!(first, next);
                assert!(n_chunks <= part(n, n_devices, 0).1);
                next += n_chunks;
            }
            assert_eq!(next, n / CHUNK);
        }
    }

    #[test]
    fn small_sums_have_few_blocks() {
        assert_eq!(
            [
                n_blocks(0),
                n_blocks(1024),
                n_blocks(1025),
                n_blocks(1 << 30)
            ],
            [1, 1, 2, 132]
        );
        assert_eq!(inbox_len(1000, 1), 0);
        assert_eq!(inbox_len(1000, 4), 2 * 3 * 63 * 4);
    }
}
