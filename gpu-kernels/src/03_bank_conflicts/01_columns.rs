//! Rows and columns of a 32×32 array, each accessed once: for counting.
//!
//! # Rows and columns
//!
//! In an array `data[32][32]` of `f32`, row `r` starts at word `32 · r`: all its
//! elements lie in different banks, and all elements of a column lie in one. A
//! warp that accesses a row takes one wavefront, a warp that accesses a column
//! takes 32. A block of 32 warps has 32 · 31 = 992 conflicts when it goes by
//! columns and none when it goes by rows, for stores and for loads alike.
//!
//! # The kernels
//!
//! Every kernel below stores to the array, waits, and loads from it. One of the two
//! accesses is its subject; the other goes along rows, one wavefront per warp.
//!
//! No thread loads the element that it stored itself. If it did, the compiler
//! could *forward* the store: keep the value in a register and omit the load.

use cuda_std::prelude::*;

use super::{BLOCK_THREADS, ELEMENTS, ROWS, word};

/// Does the same as the others, along rows, and is not timed: the first launch
/// after a module is loaded also pays for moving the code to the device and
/// raising the clocks. Turns the array upside down.
///
/// # Safety
///
/// `input` and `output` hold [`ELEMENTS`] elements and do not overlap. Launch
/// one block of [`BLOCK`](super::BLOCK) threads.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_warm_up(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = (thread::thread_idx_x(), thread::thread_idx_y());
    let own = word(warp, lane) as usize;
    *data.add(word(warp, lane) as usize) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *data.add(word(ROWS - 1 - warp, lane) as usize);
}

/// Stores along rows: 0 store conflicts. Turns the array upside down.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_store_rows(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = (thread::thread_idx_x(), thread::thread_idx_y());
    let own = word(warp, lane) as usize;
    *data.add(word(ROWS - 1 - warp, lane) as usize) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *data.add(word(warp, lane) as usize);
}

/// Stores along columns: every warp's 32 words lie in one bank, 31 conflicts per
/// warp and 992 in all. Transposes the array.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_store_columns(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = (thread::thread_idx_x(), thread::thread_idx_y());
    let own = word(warp, lane) as usize;
    *data.add(word(lane, warp) as usize) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *data.add(word(warp, lane) as usize);
}

/// Loads along rows: 0 load conflicts. Turns the array upside down.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_load_rows(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = (thread::thread_idx_x(), thread::thread_idx_y());
    let own = word(warp, lane) as usize;
    *data.add(word(warp, lane) as usize) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *data.add(word(ROWS - 1 - warp, lane) as usize);
}

/// Loads along columns: 31 conflicts per warp, 992 in all. Transposes the array.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_load_columns(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = (thread::thread_idx_x(), thread::thread_idx_y());
    let own = word(warp, lane) as usize;
    *data.add(word(warp, lane) as usize) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *data.add(word(lane, warp) as usize);
}

#[cfg(test)]
mod tests {
    use super::super::conflicts_of_the_block;
    use super::word;

    #[test]
    fn columns_conflict_992_times_and_rows_never() {
        assert_eq!(conflicts_of_the_block(word), 992);
        assert_eq!(conflicts_of_the_block(|lane, warp| word(warp, lane)), 0);
    }
}
