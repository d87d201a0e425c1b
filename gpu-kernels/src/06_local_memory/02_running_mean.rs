//! One tile for the whole block: a running mean over windows of any size.
//!
//! The block's tile of the input is divided into *chunks* of 17 elements, one per
//! thread. The last chunks are the *halo*: windows reach into them, but none
//! starts there.
//!
//! ```text
//!     thread     0          1          2         …        382       383
//!     tile     [chunk 0 ][chunk 1 ][chunk 2 ]   …      [chunk 382][chunk 383]
//!                outputs 0…16  17…33   34…50              halo      halo
//!
//!     window of the thread's first output, W = 90:
//!              [ group 0: chunks 0 to 3     ][chunk 4 ][5 more]
//! ```
//!
//! 1. The tile is loaded, 16 bytes per access, lanes side by side.
//! 2. Each thread adds up its chunk.
//! 3. Each thread adds up the sums of four chunks, its *group*: its own and the next.
//! 4. Each thread adds up its first window: whole groups, whole chunks, then single
//!    elements.
//! 5. It slides on: + the element that enters − the one that leaves.
//! 6. The outputs go through the tile too, so that lanes store side by side.
//!
//! In 2 and 5 lanes are a chunk apart. A chunk is an odd number of elements, so
//! 32 lanes meet 32 banks, without padding: see [`crate::bank_conflicts`].
//!
//! A 16-byte access starts at a multiple of 4 elements. The window of the block's
//! first output need not, so the tile starts up to 3 elements before it: the
//! *lead*.

use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::{blocks, element_or_zero, window_start};
use cuda_std::unrolled;

/// Elements of a thread of [`running_mean_shared`]: an odd number.
pub const CHUNK: u32 = 17;
/// Threads in a block of [`running_mean_shared`].
pub const TILE_THREADS: u32 = 384;
/// Elements that a block of [`running_mean_shared`] loads.
pub const TILE_ELEMENTS: u32 = TILE_THREADS * CHUNK;
/// Largest window of [`running_mean_shared`]. A third of the tile is halo then.
pub const MAX_WINDOW: u32 = 2048;

const CHUNK_ELEMENTS: usize = CHUNK as usize;
/// Chunks whose sums are added up beforehand.
const GROUP: u32 = 4;
/// Elements that move in one access: 16 bytes.
const QUAD: u32 = 4;
const TILE_QUADS: u32 = TILE_ELEMENTS / QUAD;
/// Accesses of a thread that move the tile.
const THREAD_QUADS: usize = TILE_QUADS.div_ceil(TILE_THREADS) as usize;

const _: () = assert!(CHUNK % 2 == 1);
const _: () = assert!(TILE_ELEMENTS.is_multiple_of(QUAD));
const _: () = assert!(tile_outputs(MAX_WINDOW) * 5 > TILE_ELEMENTS * 3);

/// Outputs of a block: all chunks but those that the last window, the step after
/// it and the lead reach into, and a whole number of 16-byte accesses.
#[inline(always)]
pub const fn tile_outputs(window: u32) -> u32 {
    let n_chunks = (TILE_ELEMENTS - window - (QUAD - 1)) / CHUNK;
    n_chunks * CHUNK / QUAD * QUAD
}

/// Bound of the error of [`running_mean_shared`], relative to the mean magnitude
/// of the inputs that an output depends on: those in its window, the 16 before
/// it, which may have been in the thread's sum, and the next:
///
/// ```text
///     (|input[i − W/2 − 16]| + … + |input[i − W/2 + W]|) / W
/// ```
///
/// An element of the first window goes through 16 additions in its chunk, 3 in its
/// group, one per group, up to 3 of chunks without a group, 16 of single elements, and
/// two that join these sums. Each of 16 steps rounds the sum, and the steps together
/// round the differences; the mean takes two roundings. One rounding costs at most
/// 2⁻²⁴ of the magnitudes.
pub const fn shared_error_bound(window: u32) -> f64 {
    let first_window = 2 * (CHUNK - 1) + 2 * (GROUP - 1) + window / (GROUP * CHUNK) + 2;
    let n_roundings = first_window + (CHUNK - 1) + 2 + 2;
    // The extra covers products of roundings.
    1.001 * n_roundings as f64 / (1 << 24) as f64
}

