//! Reductions, scans and exchanges of a block's values, through shared memory.
//!
//! | | gives | to |
//! |---|---|---|
//! | [`reduce`] | the values of all threads, put together by an operator | every thread |
//! | [`scan`] | those of the threads before this one, those up to this one, and those of all | each thread |
//! | [`exchange`] | elements in another distribution | each thread as many as it gave |
//!
//! ```
//! # use cuda_std::{block, prelude::*};
//! /// The sum of each block's elements.
//! #[kernel]
//! pub unsafe fn sums(x: *const f32, sums: *mut f32) {
//!     let scratch = shared_array![f32; block::SCRATCH];
//!     let x = *x.add(thread::index_1d() as usize);
//!     let sum = block::reduce(scratch, x, |a, b| a + b);
//!     if thread::thread_idx_x() == 0 {
//!         *sums.add(thread::block_idx_x() as usize) = sum;
//!     }
//! }
//! ```
//!
//! Threads are numbered as by [`thread::index_in_block`], and may be of any number: the last warp
//! need not be full. Each call has two barriers and no bank conflicts, and the next call may use
//! the same scratch memory at once, for values of the same size; for anything else, a barrier comes first.
//!
//! Operators are as in [`warp::reduce`]: associative, with lower threads always on the left.

use crate::thread::{self, sync_threads};
use crate::warp::{self, WarpShuffleValue};

/// Elements of scratch memory that [`reduce`] and [`scan`] need: two per warp of the largest block.
pub const SCRATCH: usize = 2 * MAX_WARPS;

const MAX_WARPS: usize = 32;

/// `op` over the values of the block's threads, in every thread. 5 shuffles per warp, and 5 in the
/// first warp (twice that for 64 bits).
///
/// # Safety
///
/// `scratch` points to [`SCRATCH`] elements of shared memory, the same for all threads. All threads
/// of the block call it together, as [`sync_threads`].
#[inline(always)]
pub unsafe fn reduce<T: WarpShuffleValue>(scratch: *mut T, value: T, op: impl Fn(T, T) -> T) -> T {
    // SAFETY: by this function's own contract.
    unsafe { reduce_in(Halves::of(scratch), value, op) }
}

/// [`reduce`], with the halves of the scratch memory.
///
/// # Safety
///
/// As [`reduce`].
#[inline(always)]
pub(crate) unsafe fn reduce_in<T: WarpShuffleValue>(
    halves: Halves<T>,
    value: T,
    op: impl Fn(T, T) -> T,
) -> T {
    // SAFETY: by this function's own contract.
    unsafe {
        let of_warp = warp::reduce(warp::n_lanes(), value, &op);
        of_warps(halves, of_warp, 0, |of_warp, n_warps| {
            warp::reduce(n_warps, of_warp, &op)
        });
        *halves.results
    }
}

/// What [`scan`] gives a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<T> {
    /// The values of all threads before this one.
    pub exclusive: T,
    /// The same and this thread's own.
    pub inclusive: T,
    /// The values of all threads of the block.
    pub total: T,
}

/// `op` over the values of the threads before this one, those up to this one, and all; what of
/// these is not used costs nothing. `op(identity, x)` is `x`. 6 shuffles per warp, and 5 in the
/// first warp (twice that for 64 bits).
///
/// # Safety
///
/// As [`reduce`].
#[inline(always)]
pub unsafe fn scan<T: WarpShuffleValue>(
    scratch: *mut T,
    value: T,
    identity: T,
    op: impl Fn(T, T) -> T,
) -> Scan<T> {
    // SAFETY: by this function's own contract.
    unsafe { scan_in(Halves::of(scratch), value, identity, op) }
}

/// [`scan`], with the halves of the scratch memory.
///
/// # Safety
///
/// As [`reduce`].
#[inline(always)]
pub(crate) unsafe fn scan_in<T: WarpShuffleValue>(
    halves: Halves<T>,
    value: T,
    identity: T,
    op: impl Fn(T, T) -> T,
) -> Scan<T> {
    // SAFETY: by this function's own contract.
    unsafe {
        let n_lanes = warp::n_lanes();
        let inclusive = warp::inclusive_scan(n_lanes, value, &op);
        let (before, exists) =
            warp::warp_shuffle_up(warp::FULL_MASK >> (32 - n_lanes), inclusive, 1, 32);
        of_warps(halves, inclusive, n_lanes - 1, |of_warp, n_warps| {
            warp::inclusive_scan(n_warps, of_warp, &op)
        });
        let warps_before = match warp::warp_id() {
            0 => identity,
            warp => *halves.results.add(warp as usize - 1),
        };
        Scan {
            exclusive: if exists {
                op(warps_before, before)
            } else {
                warps_before
            },
            inclusive: op(warps_before, inclusive),
            total: *halves.results.add(n_warps() as usize - 1),
        }
    }
}

/// The halves of the scratch memory, of one element per warp each.
///
/// The next call writes to the first half before its first barrier, where threads may still read
/// the second, and to the second after it, where they no longer do. So the halves of calls that
/// follow each other must not overlap.
pub(crate) struct Halves<T> {
    values: *mut T,
    results: *mut T,
}

impl<T> Clone for Halves<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Halves<T> {}

