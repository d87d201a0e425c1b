//! Many elements a thread, one launch: as fast as the memory, and quick for few
//! elements.
//!
//! # What it does about each cost
//!
//! - *Loads under way.* Memory answers after most of a microsecond. To be busy
//!   all the time it needs about 30 KB of requests a multiprocessor under way. A
//!   thread that loads 4 bytes and then waits at barriers asks for too little;
//!   here it asks for 4 × 16 bytes before it adds the first.
//! - *Barriers.* A thread adds all its elements in registers first. The block
//!   meets once, not once a halving, however many elements it adds.
//! - *Launches.* A second launch to add the blocks' sums costs two to three
//!   microseconds: more than all else, up to some hundred thousand elements.
//!   The block that finishes last adds them instead. Few elements get one block,
//!   which has nobody to wait for.
//!
//! # The ticket
//!
//! Thread 0 of each block stores the block's sum and then draws a ticket: it
//! adds 1 to a counter and looks at what was there. Who draws the last one knows
//! that all sums are stored. But *stored* is not *visible*: a processor may let
//! the counter's new value out before the sum. The order has to be asked for,
//! on both sides:
//!
//! ```text
//!   block A                                  last block
//!   thread 0: block_sums[A] = sum
//!   thread 0: ticket, release ───────────→   thread 0: ticket, acquire
//!                                            barrier
//!                                            all threads: read block_sums
//! ```
//!
//! *Release*: what I wrote before becomes visible no later than the ticket.
//! *Acquire*: what I read after is no older than the ticket. The counter's
//! operation is both (`acq_rel`), among all threads of the device (`gpu`): with
//! the scope of a block it would promise nothing to the other blocks. Thread 0
//! passes on what it acquired to its block by the barrier.
//!
//! The operation is `inc`, which counts to the number of blocks and round to 0:
//! the counter is ready for the next launch.
//!
//! # Record of tuning, on two H200
//!
//! Fewest bytes: 4 an element; fewest operations: one addition. At the card's
//! 4.8 TB/s, 2³⁰ elements take 895 µs, and that is the floor. CUB's
//! `DeviceReduce::Sum` took 946 µs on one card and 925 on the other, this kernel
//! 936 and 917 µs: 1.011 and 1.008 times as fast, at 97.5% of the floor. At 2²⁹ it
//! was 1.010 and 1.008, at 2²⁸ 1.018 and 1.013.
//!
//! | step | predicted | measured at 2²⁸, 2²⁹, 2³⁰ |
//! |---|---|---|
//! | 16 blocks of 1024 threads a multiprocessor, as it was | | 1.014, 1.006, 1.002 × CUB |
//! | four rounds a block, so twice to eight times as many blocks | +0.5% | +0.3%, +0.2%, +0.6% |
//! | loads that the L1 cache does not keep | 0 | +0.3% |
//! | eight loads a thread, or two | +0.5% | ±0.2%; two once 235.6 µs at 2²⁸, not on the other card |
//! | blocks of 256 and 512 threads | 0 | −0.5% |
//! | loads evicted first, streaming, 256-byte prefetch | +0.5% | 0 |
//! | a range of its own for each block | −1% | −1% and more |
//!
//! Few elements: an empty kernel takes 3.4 µs between two events. With all launches
//! queued beforehand, 2¹³ elements took 4.2 µs here and 6.2 by CUB, 2¹⁶ 5.2 and
//! 6.3; up to 2¹² both are one launch of one block and take the same. CUB's time
//! less the empty kernel's is what there is to win, so 1.5 times is out of reach
//! below 2¹³, where CUB launches once, and above 2¹⁴, where one block is too slow.

use cuda_std::atomic::{self, AcqRel, Device, Global};
use cuda_std::ldg::ldg_once;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::tree::warp_sum;

/// Threads in a block of a middling number of elements.
const FAST_THREADS: u32 = 512;
/// Threads in a block of few elements, at most, and of very many.
const MAX_THREADS: u32 = 1024;

const WARP_LANES: u32 = 32;
const MAX_WARPS: u32 = MAX_THREADS / WARP_LANES;
/// Elements in a chunk of 16 bytes.
const CHUNK: u32 = 4;
/// Chunks that a thread loads before it adds them.
const THREAD_CHUNKS: u32 = 4;
/// Chunks in a warp's tile: 2 KB that lie together.
const WARP_TILE_CHUNKS: u32 = THREAD_CHUNKS * WARP_LANES;
/// Elements that a thread adds in one round.
const THREAD_ITEMS: u32 = THREAD_CHUNKS * CHUNK;

/// Elements up to which one block does it all, in two rounds: a ticket costs
/// more than a round.
const ONE_BLOCK_ITEMS: u32 = 2 * MAX_THREADS * THREAD_ITEMS;
/// Elements from which on there are very many.
const MANY_ITEMS: u32 = 1 << 27;
/// Threads to each multiprocessor, at most, of a middling number of elements:
/// twice as many as run at a time. A multiprocessor that is nearer to the memory
/// then takes more of it.
const MULTIPROCESSOR_THREADS: u32 = 4096;
/// Rounds of a block where there are very many. Few: blocks start in order, so
/// what is loaded at any time lies close together; in long loops, blocks drift
/// apart.
const MANY_ROUNDS: u32 = 4;
/// Blocks in a launch, at most, on whatever device.
pub const MAX_FAST_BLOCKS: u32 = 32_768;

