//! Many elements per thread, one launch: as fast as memory allows, and quick for few
//! elements.
//!
//! # Costs and remedies
//!
//! - *Loads in flight.* Memory answers after more than a thousand cycles. To keep it
//!   busy, about 30 KB of requests per SM must be in flight. A thread that loads 4 bytes
//!   and then waits at barriers asks for too little; here it asks for 4 × 16 bytes
//!   before it adds the first.
//! - *Barriers.* A thread first adds all its elements in registers. The block
//!   meets once, not once per halving, however many elements it adds.
//! - *Launches.* Up to some hundred thousand elements, a second launch to add the
//!   blocks' sums costs more than everything else. One of the blocks adds them instead.
//! - *The gap between launches.* The kernel is marked `pdl` (programmatic dependent
//!   launch): its blocks take their places while the previous launch ends, and wait
//!   there ([`grid`]).
//!
//! | elements | launch | how the sums come together |
//! |---|---|---|
//! | up to 2¹⁴ | one block, 16 elements per thread | in shared memory, over one barrier |
//! | up to 2¹⁷ | up to 128 warps, in blocks of eight | each warp puts its sum into a word; the last warp waits for all words |
//! | more | blocks of 512 or 1024 threads | in the block; then the last block to finish adds the blocks' |
//!
//! # Value and flag in one word
//!
//! Warps of different blocks can exchange values only through memory, and the reader
//! must know when a value is there. If there are few warps, each uses a word of
//! 64 bits: the sum, and a 1 above it. A reader that sees the 1 has the sum too, because
//! a word is stored and loaded as a whole. No order of two accesses matters, so neither
//! side pays for one: a ticket, below, takes three trips to the second-level cache one
//! after the other (store, draw, read), this takes one and a half. The last warp resets
//! the words to 0 for the next launch.
//!
//! Waiting for other blocks is safe here: only one warp waits, and those it waits for
//! never wait themselves.
//!
//! # The ticket
//!
//! With many blocks, one that waits would have to poll thousands of words. Instead,
//! whichever block finishes last does the rest. Thread 0 of each block stores the
//! block's sum and then draws a ticket: it adds 1 to a counter and looks at the
//! previous value. The thread that draws the last one knows that all sums are stored. But
//! *stored* is not *visible*: a processor may publish the counter's new value before the
//! sum. The order has to be requested, on both sides:
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
//! block scope it would promise nothing to the other blocks. The barrier passes
//! on what thread 0 acquired to its block.
//!
//! The operation is `inc`, which wraps to 0 at the number of blocks:
//! the counter is ready for the next launch.
//!
//! # Limits
//!
//! - *Many elements*: memory bandwidth, of which it uses nearly all.
//! - *Few elements*: the steps that must happen one after the other. A single sum is mostly
//!   launch overhead; back to back, with programmatic dependent launch, the barrier and the
//!   trips to the second-level cache remain.
//!
//! `docs/tuning/reduce_fast.md` has the measurements.

use cuda_std::atomic::{self, AcqRel, Device, Global, Relaxed};
use cuda_std::grid;
use cuda_std::ldg::{load_once, prefetch_l2};
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::tree::warp_sum;
use crate::warp::WARP_LANES;
use cuda_std::unrolled;

/// Threads in a block for a medium number of elements.
const FAST_THREADS: u32 = 512;
/// Threads in a block for few elements, but too many for one block.
const FEW_THREADS: u32 = 256;
/// Threads in a block, at most, for the fewest elements, and for very many.
const MAX_THREADS: u32 = 1024;

const MAX_WARPS: u32 = MAX_THREADS / WARP_LANES;
/// Elements in a chunk of 16 bytes.
const CHUNK: u32 = 4;
/// Chunks that a thread loads before it adds them.
const THREAD_CHUNKS: u32 = 4;
/// Chunks in a warp's tile: 2 KB that lie together.
const WARP_TILE_CHUNKS: u32 = THREAD_CHUNKS * WARP_LANES;
/// Elements that a thread adds in one round.
const THREAD_ITEMS: u32 = THREAD_CHUNKS * CHUNK;

