//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;

/// Only the element's number is compared: threads beyond the right edge write into the next row.
///
/// fails: race: the next row begins
#[kernel]
pub unsafe fn no_guard_at_the_right(
    matrix: *const f32,
    bias: *const f32,
    out: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let place = row * n_columns + column;
    if place < n_rows * n_columns {
        let place = place as usize;
        *out.add(place) = *matrix.add(place) + *bias.add((column % n_columns) as usize);
    }
}

/// One thread does everything.
///
/// fails: count: none needs a loop
#[kernel]
pub unsafe fn one_thread(
    matrix: *const f32,
    bias: *const f32,
    out: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    if thread::first() {
        for row in 0..n_rows {
            for column in 0..n_columns {
                let place = (row * n_columns + column) as usize;
                *out.add(place) = *matrix.add(place) + *bias.add(column as usize);
            }
        }
    }
}

/// x and y have changed places.
///
/// fails: result: Which of x and y counts the columns
#[kernel]
pub unsafe fn x_for_y(
    matrix: *const f32,
    bias: *const f32,
    out: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let column = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    if row < n_rows && column < n_columns {
        let place = (row * n_columns + column) as usize;
        *out.add(place) = *matrix.add(place) + *bias.add(column as usize);
    }
}