// The sums of a block's warps are added by one warp.
const _: () = assert!(MAX_WARPS <= WARP_LANES);
const _: () = assert!(FAST_THREADS.is_multiple_of(WARP_LANES) && FAST_THREADS <= MAX_THREADS);

/// Index of the first chunk that lane `lane` of warp `warp` loads, counting the
/// grid's warps; its others follow, [`WARP_LANES`] chunks apart.
///
/// ```text
///   chunk      0 … 31    32 … 63   64 … 95   96 … 127   128 … 159
///   warp, lane 0, 0…31   0, 0…31   0, 0…31   0, 0…31    1, 0…31
///   its load   first     second    third     fourth     first
/// ```
#[inline(always)]
const fn first_chunk(warp: u32, lane: u32) -> u32 {
    warp * WARP_TILE_CHUNKS + lane
}

/// This thread's share of the sum of `values[0..n]`, if `n_warps` warps share
/// it and this thread's is number `warp`.
#[inline(always)]
unsafe fn thread_sum(
    values: *const f32,
    n: u32,
    warp: u32,
    n_warps: u32,
    load: impl Fn(*const Float4) -> Float4,
) -> f32 {
    let lane = thread::thread_idx_x() % WARP_LANES;
    let n_chunks = n / CHUNK;
    let mut sums = Float4::default();
    let mut add = |a: Float4, b: Float4, c: Float4, d: Float4| {
        sums.x += (a.x + b.x) + (c.x + d.x);
        sums.y += (a.y + b.y) + (c.y + d.y);
        sums.z += (a.z + b.z) + (c.z + d.z);
        sums.w += (a.w + b.w) + (c.w + d.w);
    };

    let mut chunk = first_chunk(warp, lane);
    let at = |chunk: u32| values.cast::<Float4>().add(chunk as usize);
    while chunk + (THREAD_CHUNKS - 1) * WARP_LANES < n_chunks {
        // One address and three distances from it that the compiler knows.
        let tile = at(chunk);
        let load = |i: u32| load(tile.add((i * WARP_LANES) as usize));
        add(load(0), load(1), load(2), load(3));
        chunk += n_warps * WARP_TILE_CHUNKS;
    }
    // The last tile, if it is cut off before this lane's fourth chunk.
    if chunk < n_chunks {
        let load = |i: u32| {
            let chunk = chunk + i * WARP_LANES;
            if chunk < n_chunks {
                load(at(chunk))
            } else {
                Float4::default()
            }
        };
        add(load(0), load(1), load(2), load(3));
    }
    // Up to three elements that fill no chunk.
    let rest = n_chunks * CHUNK + lane;
    if warp == 0 && rest < n {
        sums.x += *values.add(rest as usize);
    }
    (sums.x + sums.y) + (sums.z + sums.w)
}

/// The sum of `value` over the block, in thread 0. `warp_sums` is shared
/// memory, one element a warp.
#[inline(always)]
unsafe fn block_sum(value: f32, warp_sums: *mut f32) -> f32 {
    let thread = thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);
    let sum = warp_sum(value, WARP_LANES);
    if lane == 0 {
        *warp_sums.add(warp as usize) = sum;
    }
    thread::sync_threads();
    if warp != 0 {
        return 0.0;
    }
    let has_warp = lane < thread::block_dim_x() / WARP_LANES;
    warp_sum(
        if has_warp {
            *warp_sums.add(lane as usize)
        } else {
            0.0
        },
        WARP_LANES,
    )
}

/// The sum of all elements, in one launch.
///
/// # Safety
///
/// `input` is aligned to 16 bytes and holds `n` elements, fewer than 2³¹.
/// `sum` is one element; `block_sums` is aligned to 16
/// bytes too and holds one for each block. `n_done` is 0, and is
/// 0 again after the launch; no other launch uses it or `block_sums` at the same
/// time. Launch with [`fast_block`] threads and [`fast_grid`] blocks, or any
/// other number of whole warps up to 1024 threads, and of blocks.
#[kernel(launch_bounds(MAX_THREADS))]
pub unsafe fn reduce_fast(
    input: *const f32,
    sum: *mut f32,
    n: u32,
    block_sums: *mut f32,
    n_done: *mut u32,
) {
    let warp_sums = shared_array![f32; MAX_WARPS as usize];
    let is_last = shared_array![u32; 1];
    let (thread, block) = (thread::thread_idx_x(), thread::block_idx_x());
    let n_blocks = thread::grid_dim_x();
    let block_warps = thread::block_dim_x() / WARP_LANES;
    let warp = thread / WARP_LANES;

    let value = thread_sum(
        input,
        n,
        block * block_warps + warp,
        n_blocks * block_warps,
        |chunk| ldg_once(chunk),
    );
    let own_sum = block_sum(value, warp_sums);
    if n_blocks == 1 {
        if thread == 0 {
            *sum = own_sum;
        }
        return;
    }
    if thread == 0 {
        *block_sums.add(block as usize) = own_sum;
        let n_done_before = atomic::inc(n_done, n_blocks - 1, Global, Device, AcqRel);
        *is_last = (n_done_before == n_blocks - 1).into();
    }
    thread::sync_threads();
    if *is_last == 0 {
        return;
    }

    // Always in the same order, whichever block is the last: the result is the
    // same, bit for bit, in every launch. Plain loads: the read-only path is for
    // what nobody writes during the launch.
    let value = thread_sum(block_sums, n_blocks, warp, block_warps, |chunk| {
        Float4::load(chunk)
    });
    let total = block_sum(value, warp_sums);
    if thread == 0 {
        *sum = total;
    }
}

