//! Local memory: where a thread's own array goes, by the example of a running
//! mean.
//!
//! The mean over a window of `W` elements, centred, with zeros outside the
//! array:
//!
//! ```text
//!     output[i] = (input[i − W/2] + … + input[i − W/2 + W − 1]) / W
//! ```
//!
//! A thread first copies its window into an array of its own, then adds it up.
//! In [`running_mean_registers`](running_mean_registers_32) and
//! [`running_mean_local`](running_mean_local_32) that array is used in nearly
//! the same way, and in two very different places.
//!
//! # What the hardware does
//!
//! A thread has up to 255 registers, and an instruction names the register it
//! uses: there is no "register number `j`". An array can live in registers only
//! if every index is a constant when the code is compiled. So loops over it
//! must be unrolled, until `window[j]` has become `window[0]`, `window[1]`, ….
//!
//! If one single index is not constant, the whole array goes to *local memory*.
//! In spite of its name that is ordinary device memory, which each thread has a
//! stretch of: an access goes through the L1 cache like any other, takes some
//! thirty cycles there and hundreds behind it, where a register takes none. The
//! thread's stretch is laid out so that lanes that use the same index lie side
//! by side: word `j` of the 32 lanes is one line of 128 bytes, four sectors. If
//! every lane uses an index of its own, it is up to 32.
//!
//! Two places tell that it has happened. In the PTX there is a `.local` array
//! of `4·W` bytes, with `ld.local` and `st.local`; and ptxas reports a *stack
//! frame* of that size. Registers can run out, too: then ptxas puts values in
//! local memory as well, which it reports as *spills*. (For an
//! array of two words the compiler still finds a way round: it chooses between
//! two registers. Three are too many.)
//!
//! | kernel | index | the window lives in | loads an output |
//! |---|---|---|---|
//! | `running_mean_registers_W` | `j`, unrolled | registers | `W` global |
//! | `running_mean_local_W` | `(j + n) mod W`, `n` known at run time | local memory | `W` global, `W` local (and `W` local stores) |
//! | [`running_mean_shared`] | – | shared memory, for a whole block | about 1 global, 4 shared |
//!
//! `(j + n) mod W` goes through the window in a circle that starts somewhere
//! else. Used for the stores and the loads alike, it changes nothing in the
//! result, and the compiler cannot know where it starts. Both loops are unrolled
//! as the others are: what differs is the index, and nothing else.
//!
//! # The cure
//!
//! Constant indices: window sizes as constants of the code, and loops written
//! so that they must be unrolled (`unrolled`, below), not loops of which one
//! hopes it (LLVM unrolls up to about 16 turns of this one and no more). What it
//! costs: code grows with `W`, and a kernel is compiled for every `W` there is.
//!
//! Where an array must be indexed at run time, shared memory is the better
//! place. [`running_mean_shared`] uses it for more: neighbouring windows have
//! nearly all elements in common, so a block loads its stretch of the input
//! once, and from one window to the next a thread adds the element that enters
//! and subtracts the one that leaves. It loads an element once where the others
//! load it `W` times, and takes windows of any size up to [`MAX_WINDOW`], given
//! at run time.
//!
//! Left out: even windows have no middle, and are centred half an element late.
//!
//! # Record of tuning: [`running_mean_shared`] on an H200
//!
//! Fewest bytes: 8 an element, 537 MB for 2²⁶, which the driver's copy moves in
//! 130 µs; fewest operations: three an output. Tiles of 256 threads with 23 elements
//! each took 133.4, 133.1 and 134.5 µs for windows of 4, 32 and 1024 (0.975, 0.975 and
//! 0.965 of the copy's speed; on another card 0.968, 0.968 and 0.960); loads through the
//! read-only path brought 0.5%. Now it is 0.969 to 0.983 for windows from 128 on, and
//! 0.966 to 0.969 for shorter ones. Most of the gap is the structure, load, barrier,
//! store: a copy that is built like that, and computes nothing, has 0.98
//! ([the transpose's record](crate::transpose)). To be tried next: 256 threads of 23 again,
//! now that no loop is left as rustc leaves it, and 512 of 13 for windows that fit (0.977
//! in CUDA C++).
//!
//! | step | predicted | measured, windows of 4, 32, 1024 |
//! |---|---|---|
//! | 384 threads of 17, sums of four chunks | +1% | −0.2%, −0.1%, +0.5% |
//! | no sums of four chunks where no window has four | +0.5% | 0 |
//! | loops that rustc leaves as they are: four loads under way | 0 | +2% at 1000, which has 14 elements beside its chunks |
//! | sums of eight chunks, or four sums of chunks side by side | +0.5% | −0.5%, −0.5%, 0 |
//! | 256 threads of 23, five or six blocks a multiprocessor | +1% | −0.5%, −0.5%, −0.7% |
//! | 256 threads of 19, seven blocks | +1% | −0.5%, 0, +0.7% |
//! | copies to shared memory that pass no register (`cp.async`) | +1% | −7%, −0.5%, −5% |
//! | smaller tiles, as small blocks copy best: 15 elements a thread | +1% | +0.5%, +0.5%, −5%: the halo |
//! | 128 threads of 23 | +1% | +1%, +1%, −1% |
//! | 19 a thread, six blocks a multiprocessor | +1% | −0.5%, −0.5%, +1% |
//! | 512 threads of 11 or 15 | 0 | +0.5%, +0.5%, −5 to −23% |
//! | streaming stores, loads or stores evicted first | +1% | −1 to −6% |
//! | stores evicted last | +1% | +1.5%, by what is left in the cache at the end: not used |

