//! Shared arrays of rows, beside the same with pointers.

use cuda_std::prelude::*;

const SIDE: u32 = 32;

/// Columns of the array of [`sums_of_columns`], and threads of its block.
pub const COLUMNS: usize = 64;

/// Transposes a square, with indices that the compiler knows to be in it.
#[kernel]
pub unsafe fn transpose_rows(input: *const f32, output: *mut f32) {
    let mut tile = shared_array![[f32; 32]; 32];
    let (x, y) = (thread::thread_idx_x() % SIDE, thread::thread_idx_y() % SIDE);
    tile[y][x ^ y] = *input.add((y * SIDE + x) as usize);
    thread::sync_threads();
    *output.add((y * SIDE + x) as usize) = tile[x][y ^ x];
}

/// The same with a pointer.
#[kernel]
pub unsafe fn transpose_pointer(input: *const f32, output: *mut f32) {
    let tile = shared_array![f32; 32 * 32];
    let (x, y) = (thread::thread_idx_x() % SIDE, thread::thread_idx_y() % SIDE);
    *tile.add((y * SIDE + (x ^ y)) as usize) = *input.add((y * SIDE + x) as usize);
    thread::sync_threads();
    *output.add((y * SIDE + x) as usize) = *tile.add((x * SIDE + (y ^ x)) as usize);
}

/// The same with indices of which it knows nothing.
#[kernel]
pub unsafe fn transpose_checked(input: *const f32, output: *mut f32) {
    let mut tile = shared_array![[f32; 32]; 32];
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    tile[y][x ^ y] = *input.add((y * SIDE + x) as usize);
    thread::sync_threads();
    *output.add((y * SIDE + x) as usize) = tile[x][y ^ x];
}

/// Sums of columns, in a loop over rows; each row is written by all threads, and literals index it
/// as well.
#[kernel(launch_bounds(64))]
pub unsafe fn sums_of_columns(input: *const f64, output: *mut f64) {
    let mut tile = shared_array![[f64; COLUMNS]; 8, align = 128];
    let column = thread::thread_idx_x() as usize % COLUMNS;
    for row in 0..8 {
        tile[row][column] = *input.add(row * COLUMNS + column);
    }
    thread::sync_threads();
    let across = COLUMNS - 1 - column;
    let mut sum = tile[0][across] - tile[7][0];
    for row in 1..8usize {
        sum += tile[row][across];
    }
    *output.add(column) = sum;
}

/// The same with a pointer.
#[kernel(launch_bounds(64))]
pub unsafe fn sums_of_columns_pointer(input: *const f64, output: *mut f64) {
    let tile = shared_array![f64; COLUMNS * 8, align = 128];
    let column = thread::thread_idx_x() as usize % COLUMNS;
    for row in 0..8 {
        *tile.add(row * COLUMNS + column) = *input.add(row * COLUMNS + column);
    }
    thread::sync_threads();
    let across = COLUMNS - 1 - column;
    let mut sum = *tile.add(across) - *tile.add(7 * COLUMNS);
    for row in 1..8usize {
        sum += *tile.add(row * COLUMNS + across);
    }
    *output.add(column) = sum;
}

/// Writes to a row and a column that the array may not have.
#[kernel]
pub unsafe fn panics_outside(place: &[u32], output: *mut u32) {
    let mut tile = shared_array![[u32; 16]; 8];
    tile[place[0]][place[1]] = 1;
    *output = tile[place[0]][place[1]];
}

/// Padding follows the first and the last field.
#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    small: u8,
    number: u32,
    last: u16,
}

/// Hands structures from thread to thread as a whole: through local memory, because a barrier comes
/// between, and from shared to global memory; then sums up their fields.
#[kernel(launch_bounds(32), local_memory)]
pub unsafe fn hands_on_padded(handed: *mut u32, output: *mut u32) {
    let tile = shared_array![Padded; 32];
    let lane = thread::thread_idx_x();
    let (own, next) = (lane as usize % 32, (lane as usize + 1) % 32);
    *tile.add(own) = Padded {
        small: lane as u8,
        number: lane,
        last: lane as u16,
    };
    thread::sync_threads();
    let taken = *tile.add(next);
    thread::sync_threads();
    *tile.add(own) = taken;
    thread::sync_threads();
    let handed = handed.cast::<Padded>();
    *handed.add(own) = *tile.add(next);
    thread::sync_threads();
    let last = &*handed.add(next);
    *output.add(own) = u32::from(last.small) + last.number + u32::from(last.last);
}
