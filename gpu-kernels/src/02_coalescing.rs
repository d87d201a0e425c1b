//! Coalescing: how many pieces of memory one access of a warp touches.
//!
//! Every kernel here adds two vectors of `f32`, `z[n] = x[n] + y[n]`. They
//! differ in which `n` a thread works on, and that alone makes some of them many
//! times slower: the additions are free, and only memory traffic counts.
//!
//! # Requests and sectors
//!
//! The 32 threads of a warp, its *lanes*, execute one load together. The load
//! leaves the warp as one *request* with 32 addresses. Memory is read not
//! by the byte but by the *sector*: 32 bytes that start at a multiple of 32. The
//! memory system works out which sectors the 32 addresses fall into and fetches
//! each of them once, in full, however few of its bytes were asked for.
//!
//! 32 lanes that read an `f32` each want 128 bytes. In the best case those are
//! four whole sectors; in the worst they are spread over 32, and seven eighths
//! of what is fetched is thrown away. The *degree of coalescing* is the share used:
//!
//! ```text
//!     degree = bytes the warp asked for / (sectors touched × 32 bytes)
//! ```
//!
//! Lanes that read the same word ask for it once.
//!
//! | kernel | lane `t` of block `b` works on | sectors per request | degree |
//! |---|---|---|---|
//! | [`add`] | its own index | 4 | 100% |
//! | [`add_permuted`] | its neighbour's index | 4 | 100% |
//! | [`add_offset`] | its index + 1 | 5 | 80% |
//! | [`add_stride`] | `b + t · blocks` | 32 | 12.5% |
//! | [`add_broadcast`] | its index, but `x[0]` | 1 for `x`, 4 for `y` and `z` | 12.5% for `x`, 100% for `y` and `z` |
//! | [`add_vectorized`] | four consecutive elements | 16, all of 512 bytes | 100% |
//! | [`add_safe`] | its own index, without `unsafe` | 4 | 100% |
//!
//! So the order of the lanes within the sectors does not matter; the number of
//! sectors does. A misaligned warp touches a quarter more of them, but its
//! neighbour wants the other part of the sector they share and mostly finds it
//! in the cache. The strided pattern is the one to fear: it fetches eight times
//! the bytes it uses, and by the time another block comes for the rest of
//! a sector, the cache has often evicted it. The broadcast looks just as bad in the
//! table, but there only one sector is fetched, to use an eighth of it: it
//! costs one, not four.
//!
//! # The cure
//!
//! Let neighbouring lanes work on neighbouring elements. Where the data does not
//! lie that way, transpose it in shared memory ([`crate::transpose`]).
//!
//! [`add_vectorized`] goes one step further. Its requests are as well coalesced
//! as [`add`]'s, but each moves four times the bytes. To keep the memory of a
//! large GPU busy, tens of kilobytes per SM must be in flight at any time, and an SM
//! holds a limited number of threads: each has to ask for more. The cost is alignment:
//! the vectors must start at multiples of 16 bytes.
//!
//! # Limits
//!
//! Memory bandwidth. [`add_vectorized`] moves its bytes faster than a copy does, since
//! two of its three accesses are reads, which memory serves better than writes. More
//! bytes in flight do not help, fewer hurt; streaming stores help a little. The log is
//! `docs/tuning/add_vectorized.md`.
//!
//! Left out: atomics, which coalesce by rules of their own, and the caches,
//! which change what a sector costs but not how many are asked for.

use cuda_std::prelude::*;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, index_1d, thread_idx_x};
use cuda_std::vector::Float4;
use cuda_std::view::{Disjoint, Global};

use crate::warp::WARP_LANES;

/// Threads in a block when sectors are counted: one warp, for which an offset of one element crosses
/// into exactly one more sector.
pub const COUNTED_BLOCK_THREADS: u32 = WARP_LANES;
/// Blocks in the grid when sectors are counted; of one warp each, so that this is also the number of
/// requests of a load.
pub const COUNTED_BLOCKS: u32 = 128;
/// Threads in a block when time is measured.
pub const TIMED_BLOCK_THREADS: u32 = 256;
/// Threads in a block of [`add_vectorized`].
pub const VECTORIZED_BLOCK_THREADS: u32 = 1024;
/// Elements that move in one access of [`add_vectorized`]: 16 bytes.
pub const CHUNK: u32 = 4;
/// Elements that a block of [`add_vectorized`] adds.
pub const VECTORIZED_BLOCK_ELEMENTS: u32 = VECTORIZED_BLOCK_THREADS * CHUNK;

const _: () = assert!(size_of::<Float4>() == CHUNK as usize * size_of::<f32>());