use core::mem::MaybeUninit;

use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use crate::unrolled::unrolled;

/// Threads in a block of the kernels with a window of each thread's own.
pub const BLOCK_THREADS: u32 = 256;
/// Most blocks they are launched with: a thread goes on with another output
/// when there are more.
pub const MAX_BLOCKS: u32 = 1024;
/// Windows that `running_mean_registers_W` and `running_mean_local_W` exist for.
pub const WINDOWS: [u32; 6] = [3, 5, 16, 32, 64, 128];

// ---------------------------------------------------------------------------
// What the kernels have in common
// ---------------------------------------------------------------------------

/// Element `i`, or zero outside the array. What lies before element 0 has
/// wrapped to large numbers, so that one comparison is enough.
#[inline(always)]
unsafe fn element_or_zero(input: *const f32, i: u32, n_elements: u32) -> f32 {
    if i < n_elements {
        *input.add(i as usize)
    } else {
        0.0
    }
}

/// First element of the window of output `i`.
#[inline(always)]
const fn window_start(i: u32, window: u32) -> u32 {
    i.wrapping_sub(window / 2)
}

// ---------------------------------------------------------------------------
// A window of each thread's own
// ---------------------------------------------------------------------------
//
// A grid-stride loop: thread `t` of `T` computes outputs t, t + T, t + 2T, ….
// The array is filled before it is read, so it starts uninitialised; filling it
// with zeros first would be `W` more stores to local memory.

/// The window in registers: constant indices.
#[inline(always)]
unsafe fn running_mean_registers<const W: usize>(
    input: *const f32,
    output: *mut f32,
    n_elements: u32,
) {
    let mut i = thread::index_1d();
    while i < n_elements {
        let start = window_start(i, W as u32);
        let mut window = [const { MaybeUninit::<f32>::uninit() }; W];
        unrolled::<W>(|j| {
            window[j].write(element_or_zero(
                input,
                start.wrapping_add(j as u32),
                n_elements,
            ));
        });
        let mut sum = 0.0;
        unrolled::<W>(|j| sum += window[j].assume_init());
        *output.add(i as usize) = sum / W as f32;
        i += thread::grid_dim_x() * thread::block_dim_x();
    }
}

/// Loads of `running_mean_local` that are under way together, at most. Nothing may
/// be moved across a store to the window by rustc, so that loads and stores by turns
/// would stay that.
const MAX_LOAD_BATCH: usize = 16;