/// Elements up to which one block does it all, in one round: communication between
/// blocks takes longer.
const ONE_BLOCK_ITEMS: u32 = MAX_THREADS * THREAD_ITEMS;
/// Warps, at most, that hand over their sums one by one.
pub const MAX_FEW_WARPS: u32 = 128;
/// Elements up to which warps do so, in two rounds.
const FEW_ITEMS: u32 = 2 * MAX_FEW_WARPS * WARP_LANES * THREAD_ITEMS;
/// Elements from which on they count as very many.
const MANY_ITEMS: u32 = 1 << 27;
/// Most threads per SM for a medium number of elements:
/// twice as many as run at a time. An SM that is nearer to memory
/// then takes more of the work.
const MULTIPROCESSOR_THREADS: u32 = 4096;
/// Rounds of a block for very many elements. Few: blocks start in order, so
/// what is loaded at any time lies close together; in long loops, blocks drift
/// apart.
const MANY_ROUNDS: u32 = 4;
/// Blocks in a launch, at most, on whatever device.
pub const MAX_FAST_BLOCKS: u32 = 32_768;

// The sums of a block's warps are added by one warp.
const _: () = assert!(MAX_WARPS <= WARP_LANES);
const _: () = assert!(FAST_THREADS.is_multiple_of(WARP_LANES) && FAST_THREADS <= MAX_THREADS);
// More than few elements get more than few warps.
const _: () = assert!(
    FEW_ITEMS / (FAST_THREADS * THREAD_ITEMS) * (FAST_THREADS / WARP_LANES) >= MAX_FEW_WARPS
);

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

/// This thread's share of the sum of `values[0..n]`, if `n_warps` warps divide
/// it up and this thread's is number `warp`.
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
    // Up to three elements that fill no chunk.
    let rest = n_chunks * CHUNK + lane;
    if warp == 0 && rest < n {
        sums.x = *values.add(rest as usize);
    }
    let mut add = |[a, b, c, d]: [Float4; THREAD_CHUNKS as usize]| {
        sums.x += (a.x + b.x) + (c.x + d.x);
        sums.y += (a.y + b.y) + (c.y + d.y);
        sums.z += (a.z + b.z) + (c.z + d.z);
        sums.w += (a.w + b.w) + (c.w + d.w);
    };

    let mut chunk = first_chunk(warp, lane);
    let at = |chunk: u32| values.cast::<Float4>().add(chunk as usize);
    let is_whole = |chunk: u32| chunk + (THREAD_CHUNKS - 1) * WARP_LANES < n_chunks;
    // One address and three constant offsets from it.
    let round = |chunk: u32| {
        let tile = at(chunk);
        [0, 1, 2, 3].map(|i| load(tile.add((i * WARP_LANES) as usize)))
    };
    if n_chunks <= n_warps * WARP_TILE_CHUNKS && is_whole(chunk) {
        // The only round: nothing is left to add after it.
        add(round(chunk));
    } else if chunk < n_chunks {
        while is_whole(chunk) {
            add(round(chunk));
            chunk += n_warps * WARP_TILE_CHUNKS;
        }
        // The last tile, if it ends before this lane's fourth chunk.
        if chunk < n_chunks {
            add([0, 1, 2, 3].map(|i| {
                let chunk = chunk + i * WARP_LANES;
                if chunk < n_chunks {
                    load(at(chunk))
                } else {
                    Float4::default()
                }
            }));
        }
    }
    (sums.x + sums.y) + (sums.z + sums.w)
}

/// The sum of `value` over the block, in thread 0. `warp_sums` is shared
/// memory, one element per warp, aligned to 16 bytes.
#[inline(always)]
unsafe fn block_sum(value: f32, warp_sums: *mut f32) -> f32 {
    let thread = thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);
    let n_warps = thread::block_dim_x() / WARP_LANES;
    let sum = warp_sum(value, WARP_LANES);
    if lane == 0 {
        *warp_sums.add(warp as usize) = sum;
    }
    thread::sync_threads();
    if warp != 0 {
        return 0.0;
    }
    // With four or eight warps, every lane adds up all the sums itself: one or two loads
    // take less time than shuffles.
    let four = |i: usize| {
        let sums = Float4::load(warp_sums.cast::<Float4>().add(i));
        (sums.x + sums.y) + (sums.z + sums.w)
    };
    match n_warps {
        4 => four(0),
        8 => four(0) + four(1),
        _ => {
            let own = if lane < n_warps {
                *warp_sums.add(lane as usize)
            } else {
                0.0
            };
            warp_sum(own, WARP_LANES)
        }
    }
}

/// A sum and its flag in one word.
#[inline(always)]
const fn word_of(sum: f32) -> u64 {
    1 << 32 | sum.to_bits() as u64
}

