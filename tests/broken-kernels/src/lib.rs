//! Kernels with one defect each, named after it: here transposes, and in modules
//! of their own [`reduction`]s, [`neighbor`] lists, products of tiles
//! ([`tensor`]), defects that only checks ([`unseen`]) or other orders of the warps
//! ([`orders`]) reveal, defects that show inside a library ([`reports`]), and those between
//! [`devices`].
//!
//! They have the parameters of `gpu-kernels`' transposes, so that the lesson's own
//! checks run on them: a check that lets one of these pass checks nothing.
//!
//! Unless they say more, kernels are launched with the buffers that those take which they are made
//! from, or with an element of each for every thread; `# Safety` sections would all say so.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]
// A kernel takes each array and each number as a parameter of its own.
#![allow(clippy::too_many_arguments)]

pub mod devices;
pub mod neighbor;
pub mod orders;
pub mod reduction;
pub mod reports;
pub mod tensor;
pub mod unseen;

use cuda_std::prelude::*;

const TILE: u32 = 32;
const TILE_ELEMENTS: usize = (TILE * TILE) as usize;
const BLOCK_THREADS: u32 = TILE * TILE;

/// Row and column of this thread's element, for blocks along the input's rows.
#[inline(always)]
fn place() -> (u32, u32) {
    (
        thread::block_idx_y() * TILE + thread::thread_idx_y(),
        thread::block_idx_x() * TILE + thread::thread_idx_x(),
    )
}

/// Loads from the tile what another warp may not have stored yet.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn missing_barrier(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let tile = shared_array![f32; TILE_ELEMENTS];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        *tile.add((y * TILE + x) as usize) = *input.add((row * n_columns + column) as usize);
    }
    // Here thread::sync_threads() is missing.
    let row = thread::block_idx_y() * TILE + x;
    let column = thread::block_idx_x() * TILE + y;
    if row < n_rows && column < n_columns {
        *output.add((column * n_rows + row) as usize) = *tile.add((x * TILE + y) as usize);
    }
}

/// Takes every element from the row below its own, the last row's from the first.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn off_by_one_row(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        let below = if row + 1 == n_rows { 0 } else { row + 1 };
        *output.add((column * n_rows + row) as usize) =
            *input.add((below * n_columns + column) as usize);
    }
}

/// Gives the output the input's row length: right for square matrices only.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn transposed_shape(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        let index = column * n_columns + row;
        // Even with this guard the kernel must be found wrong.
        if index < n_rows * n_columns {
            *output.add(index as usize) = *input.add((row * n_columns + column) as usize);
        }
    }
}

/// Loads whole tiles, even where the matrix ends inside one.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn reads_past_input(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    let value = *input.add((row * n_columns + column) as usize);
    if row < n_rows && column < n_columns && value > -1.0 {
        *output.add((column * n_rows + row) as usize) = value;
    }
}

/// Writes one element past the end of its output.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn writes_past_output(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *output.add((column * n_rows + row) as usize) = value;
        if row + 1 == n_rows && column + 1 == n_columns {
            *output.add((n_rows * n_columns) as usize) = value;
        }
    }
}

/// Leaves the last column of the input where it is.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn leaves_a_column_out(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let (row, column) = place();
    if row < n_rows && column + 1 < n_columns {
        *output.add((column * n_rows + row) as usize) =
            *input.add((row * n_columns + column) as usize);
    }
}

/// Writes NaN, which compares false with every bound.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn writes_nan(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        *output.add((column * n_rows + row) as usize) = value * f32::NAN;
    }
}

/// Waits for an element of the output to change, which nothing changes.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn never_ends(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        while core::ptr::read_volatile(output.cast::<u32>()) == u32::MAX {}
        *output.add((column * n_rows + row) as usize) =
            *input.add((row * n_columns + column) as usize);
    }
}

/// Asserts something false.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn panics(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        assert!(value < 0.0, "inputs are negative");
        *output.add((column * n_rows + row) as usize) = value;
    }
}

/// Stores two elements at once to where only one fits.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn misaligned_store(input: *const f32, output: *mut f32, n_rows: u32, n_columns: u32) {
    let (row, column) = place();
    if row < n_rows && column < n_columns {
        let value = *input.add((row * n_columns + column) as usize);
        let both = value.to_bits() as u64 * 0x1_0000_0001;
        let odd = output.add((column * n_rows + row) as usize | 1);
        *odd.cast::<u64>() = both;
    }
}