/// The same for a window of `W` elements: no more than half of it, so that stores to
/// local memory begin while loads are still to come.
const fn load_batch(window: usize) -> usize {
    let half = window.div_ceil(2);
    if half < MAX_LOAD_BATCH {
        half
    } else {
        MAX_LOAD_BATCH
    }
}

/// The window in local memory: indices that nobody knows before the launch.
#[inline(always)]
unsafe fn running_mean_local<const W: usize>(input: *const f32, output: *mut f32, n_elements: u32) {
    let mut i = thread::index_1d();
    while i < n_elements {
        let start = window_start(i, W as u32);
        let in_circle = |j: usize| (j as u32 + n_elements) as usize % W;
        let mut window = [const { MaybeUninit::<f32>::uninit() }; W];
        let mut batch = [0.0; MAX_LOAD_BATCH];
        let n_batch = const { load_batch(W) };
        unrolled::<W>(|j| {
            if j % n_batch == 0 {
                unrolled::<MAX_LOAD_BATCH>(|k| {
                    if k < n_batch && j + k < W {
                        let i = start.wrapping_add((j + k) as u32);
                        batch[k] = element_or_zero(input, i, n_elements);
                    }
                });
            }
            window[in_circle(j)].write(batch[j % n_batch]);
        });
        let mut sum = 0.0;
        unrolled::<W>(|j| sum += window[in_circle(j)].assume_init());
        *output.add(i as usize) = sum / W as f32;
        i += thread::grid_dim_x() * thread::block_dim_x();
    }
}

/// A kernel of each kind for every window.
macro_rules! windows {
    ($($window:literal: $in_registers:ident, $in_local:ident;)*) => {
        $(
            #[doc = concat!("Running mean over ", $window, " elements, the window in registers.")]
            ///
            /// # Safety
            ///
            /// `input` and `output` hold `n_elements` elements, fewer than 2³¹,
            /// and do not overlap. Launch with [`BLOCK`] threads and any number
            /// of blocks in one dimension, such as [`grid`].
            #[kernel(launch_bounds(BLOCK_THREADS))]
            pub unsafe fn $in_registers(input: *const f32, output: *mut f32, n_elements: u32) {
                running_mean_registers::<$window>(input, output, n_elements);
            }

            #[doc = concat!("Running mean over ", $window, " elements, the window in local memory.")]
            ///
            /// # Safety
            ///
            #[doc = concat!("As [`", stringify!($in_registers), "`].")]
            #[kernel(launch_bounds(BLOCK_THREADS))]
            pub unsafe fn $in_local(input: *const f32, output: *mut f32, n_elements: u32) {
                running_mean_local::<$window>(input, output, n_elements);
            }
        )*
        const _: () = {
            let (listed, mut i) = ([$($window),*], 0);
            assert!(listed.len() == WINDOWS.len());
            while i < WINDOWS.len() {
                assert!(listed[i] == WINDOWS[i]);
                i += 1;
            }
        };
    };
}
windows! {
    3: running_mean_registers_3, running_mean_local_3;
    5: running_mean_registers_5, running_mean_local_5;
    16: running_mean_registers_16, running_mean_local_16;
    32: running_mean_registers_32, running_mean_local_32;
    64: running_mean_registers_64, running_mean_local_64;
    128: running_mean_registers_128, running_mean_local_128;
}

