//! Sums of a matrix's rows, computed in two ways; and six kernels with as little `unsafe` as there
//! can be, three of them next to the same with pointers.

pub mod attention;
pub mod blur;
pub mod histogram;
pub mod softmax;
pub mod sort;
pub mod stencil;

use cuda_std::prelude::*;
use cuda_std::warp::FULL_MASK;

/// Lanes of a warp.
pub const LANES: u32 = 32;

/// Rows that a block sums, each by a warp.
pub const ROWS: u32 = 8;

/// The definition of a sum, for host and device: halves added pairwise, as lanes do.
pub fn pairwise(values: [f32; LANES as usize]) -> f32 {
    let mut values = values;
    let mut half = values.len() / 2;
    while half != 0 {
        for i in 0..half {
            values[i] += values[i + half];
        }
        half /= 2;
    }
    values[0]
}

/// `sums[row]` is the sum of `row`, by shuffles: lane `i` adds up columns `i`, `i + 32`, ….
///
/// # Safety
///
/// `matrix` has `n_rows * n_columns` elements, `sums` has `n_rows`. A block has 32 × `ROWS`
/// threads.
#[kernel(launch_bounds(LANES * ROWS))]
pub unsafe fn row_sums(matrix: *const f32, sums: *mut f32, n_rows: u32, n_columns: u32) {
    let (lane, row) = (
        thread::thread_idx_x(),
        thread::block_idx_y() * ROWS + thread::thread_idx_y(),
    );
    if row >= n_rows {
        // All lanes of a warp have the same row.
        return;
    }
    let of_row = |column: u32| *matrix.add((row * n_columns + column) as usize);
    let own: f32 = (lane..n_columns).step_by(LANES as usize).map(of_row).sum();
    let mut sum = own;
    for delta in [16, 8, 4, 2, 1] {
        sum += warp::warp_shuffle_down(FULL_MASK, sum, delta, LANES).0;
    }
    if lane == 0 {
        *sums.add(row as usize) = sum;
    }
}

/// The same through shared memory. Each row of the block's table is one element longer than
/// it needs: the threads that add, one per row, then hit different banks.
///
/// # Safety
///
/// As [`row_sums`].
#[kernel(launch_bounds(LANES * ROWS))]
pub unsafe fn row_sums_shared(matrix: *const f32, sums: *mut f32, n_rows: u32, n_columns: u32) {
    let table = shared_array![f32; (ROWS * (LANES + 1)) as usize];
    let place = |row: u32, lane: u32| (row * (LANES + 1) + lane) as usize;
    let (lane, own) = (thread::thread_idx_x(), thread::thread_idx_y());
    let first_row = thread::block_idx_y() * ROWS;
    let row = first_row + own;
    let of_row = |column: u32| *matrix.add((row * n_columns + column) as usize);
    let sum = match row < n_rows {
        true => (lane..n_columns).step_by(LANES as usize).map(of_row).sum(),
        false => 0.0,
    };
    *table.add(place(own, lane)) = sum;
    thread::sync_threads();
    // The first lanes of the first warp add a row each.
    if own == 0 && lane < ROWS && first_row + lane < n_rows {
        let mut values = [0.0; LANES as usize];
        for (i, value) in values.iter_mut().enumerate() {
            *value = *table.add(place(lane, i as u32));
        }
        *sums.add((first_row + lane) as usize) = pairwise(values);
    }
}