impl<T> Halves<T> {
    /// Of [`SCRATCH`] elements.
    #[inline(always)]
    fn of(scratch: *mut T) -> Self {
        let results = scratch.wrapping_add(MAX_WARPS);
        Self {
            values: scratch,
            results,
        }
    }

    /// The same halves for elements of any size up to 8 bytes.
    #[inline(always)]
    pub(crate) fn of_any(scratch: *mut [u64; SCRATCH]) -> Self {
        const { assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8) }
        let halves = Halves::of(scratch.cast::<u64>());
        Self {
            values: halves.values.cast(),
            results: halves.results.cast(),
        }
    }
}

/// Has the first warp compute with one value per warp, which is that of a given lane: its lanes'
/// results are then in the second half of the scratch memory.
///
/// # Safety
///
/// As [`reduce`].
#[inline(always)]
unsafe fn of_warps<T: Copy>(
    Halves { values, results }: Halves<T>,
    of_warp: T,
    lane: u32,
    compute: impl FnOnce(T, u32) -> T,
) {
    // SAFETY: by this function's own contract.
    unsafe {
        if warp::lane_id() == lane {
            *values.add(warp::warp_id() as usize) = of_warp;
        }
        sync_threads();
        let (thread, n_warps) = (thread::index_in_block(), n_warps());
        if thread < n_warps {
            let of_warp = *values.add(thread as usize);
            *results.add(thread as usize) = compute(of_warp, n_warps);
        }
        sync_threads();
    }
}

/// The number of the block's warps, the last one included.
#[inline(always)]
fn n_warps() -> u32 {
    thread::n_threads_in_block().div_ceil(32)
}

/// Elements of scratch memory that an [`exchange`] of `N` elements of `T` per thread needs.
pub const fn exchange_scratch<T, const N: usize>(n_threads: u32) -> usize {
    match n_threads as usize * N {
        0 => 0,
        n => place::<T, N>(n - 1) + 1,
    }
}

/// Distributes the block's elements anew, through shared memory. Of a thread's `N` elements, number
/// `k` goes to place `put(k)` in an array of all threads' elements; of this array it then gets the
/// `N` at `get(0)`, `get(1)`, ….
///
/// [`blocked`] and [`striped`] are the usual places, and `|k| ranks[k]` scatters: a sort gives each
/// element its rank. A blocked distribution is what a thread computes with, a striped one what warps
/// load and store well:
///
/// ```
/// # use cuda_std::{block, prelude::*};
/// /// Running sums of 4 elements per thread, of 256 threads.
/// #[kernel(launch_bounds(256))]
/// pub unsafe fn running_sums(x: *const f32, y: *mut f32) {
///     let scratch = shared_array![f32; block::exchange_scratch::<f32, 4>(256)];
///     let loaded = core::array::from_fn(|k| *x.add(block::striped(k) as usize));
///     let [a, b, c, d] = block::exchange(scratch, loaded, block::striped, block::blocked::<4>);
///     let sums = [a, a + b, a + b + c, a + b + c + d];
///     let sums = block::exchange(scratch, sums, block::blocked::<4>, block::striped);
///     for (k, sum) in sums.into_iter().enumerate() {
///         *y.add(block::striped(k) as usize) = sum;
///     }
/// }
/// ```
///
/// Between these two there are no bank conflicts, for elements of 4 and 8 bytes and whole warps:
/// the scratch memory is padded.
///
/// # Safety
///
/// `scratch` points to [`exchange_scratch`] elements of shared memory for the block's number of
/// threads, the same for all of them. All threads of the block call it together, as
/// [`sync_threads`]. No two elements have the same place, and all places are less than `N` times the
/// number of threads.
#[inline(always)]
pub unsafe fn exchange<T: Copy, const N: usize>(
    scratch: *mut T,
    elements: [T; N],
    put: impl Fn(usize) -> u32,
    get: impl Fn(usize) -> u32,
) -> [T; N] {
    let mut elements = elements;
    // SAFETY: by this function's own contract.
    unsafe {
        for (k, element) in elements.iter().enumerate() {
            *scratch.add(place::<T, N>(put(k) as usize)) = *element;
        }
        sync_threads();
        for (k, element) in elements.iter_mut().enumerate() {
            *element = *scratch.add(place::<T, N>(get(k) as usize));
        }
        sync_threads();
    }
    elements
}

/// The place of this thread's element `k` of `N`, where a thread's elements lie together.
#[inline(always)]
pub fn blocked<const N: usize>(k: usize) -> u32 {
    thread::index_in_block() * N as u32 + k as u32
}

/// The place of this thread's element `k`, where those of adjacent threads lie together.
#[inline(always)]
pub fn striped(k: usize) -> u32 {
    k as u32 * thread::n_threads_in_block() + thread::index_in_block()
}

/// Where an element lies in an exchange's scratch memory.
///
/// Lanes whose elements lie `N` apart meet in one bank as soon as that distance times their own is a
/// multiple of all the banks. There, one element is left out.
const fn place<T, const N: usize>(index: usize) -> usize {
    let n_banks = if size_of::<T>() == 0 {
        1
    } else {
        128 / size_of::<T>()
    };
    let mut common = 1;
    while common < n_banks && N.is_multiple_of(2 * common) {
        common *= 2;
    }
    index + index / (n_banks / common * N)
}