/// Block for `n` elements, in threads. If one block is enough, as many warps as
/// have something to load.
pub const fn fast_block(n: u32) -> [u32; 3] {
    if n >= MANY_ITEMS {
        return [MAX_THREADS, 1, 1];
    }
    if n > ONE_BLOCK_ITEMS {
        return [FAST_THREADS, 1, 1];
    }
    let n_warps = n.div_ceil(WARP_TILE_CHUNKS * CHUNK);
    let n_warps = if n_warps < MAX_WARPS {
        n_warps
    } else {
        MAX_WARPS
    };
    [if n_warps == 0 { 1 } else { n_warps } * WARP_LANES, 1, 1]
}

/// Grid for `n` elements on a device with `n_multiprocessors`.
pub const fn fast_grid(n: u32, n_multiprocessors: u32) -> [u32; 3] {
    if n <= ONE_BLOCK_ITEMS {
        return [1, 1, 1];
    }
    let block_threads = fast_block(n)[0];
    let n_tiles = n.div_ceil(block_threads * THREAD_ITEMS);
    let most = if n >= MANY_ITEMS {
        n_tiles.div_ceil(MANY_ROUNDS)
    } else {
        n_multiprocessors * (MULTIPROCESSOR_THREADS / block_threads)
    };
    let most = if most < MAX_FAST_BLOCKS {
        most
    } else {
        MAX_FAST_BLOCKS
    };
    [if n_tiles < most { n_tiles } else { most }, 1, 1]
}

/// Additions an element goes through at most in a launch of `n_blocks` blocks
/// of `block_threads`.
pub const fn fast_depth(n: u32, n_blocks: u32, block_threads: u32) -> u32 {
    let block_items = block_threads * THREAD_ITEMS;
    let n_rounds = n.div_ceil(n_blocks * block_items);
    let n_rounds_over_blocks = n_blocks.div_ceil(block_items);
    // In a thread: the four chunks of a round (two), the rounds, the element
    // that fills no chunk, the four components (two). In a block: its warps'
    // lanes, then its warps.
    let in_block = 2 + 1 + 2 + 2 * WARP_LANES.ilog2();
    (n_rounds + in_block) + (n_rounds_over_blocks + in_block)
}

#[cfg(test)]
mod tests {
    use super::{
        MAX_FAST_BLOCKS, ONE_BLOCK_ITEMS, THREAD_CHUNKS, WARP_LANES, fast_block, fast_depth,
        fast_grid, first_chunk,
    };

    #[test]
    fn every_chunk_of_two_warps_is_loaded_once() {
        let mut n_loads = [0; 2 * (THREAD_CHUNKS * WARP_LANES) as usize];
        for warp in 0..2 {
            for lane in 0..WARP_LANES {
                for load in 0..THREAD_CHUNKS {
                    n_loads[(first_chunk(warp, lane) + load * WARP_LANES) as usize] += 1;
                }
            }
        }
        assert!(n_loads.iter().all(|&n| n == 1));
    }

    #[test]
    fn few_elements_get_one_block_of_as_many_warps_as_they_need() {
        for (n, n_threads) in [
            (0, 32),
            (1, 32),
            (512, 32),
            (513, 64),
            (16_384, 1024),
            (ONE_BLOCK_ITEMS, 1024),
        ] {
            assert_eq!(fast_block(n), [n_threads, 1, 1], "{n} elements");
            assert_eq!(fast_grid(n, 132), [1, 1, 1], "{n} elements");
        }
    }

    #[test]
    fn more_get_a_block_a_tile_up_to_the_limits() {
        assert_eq!(fast_grid(ONE_BLOCK_ITEMS + 1, 132), [5, 1, 1]);
        assert_eq!(fast_grid(1 << 20, 132), [128, 1, 1]);
        assert_eq!(fast_grid(100_000_000, 132), [8 * 132, 1, 1]);
        assert_eq!(fast_grid(1 << 30, 132), [1 << 14, 1, 1]);
        assert_eq!(fast_grid((1 << 31) - 1, 132), [MAX_FAST_BLOCKS, 1, 1]);
        assert_eq!(fast_grid(1 << 26, 100_000), [8192, 1, 1]);
    }

    #[test]
    fn the_depth_is_far_below_that_of_a_straight_sum() {
        assert!(fast_depth(100_000_000, 1056, 512) < 64);
    }
}