/// `at(0) + … + at(n − 1)`, four loads in flight.
#[inline(always)]
fn sum_of(n: u32, at: impl Fn(u32) -> f32) -> f32 {
    let mut sum = 0.0;
    let mut i = 0;
    while i + 4 <= n {
        sum += (at(i) + at(i + 1)) + (at(i + 2) + at(i + 3));
        i += 4;
    }
    while i < n {
        sum += at(i);
        i += 1;
    }
    sum
}

/// Running mean over any window up to [`MAX_WINDOW`]: a tile in shared memory
/// and sliding sums.
///
/// Sums are taken in a different order: the result does not match the other
/// kernels' bit for bit, but lies within [`shared_error_bound`]. An infinity or NaN
/// also spoils the rest of its chunk after it has left the window.
///
/// # Safety
///
/// `input` and `output` are aligned to 16 bytes, hold `n_elements` elements,
/// fewer than 2³¹, and do not overlap; `window` is in 1..=[`MAX_WINDOW`]. Launch
/// with [`SHARED_BLOCK`] threads and [`shared_grid`] blocks.
#[kernel(launch_bounds(TILE_THREADS, 4))]
pub unsafe fn running_mean_shared(
    input: *const f32,
    output: *mut f32,
    n_elements: u32,
    window: u32,
) {
    let tile_quads = shared_array![Float4; TILE_QUADS as usize];
    let chunk_sums = shared_array![f32; TILE_THREADS as usize];
    let group_sums = shared_array![f32; TILE_THREADS as usize];
    let tile = tile_quads.cast::<f32>();
    let thread = thread::thread_idx_x();
    let n_outputs = tile_outputs(window);
    let first_output = thread::block_idx_x() * n_outputs;
    let first_input = window_start(first_output, window);
    let lead = first_input % QUAD;
    let tile_start = first_input - lead;
    // The thread's share of the tile: a row of elements, and quads that are a
    // block's width apart.
    let chunk = tile.add((thread * CHUNK) as usize);
    let quad = |k: usize| k as u32 * TILE_THREADS + thread;

    // 1. All loads before the first store: 5 accesses in flight at once.
    let mut quads = [Float4::default(); THREAD_QUADS];
    if tile_start < n_elements && n_elements - tile_start >= TILE_ELEMENTS {
        let first = input.add(tile_start as usize).cast::<Float4>();
        unrolled::<THREAD_QUADS>(|k| {
            if quad(k) < TILE_QUADS {
                quads[k] = ldg(first.add(quad(k) as usize));
            }
        });
    } else {
        unrolled::<THREAD_QUADS>(|k| {
            if quad(k) < TILE_QUADS {
                let i = tile_start.wrapping_add(quad(k) * QUAD);
                let at = |j| element_or_zero(input, i.wrapping_add(j), n_elements);
                quads[k] = Float4::new(at(0), at(1), at(2), at(3));
            }
        });
    }
    unrolled::<THREAD_QUADS>(|k| {
        if quad(k) < TILE_QUADS {
            quads[k].store(tile_quads.add(quad(k) as usize));
        }
    });
    thread::sync_threads();

    // 2. From here on a chunk starts after the lead. The last one ends past the
    // tile; no window contains all of it, so its sum is not needed.
    let elements = chunk.add(lead as usize);
    let mut values = [0.0; CHUNK_ELEMENTS];
    let mut sum = 0.0;
    if thread < TILE_THREADS - 1 {
        unrolled::<CHUNK_ELEMENTS>(|k| {
            values[k] = *elements.add(k);
            sum += values[k];
        });
    }
    *chunk_sums.add(thread as usize) = sum;
    thread::sync_threads();
    // 3. The last groups have fewer chunks, and their sums are not needed either. A
    // window shorter than a group needs none.
    if window >= GROUP * CHUNK {
        unrolled::<{ GROUP as usize - 1 }>(|k| {
            let other = thread + 1 + k as u32;
            if other < TILE_THREADS {
                sum += *chunk_sums.add(other as usize);
            }
        });
        *group_sums.add(thread as usize) = sum;
        thread::sync_threads();
    }

    let has_outputs = thread * CHUNK < n_outputs;
    if has_outputs {
        // 4.
        let (n_chunks, n_elements) = (window / CHUNK, window % CHUNK);
        let (n_groups, n_chunks) = (n_chunks / GROUP, n_chunks % GROUP);
        let groups = group_sums.add(thread as usize);
        let chunks = chunk_sums.add((thread + n_groups * GROUP) as usize);
        let singles = elements.add((window - n_elements) as usize);
        let mut sum = sum_of(n_groups, |i| *groups.add((i * GROUP) as usize))
            + sum_of(n_chunks, |i| *chunks.add(i as usize))
            + sum_of(n_elements, |i| *singles.add(i as usize));
        // 5. An output takes the place of the element that leaves.
        let scale = 1.0 / window as f32;
        let entering = elements.add(window as usize);
        unrolled::<CHUNK_ELEMENTS>(|k| {
            let leaving = values[k];
            values[k] = sum * scale;
            sum += *entering.add(k) - leaving;
        });
    }
    // 6. Only once every thread has read what it needs of the tile.
    thread::sync_threads();
    if has_outputs {
        unrolled::<CHUNK_ELEMENTS>(|k| *chunk.add(k) = values[k]);
    }
    thread::sync_threads();
    if first_output < n_elements {
        let n_outputs = n_outputs.min(n_elements - first_output);
        let (n_quads, n_rest) = (n_outputs / QUAD, n_outputs % QUAD);
        let outputs = output.add(first_output as usize);
        unrolled::<THREAD_QUADS>(|k| {
            if quad(k) < n_quads {
                let i = quad(k) as usize;
                Float4::load(tile_quads.add(i)).store(outputs.cast::<Float4>().add(i));
            }
        });
        if thread < n_rest {
            let i = (n_quads * QUAD + thread) as usize;
            *outputs.add(i) = *tile.add(i);
        }
    }
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of [`running_mean_shared`], in threads.
pub const SHARED_BLOCK: [u32; 3] = [TILE_THREADS, 1, 1];

/// Grid of [`running_mean_shared`].
pub const fn shared_grid(n_elements: u32, window: u32) -> [u32; 3] {
    [blocks(n_elements, tile_outputs(window), u32::MAX), 1, 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_holds_every_element_that_its_outputs_need() {
        for window in 1..=MAX_WINDOW {
            let n_outputs = tile_outputs(window);
            assert!(n_outputs.is_multiple_of(QUAD), "window {window}");
            // The last thread with outputs goes through a whole chunk.
            let last_entering = (QUAD - 1) + n_outputs.next_multiple_of(CHUNK) - 1 + window;
            assert!(last_entering < TILE_ELEMENTS, "window {window}");
            // And no whole chunk of outputs is given away.
            assert!(
                last_entering + CHUNK + QUAD >= TILE_ELEMENTS,
                "window {window}"
            );
        }
    }

    #[test]
    fn grids_cover_every_size() {
        for n in (0..100_000).step_by(97) {
            for window in [1, 2, 31, 32, 1000, MAX_WINDOW] {
                let [n_blocks, _, _] = shared_grid(n, window);
                assert!(n_blocks >= 1 && n_blocks * tile_outputs(window) >= n);
            }
        }
    }
}
