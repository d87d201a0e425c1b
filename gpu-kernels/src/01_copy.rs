//! Copy: the memory's own speed, which everything else is measured against.
//!
//! `output[n] = input[n]` for `n_elements` values of `f32`. There is nothing to
//! compute and nothing to reuse: a copy of `n` elements moves `8 n` bytes and
//! cannot take less time than the memory needs for them. The driver has a copy of
//! its own (`cuMemcpyDtoD`). Matching it takes many bytes in flight at once.
//!
//! | kernel | bytes per access | bytes per access of a warp |
//! |---|---|---|
//! | [`copy`] | 4 | 128 |
//! | [`copy_vectorized`] | 16 | 512 |
//! | [`copy_safe`] | 4, as [`copy`], without `unsafe` | 128 |
//!
//! # 16 bytes per access
//!
//! Memory answers after more than a thousand cycles, and what it delivers per cycle is
//! the number of bytes in flight divided by that latency (Little's law). A GPU whose
//! memory moves 2 KB per cycle with a latency of 1,400 cycles needs 2.8 MB in flight,
//! more than 20 KB per SM. 2048 threads with 4 bytes each are 8 KB; with 16 bytes
//! each, 32 KB.
//!
//! # More bytes in flight
//!
//! Four such loads before the first store, or persistent blocks that loop, would keep
//! more bytes in flight, and might be expected to be faster still. On an H200 they are
//! slower. Blocks start in index order, so with little work in each,
//! everything in flight lies in one narrow window that moves through memory, and the
//! memory opens each of its pages once. `docs/tuning/copy_vectorized.md` has the
//! measurements.
//!
//! Left out: copies through shared memory by TMA, which
//! move the same bytes.

use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, thread_idx_x};
use cuda_std::vector::Float4;
use cuda_std::view::{Disjoint, Global, Linear};

/// Threads in a block.
pub const BLOCK_THREADS: u32 = 256;
/// Elements that move in one access of [`copy_vectorized`]: 16 bytes.
pub const CHUNK: u32 = 4;
/// Elements that a block of [`copy_vectorized`] copies.
pub const VECTORIZED_BLOCK_ELEMENTS: u32 = BLOCK_THREADS * CHUNK;

const _: () = assert!(size_of::<Float4>() == CHUNK as usize * size_of::<f32>());

// Which elements a thread copies:
//
//   block, thread       0, 0    0, 1    0, 2   …   0, 255        1, 0
//   copy                   0       1       2          255         256
//   copy_vectorized     0…3     4…7    8…11    1020…1023   1024…1027

/// One element per thread.
///
/// # Safety
///
/// `input` and `output` hold `n_elements` and do not overlap. Launch with [`BLOCK_THREADS`]
/// threads and [`grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn copy(input: *const f32, output: *mut f32, n_elements: u32) {
    let n = block_idx_x() * BLOCK_THREADS + thread_idx_x();
    if n < n_elements {
        *output.add(n as usize) = *input.add(n as usize);
    }
}

/// The first of a thread's four elements.
const fn first_of_four(block: u32, thread: u32) -> u32 {
    (block * BLOCK_THREADS + thread) * CHUNK
}

/// Four elements per thread, in one access.
///
/// # Safety
///
/// As [`copy`], with both aligned to 16 bytes and fewer than 2³² − 1024 elements. Launch with
/// [`BLOCK_THREADS`] threads and [`vectorized_grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn copy_vectorized(input: *const f32, output: *mut f32, n_elements: u32) {
    let first = first_of_four(block_idx_x(), thread_idx_x());
    if first + CHUNK <= n_elements {
        let four = Float4::load(input.add(first as usize).cast());
        four.store(output.add(first as usize).cast());
    } else {
        // The tail, element by element.
        for n in first..n_elements {
            *output.add(n as usize) = *input.add(n as usize);
        }
    }
}

/// [`copy`] as a safe function: the compiler makes sure that no two threads write the same element,
/// and the launch checks that the arrays are as long as their types say. The PTX does the same work.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn copy_safe(
    input: Global<[f32; n_elements]>,
    mut output: Disjoint<[f32; n_elements], Linear<BLOCK_THREADS>>,
    n_elements: u32,
) {
    let n = block_idx_x() * BLOCK_THREADS + thread_idx_x();
    if let (Some(value), Some(element)) = (input.get(n), output.own()) {
        element.set(value);
    }
}

/// Grid of [`copy`] and [`copy_safe`]. A grid has at least one block, even for no elements.
pub const fn grid(n_elements: u32) -> [u32; 3] {
    blocks_of(BLOCK_THREADS, n_elements)
}

/// Grid of [`copy_vectorized`].
pub const fn vectorized_grid(n_elements: u32) -> [u32; 3] {
    blocks_of(VECTORIZED_BLOCK_ELEMENTS, n_elements)
}

const fn blocks_of(block_elements: u32, n_elements: u32) -> [u32; 3] {
    let n_blocks = n_elements.div_ceil(block_elements);
    [if n_blocks == 0 { 1 } else { n_blocks }, 1, 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunks_of_two_blocks_are_all_elements_once() {
        const N: usize = 2 * VECTORIZED_BLOCK_ELEMENTS as usize;
        let mut seen = [false; N];
        for block in 0..2 {
            for thread in 0..BLOCK_THREADS {
                let first = first_of_four(block, thread);
                for n in first..first + CHUNK {
                    let n = n as usize;
                    assert!(!seen[n], "element {n} has two threads");
                    seen[n] = true;
                }
            }
        }
        assert!(seen.iter().all(|&seen| seen));
    }

    #[test]
    fn grids_cover_every_size() {
        for n in (0..20_000).step_by(7) {
            assert!(grid(n)[0] >= 1 && grid(n)[0] * BLOCK_THREADS >= n);
            let n_blocks = vectorized_grid(n)[0];
            assert!(n_blocks >= 1 && n_blocks * VECTORIZED_BLOCK_ELEMENTS >= n);
        }
    }
}
