//! A radix sort of `u32`: by the lowest digit of 4 bits first, and by the highest last. Each pass
//! keeps the order of keys with the same digit, so the passes before it are not lost.
//!
//! A pass is three kernels. A block has `KEYS` adjacent keys:
//!
//! 1. [`count_digits`]: how many keys of each digit a block has;
//! 2. [`find_starts`]: where a block's keys of a digit go: behind all smaller digits, and behind the
//!    same digit of the blocks before. That is a running sum of the counts, digit by digit;
//! 3. [`scatter_keys`]: each key goes to its start plus its rank, the number of keys of its digit
//!    before it in the block.
//!
//! Left out: putting a block's keys in order in shared memory first, so that lanes store to adjacent
//! places.

use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, thread_idx_x};
use cuda_std::view::{Block, Disjoint, Filling, Global, GridStride, RowPerBlock, Scattered};
use cuda_std::warp::lane_id;

/// Bits of a digit.
pub const DIGIT_BITS: u32 = 4;
/// Values of a digit.
pub const DIGITS: u32 = 1 << DIGIT_BITS;
/// Threads of a block.
pub const THREADS: u32 = 256;
/// Keys that each thread has, `THREADS` apart.
const ROUNDS: u32 = 8;
/// Keys of a block.
pub const KEYS: u32 = THREADS * ROUNDS;

/// Lanes of a warp.
const LANES: u32 = 32;

const fn by_lane(digit: u32, lane: u32) -> usize {
    (digit * LANES + lane) as usize
}

cuda_std::tile_layout! {
    /// A block's counts. Each lane has its column, and so its bank: lanes do not meet, whatever the
    /// keys are.
    pub Counts = by_lane(DIGITS, LANES), block = [THREADS, 1];
}

const fn digit(key: u32, shift: u32) -> u32 {
    key >> shift & (DIGITS - 1)
}

/// The place of this thread's key in a round.
fn place(round: u32) -> u32 {
    KEYS * block_idx_x() + THREADS * round + thread_idx_x()
}

/// Counts the digits that begin at bit `shift`, for each block.
#[kernel(launch_bounds(THREADS))]
pub fn count_digits(
    keys: Global<[u32; n]>,
    mut counts: Disjoint<[[u32; DIGITS]; n_blocks], RowPerBlock<THREADS>>,
    n: u32,
    n_blocks: u32,
    shift: u32,
    mut of_block: Filling<u32, Counts>,
    block: Block,
) {
    of_block.fill(|_, _| 0);
    let of_block = block.sync_for_adding(of_block);
    for round in 0..ROUNDS {
        if let Some(key) = keys.get(place(round)) {
            of_block.add(digit(key, shift), lane_id(), 1);
        }
    }
    let of_block = block.sync(of_block);
    // The first threads have a digit each. They start at different lanes, for the banks' sake.
    let digit = thread_idx_x();
    if let Some(count) = counts.own() {
        let of_lanes = (digit..digit + LANES).map(|lane| of_block.get(digit, lane % LANES));
        count.set(of_lanes.sum());
    }
}

/// The running sums of the counts, digit by digit, for one block of threads. There are
/// `DIGITS * n_blocks` starts.
#[kernel(launch_bounds(THREADS))]
pub fn find_starts(
    counts: Global<[[u32; DIGITS]; n_blocks]>,
    mut starts: Disjoint<[u32; n_starts], GridStride>,
    n_blocks: u32,
    n_starts: u32,
    block: Block,
) {
    let mut starts = starts.own_elements();
    let mut n_before = 0;
    for first in (0..n_starts).step_by(THREADS as usize) {
        let i = first + thread_idx_x();
        let count = counts.get((i % n_blocks, i / n_blocks)).unwrap_or(0);
        let sums = block.scan(count, 0, |a, b| a + b);
        if let Some((_, start)) = starts.next() {
            start.set(n_before + sums.exclusive);
        }
        n_before += sums.total;
    }
}

/// Digits that are counted in one number, 16 bits each.
const PACKED: u32 = 4;

/// Writes each key to its place. A block finds ranks by running sums of ones; it does so for four
/// digits at a time, whose counts share a `u64`.
#[kernel(launch_bounds(THREADS))]
pub fn scatter_keys(
    keys: Global<[u32; n]>,
    starts: Global<[[u32; n_blocks]; DIGITS]>,
    sorted: Scattered<[u32; n]>,
    n: u32,
    n_blocks: u32,
    shift: u32,
    block: Block,
) {
    let mut n_before = [0; (DIGITS / PACKED) as usize];
    for round in 0..ROUNDS {
        let key = keys.get(place(round));
        // Beyond the last key, ones: they come after all keys of this digit.
        let digit = digit(key.unwrap_or(u32::MAX), shift);
        let (own_group, own_bit) = (digit / PACKED, 16 * (digit % PACKED));
        let mut rank = 0;
        for group in 0..DIGITS / PACKED {
            let one: u64 = if group == own_group { 1 << own_bit } else { 0 };
            let counts = block.scan(one, 0, |a, b| a + b);
            let before = n_before[group as usize] + counts.exclusive;
            if group == own_group {
                rank = (before >> own_bit) as u32 & 0xFFFF;
            }
            n_before[group as usize] += counts.total;
        }
        if let (Some(key), Some(start)) = (key, starts.get((digit, block_idx_x()))) {
            // SAFETY: no two keys have the same digit, block and rank, and a digit's next start is as
            // many places on as the block has keys of it.
            unsafe { sorted.set(start + rank, key) };
        }
    }
}