// ---------------------------------------------------------------------------
// One tile for the whole block
// ---------------------------------------------------------------------------
//
// The block's tile of the input is divided into *chunks* of 17 elements, one a
// thread. The last chunks are the *halo*: windows reach into them, but none
// starts there.
//
//     thread     0          1          2         …        382       383
//     tile     [chunk 0 ][chunk 1 ][chunk 2 ]   …      [chunk 382][chunk 383]
//                outputs 0…16  17…33   34…50              halo      halo
//
//     window of the thread's first output, W = 90:
//              [ group 0: chunks 0 to 3     ][chunk 4 ][5 more]
//
// 1. The tile is loaded, 16 bytes an access, lanes side by side.
// 2. Each thread adds up its chunk.
// 3. Each thread adds up the sums of four chunks, its *group*: its own and the next.
// 4. Each thread adds up its first window: whole groups, whole chunks, then single
//    elements.
// 5. It slides on: + the element that enters − the one that leaves.
// 6. The outputs go through the tile too, so that lanes store side by side.
//
// In 2 and 5 lanes are a chunk apart. A chunk is an odd number of elements, so
// 32 lanes meet 32 banks, without padding: see `bank_conflicts`.
//
// A 16-byte access starts at a multiple of 4 elements. The window of the block's
// first output need not, so the tile starts up to 3 elements before it: the
// *lead*.

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
/// of the inputs an output has to do with: those in its window, the 16 before
/// it, which may have been in the thread's sum, and the next:
///
/// ```text
///     (|input[i − W/2 − 16]| + … + |input[i − W/2 + W]|) / W
/// ```
///
/// An element of the first window goes through 16 additions in its chunk, 3 in its
/// group, one a group, up to 3 of chunks without a group, and 16 more, and two when
/// these are added up; each of 16 steps rounds the sum, and all together the
/// differences; the mean takes two roundings. One costs at most 2⁻²⁴ of the
/// magnitudes.
pub const fn shared_error_bound(window: u32) -> f64 {
    let first_window = 2 * (CHUNK - 1) + 2 * (GROUP - 1) + window / (GROUP * CHUNK) + 2;
    let n_roundings = first_window + (CHUNK - 1) + 2 + 2;
    // Products of roundings are the bit more.
    1.001 * n_roundings as f64 / (1 << 24) as f64
}

/// `at(0) + … + at(n − 1)`, four loads under way.
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
/// Sums are taken in an order of their own: the result is not that of the other
/// kernels to the bit, but within [`shared_error_bound`]. An infinity or NaN
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

    // 1. All loads before the first store: 5 accesses under way at once.
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

    // 2. From here on a chunk starts after the lead. The last one ends after the
    // tile; no window has the whole of it, and nobody asks for its sum.
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
    // 3. The last ones have fewer chunks, and nobody asks for their sums either. Of a
    // shorter window nobody asks for any.
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
    // 6. Not before every thread has read what it needs of the tile.
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

/// Block of `running_mean_registers_W` and `running_mean_local_W`, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];
/// Block of [`running_mean_shared`], in threads.
pub const SHARED_BLOCK: [u32; 3] = [TILE_THREADS, 1, 1];

/// Grid of `running_mean_registers_W` and `running_mean_local_W`: a thread an
/// output, up to [`MAX_BLOCKS`].
pub const fn grid(n_elements: u32) -> [u32; 3] {
    [blocks(n_elements, BLOCK_THREADS, MAX_BLOCKS), 1, 1]
}

/// Grid of [`running_mean_shared`].
pub const fn shared_grid(n_elements: u32, window: u32) -> [u32; 3] {
    [blocks(n_elements, tile_outputs(window), u32::MAX), 1, 1]
}

/// A grid has at least one block, also when there is nothing to do.
const fn blocks(n_elements: u32, block_elements: u32, max: u32) -> u32 {
    match n_elements.div_ceil(block_elements) {
        0 => 1,
        n if n > max => max,
        n => n,
    }
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
            // And not a chunk of outputs less than possible.
            assert!(
                last_entering + CHUNK + QUAD >= TILE_ELEMENTS,
                "window {window}"
            );
        }
    }

    #[test]
    fn grids_cover_every_size() {
        for n in (0..100_000).step_by(97) {
            let [n_blocks, _, _] = grid(n);
            assert!((1..=MAX_BLOCKS).contains(&n_blocks));
            for window in [1, 2, 31, 32, 1000, MAX_WINDOW] {
                let [n_blocks, _, _] = shared_grid(n, window);
                assert!(n_blocks >= 1 && n_blocks * tile_outputs(window) >= n);
            }
        }
    }

    #[test]
    fn windows_are_centred() {
        assert_eq!(window_start(10, 5), 8);
        assert_eq!(window_start(10, 4), 8);
        assert_eq!(window_start(0, 1), 0);
        assert_eq!(window_start(0, 32), 0u32.wrapping_sub(16));
    }
}
