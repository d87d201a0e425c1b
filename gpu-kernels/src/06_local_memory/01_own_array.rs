//! A window per thread, in registers or in local memory.
//!
//! A grid-stride loop: thread `t` of `T` computes outputs t, t + T, t + 2T, ….
//! The array is filled before it is read, so it starts uninitialised; filling it
//! with zeros first would be `W` more stores to local memory.

use core::mem::MaybeUninit;

use cuda_std::prelude::*;

use super::{blocks, element_or_zero, window_start};
use cuda_std::unrolled;

/// Threads in a block of the kernels with a window per thread.
pub const BLOCK_THREADS: u32 = 256;
/// Most blocks they are launched with: beyond that, a thread computes several
/// outputs.
pub const MAX_BLOCKS: u32 = 1024;
/// Windows for which `running_mean_registers_W` and `running_mean_local_W` exist.
pub const WINDOWS: [u32; 6] = [3, 5, 16, 32, 64, 128];

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

/// Most loads of `running_mean_local` that are in flight together. rustc moves
/// nothing across a store to the window, so alternating loads and stores would
/// stay alternating.
const MAX_LOAD_BATCH: usize = 16;

/// The window in local memory: indices that are unknown before the launch.
#[inline(always)]
unsafe fn running_mean_local<const W: usize>(input: *const f32, output: *mut f32, n_elements: u32) {
    let mut i = thread::index_1d();
    while i < n_elements {
        let start = window_start(i, W as u32);
        let in_circle = |j: usize| (j as u32 + n_elements) as usize % W;
        let mut window = [const { MaybeUninit::<f32>::uninit() }; W];
        let mut batch = [0.0; MAX_LOAD_BATCH];
        // No more than half, so that stores begin while loads are still to come.
        let n_batch = W.div_ceil(2).min(MAX_LOAD_BATCH);
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
            #[kernel(launch_bounds(BLOCK_THREADS), local_memory)]
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
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of `running_mean_registers_W` and `running_mean_local_W`, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of `running_mean_registers_W` and `running_mean_local_W`: a thread per
/// output, up to [`MAX_BLOCKS`].
pub const fn grid(n_elements: u32) -> [u32; 3] {
    [blocks(n_elements, BLOCK_THREADS, MAX_BLOCKS), 1, 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_cover_every_size() {
        for n in (0..100_000).step_by(97) {
            let [n_blocks, _, _] = grid(n);
            assert!((1..=MAX_BLOCKS).contains(&n_blocks));
        }
    }
}