// ---------------------------------------------------------------------------
// One element per thread
// ---------------------------------------------------------------------------
//
// The element `n` that a thread works on. In the table `f` is the first element of the block
// and `B` the number of blocks:
//
//   lane            0     1     2     3    …    sectors of x
//   add             f     f+1   f+2   f+3       four, which are read whole
//   add_permuted    f+1   f     f+3   f+2       the same four
//   add_offset      f+1   f+2   f+3   f+4       the same four and the next
//   add_stride      b     b+B   b+2B  b+3B      32 different ones (B ≥ 8)

/// Lanes side by side: four whole sectors per request.
///
/// # Safety
///
/// `x`, `y` and `z` hold `n_elements`, and `z` overlaps none of the others. Launch with blocks of
/// one dimension and [`grid`] blocks.
#[kernel]
pub unsafe fn add(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = (block_idx_x() * block_dim_x() + thread_idx_x()) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// Neighbouring lanes swap places: the same four sectors, so nothing is lost.
///
/// # Safety
///
/// As [`add`], and a block has an even number of threads.
#[kernel]
pub unsafe fn add_permuted(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = (block_idx_x() * block_dim_x() + (thread_idx_x() ^ 1)) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// Everything one element later: the warp starts inside one sector and ends
/// inside another, five in all. Leaves `z[0]` unchanged.
///
/// # Safety
///
/// As [`add`], with [`grid`] of one element fewer.
#[kernel]
pub unsafe fn add_offset(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = (block_idx_x() * block_dim_x() + thread_idx_x() + 1) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// Every lane has a sector to itself and uses an eighth of it.
///
/// There are 32 sectors per request if the grid has 8 blocks or more.
///
/// # Safety
///
/// As [`add`].
#[kernel]
pub unsafe fn add_stride(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = (block_idx_x() + thread_idx_x() * grid_dim_x()) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// `z[n] = x[0] + y[n]`: all lanes read the same word of `x`, which is one
/// sector per request.
///
/// # Safety
///
/// As [`add`], but one element of `x` is enough.
#[kernel]
pub unsafe fn add_broadcast(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = (block_idx_x() * block_dim_x() + thread_idx_x()) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x + *y.add(n);
    }
}

// ---------------------------------------------------------------------------
// 16 bytes per access
// ---------------------------------------------------------------------------

/// Four elements per thread, in one access to each array.
///
/// # Safety
///
/// As [`add`], with all three aligned to 16 bytes and fewer than 2³² − 4096 elements. Launch with
/// [`VECTORIZED_BLOCK_THREADS`] threads and [`vectorized_grid`] blocks.
#[kernel(launch_bounds(VECTORIZED_BLOCK_THREADS))]
pub unsafe fn add_vectorized(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let first = CHUNK * (block_idx_x() * VECTORIZED_BLOCK_THREADS + thread_idx_x());
    if first + CHUNK <= n_elements {
        let four_of = |array: *const f32| Float4::load(array.add(first as usize).cast());
        let (a, b) = (four_of(x), four_of(y));
        let sums = Float4::new(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        // Nothing reads the sums during the launch.
        sums.store_streaming(z.add(first as usize).cast());
    } else {
        // The tail of the vectors, element by element.
        for n in first..n_elements {
            let n = n as usize;
            *z.add(n) = *x.add(n) + *y.add(n);
        }
    }
}

// ---------------------------------------------------------------------------
// Without `unsafe`
// ---------------------------------------------------------------------------

/// [`add`] as a safe function: a thread reads any element and writes only its own.
/// The PTX does the same work.
#[kernel]
pub fn add_safe(
    x: Global<[f32; n_elements]>,
    y: Global<[f32; n_elements]>,
    mut z: Disjoint<[f32; n_elements]>,
    n_elements: u32,
) {
    let n = index_1d(); // blockIdx.x * blockDim.x + threadIdx.x
    if let (Some(x), Some(y), Some(z)) = (x.get(n), y.get(n), z.own()) {
        z.set(x + y);
    }
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Blocks that give each of `n_elements` elements a thread. A grid has at least
/// one block, even for no elements.
pub const fn grid(n_elements: u32, block_threads: u32) -> [u32; 3] {
    [at_least_one(n_elements.div_ceil(block_threads)), 1, 1]
}

/// Grid of [`add_vectorized`].
pub const fn vectorized_grid(n_elements: u32) -> [u32; 3] {
    [
        at_least_one(n_elements.div_ceil(VECTORIZED_BLOCK_ELEMENTS)),
        1,
        1,
    ]
}

const fn at_least_one(n: u32) -> u32 {
    if n == 0 { 1 } else { n }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_cover_every_size() {
        for n in 0..5000 {
            let [blocks, _, _] = grid(n, TIMED_BLOCK_THREADS);
            assert!(blocks >= 1 && blocks * TIMED_BLOCK_THREADS >= n);
            let [blocks, _, _] = vectorized_grid(n);
            assert!(blocks >= 1 && blocks * VECTORIZED_BLOCK_ELEMENTS >= n);
        }
    }
}