/// Words that a lane of the last warp looks after.
const LANE_WORDS: usize = (MAX_FEW_WARPS / WARP_LANES) as usize;

/// The sum of what the warps before the last put into `words`, in lane 0 of the
/// warp that calls it. Makes the words 0 again.
#[inline(always)]
unsafe fn gathered_sum(words: *mut u64, n_words: u32) -> f32 {
    let lane = thread::thread_idx_x() % WARP_LANES;
    let place = |k: usize| k as u32 * WARP_LANES + lane;
    let word = |k: usize| words.add(place(k) as usize);
    // A lane without a word adds nothing and waits for nothing.
    let mut seen = [word_of(0.0); LANE_WORDS];
    loop {
        // All are loaded at once, including those already seen.
        unrolled::<LANE_WORDS>(|k| {
            if place(k) < n_words {
                seen[k] = atomic::load(word(k), Global, Device, Relaxed);
            }
        });
        let mut are_there = true;
        unrolled::<LANE_WORDS>(|k| are_there &= seen[k] != 0);
        if are_there {
            break;
        }
    }
    let mut sum = 0.0;
    unrolled::<LANE_WORDS>(|k| {
        sum += f32::from_bits(seen[k] as u32);
        if place(k) < n_words {
            atomic::store(word(k), 0, Global, Device, Relaxed);
        }
    });
    warp_sum(sum, WARP_LANES)
}

/// The sum of all elements, in one launch.
///
/// # Safety
///
/// `input` is aligned to 16 bytes and holds `n` elements, fewer than 2³¹.
/// `sum` is one element; `block_sums` is aligned to 16
/// bytes too and holds one for each block; `warp_words` holds [`MAX_FEW_WARPS`].
/// `n_done` and `warp_words` are 0, and are
/// 0 again after the launch; no other launch uses them or `block_sums` at the same
/// time. Launch with [`fast_block`] threads and [`fast_grid`] blocks, or any
/// other number of whole warps up to 1024 threads, and of blocks.
#[kernel(launch_bounds(MAX_THREADS), pdl)]
pub unsafe fn reduce_fast(
    input: *const f32,
    sum: *mut f32,
    n: u32,
    block_sums: *mut f32,
    n_done: *mut u32,
    warp_words: *mut u64,
) {
    let warp_sums = shared_array![f32; MAX_WARPS as usize, align = 16];
    let is_last = shared_array![u32; 1];
    let (thread, block) = (thread::thread_idx_x(), thread::block_idx_x());
    let n_blocks = thread::grid_dim_x();
    let block_warps = thread::block_dim_x() / WARP_LANES;
    let warp = thread / WARP_LANES;
    let n_warps = n_blocks * block_warps;
    let grid_warp = block * block_warps + warp;
    let is_lane_0 = thread % WARP_LANES == 0;
    let value = || thread_sum(input, n, grid_warp, n_warps, |chunk| load_once(chunk));
    grid::let_next_start();
    if n_blocks == 1 {
        // A single block has little else to do while it waits. A prefetch only names
        // memory, so it cannot miss what the previous launch still writes there. Each
        // path waits on its own, so that its instructions are fetched in the meantime.
        let chunk = first_chunk(warp, thread % WARP_LANES);
        if chunk < n / CHUNK {
            prefetch_l2(input.cast::<Float4>().add(chunk as usize));
        }
        if thread == 0 {
            prefetch_l2(sum);
        }
        grid::wait_for_previous();
        let own_sum = block_sum(value(), warp_sums);
        if thread == 0 {
            *sum = own_sum;
        }
        return;
    }
    grid::wait_for_previous();
    if n_warps <= MAX_FEW_WARPS {
        let own_sum = warp_sum(value(), WARP_LANES);
        if grid_warp != n_warps - 1 {
            if is_lane_0 {
                let word = warp_words.add(grid_warp as usize);
                atomic::store(word, word_of(own_sum), Global, Device, Relaxed);
            }
            return;
        }
        let others = gathered_sum(warp_words, n_warps - 1);
        if is_lane_0 {
            *sum = others + own_sum;
        }
        return;
    }
    let value = value();
    let own_sum = block_sum(value, warp_sums);
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
    // memory that nothing writes during the launch.
    let value = thread_sum(block_sums, n_blocks, warp, block_warps, |chunk| {
        Float4::load(chunk)
    });
    let total = block_sum(value, warp_sums);
    if thread == 0 {
        *sum = total;
    }
}

/// Block for `n` elements, in threads. If one block is enough, as many warps as
/// have something to load; four or eight rather than fewer.
pub const fn fast_block(n: u32) -> [u32; 3] {
    let n_warps = match n.div_ceil(WARP_TILE_CHUNKS * CHUNK) {
        0..=4 => 4,
        5..=8 => 8,
        n_warps => n_warps,
    };
    let n_threads = if n <= ONE_BLOCK_ITEMS {
        n_warps * WARP_LANES
    } else if n <= FEW_ITEMS {
        FEW_THREADS
    } else if n < MANY_ITEMS {
        FAST_THREADS
    } else {
        MAX_THREADS
    };
    [n_threads, 1, 1]
}

/// Grid for `n` elements on a device with `n_multiprocessors`.
pub const fn fast_grid(n: u32, n_multiprocessors: u32) -> [u32; 3] {
    const fn least(a: u32, b: u32) -> u32 {
        if a < b { a } else { b }
    }
    let block_threads = fast_block(n)[0];
    let n_tiles = n.div_ceil(block_threads * THREAD_ITEMS);
    let most = if n <= FEW_ITEMS {
        MAX_FEW_WARPS * WARP_LANES / FEW_THREADS
    } else if n < MANY_ITEMS {
        n_multiprocessors * (MULTIPROCESSOR_THREADS / block_threads)
    } else {
        n_tiles.div_ceil(MANY_ROUNDS)
    };
    let n_blocks = if n <= ONE_BLOCK_ITEMS {
        1
    } else {
        least(n_tiles, most)
    };
    [least(n_blocks, MAX_FAST_BLOCKS), 1, 1]
}

/// Additions an element goes through at most in a launch of `n_blocks` blocks
/// of `block_threads`.
pub const fn fast_depth(n: u32, n_blocks: u32, block_threads: u32) -> u32 {
    let block_items = block_threads * THREAD_ITEMS;
    let n_rounds = n.div_ceil(n_blocks * block_items);
    let n_rounds_over_blocks = n_blocks.div_ceil(block_items);
    // In a thread: the four chunks of a round (two), the rounds, the element
    // that fills no chunk, the four components (two). In a block: its warps'
    // lanes, then its warps. Few warps, gathered one by one, take fewer.
    let in_block = 2 + 1 + 2 + 2 * WARP_LANES.ilog2();
    (n_rounds + in_block) + (n_rounds_over_blocks + in_block)
}

#[cfg(test)]
mod tests {
    use super::{
        FEW_ITEMS, MAX_FAST_BLOCKS, ONE_BLOCK_ITEMS, THREAD_CHUNKS, WARP_LANES, fast_block,
        fast_depth, fast_grid, first_chunk, word_of,
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
            (0, 128),
            (1, 128),
            (2048, 128),
            (2049, 256),
            (4097, 288),
            (16_384, 1024),
        ] {
            assert_eq!(fast_block(n), [n_threads, 1, 1], "{n} elements");
            assert_eq!(fast_grid(n, 132), [1, 1, 1], "{n} elements");
        }
    }

    #[test]
    fn more_get_a_block_a_tile_up_to_the_limits() {
        assert_eq!(fast_grid(ONE_BLOCK_ITEMS + 1, 132), [5, 1, 1]);
        assert_eq!(fast_grid(1 << 16, 132), [16, 1, 1]);
        assert_eq!(fast_grid(FEW_ITEMS, 132), [16, 1, 1]);
        assert_eq!(fast_grid(FEW_ITEMS + 1, 132), [17, 1, 1]);
        assert_eq!(fast_grid(1 << 20, 132), [128, 1, 1]);
        assert_eq!(fast_grid(100_000_000, 132), [8 * 132, 1, 1]);
        assert_eq!(fast_grid(1 << 30, 132), [1 << 14, 1, 1]);
        assert_eq!(fast_grid((1 << 31) - 1, 132), [MAX_FAST_BLOCKS, 1, 1]);
        assert_eq!(fast_grid(1 << 26, 100_000), [8192, 1, 1]);
    }

    #[test]
    fn a_word_that_is_there_is_not_0() {
        assert_eq!(word_of(0.0), 1 << 32);
        assert_eq!(f32::from_bits(word_of(-1.5) as u32), -1.5);
    }

    #[test]
    fn the_depth_is_far_below_that_of_a_straight_sum() {
        assert!(fast_depth(100_000_000, 1056, 512) < 64);
    }
}
