//! The softmax of a matrix's rows: `y[c] = exp(x[c] - max) / Σ exp(x[i] - max)`, with the row's
//! largest element `max`, so that no power is too large for a float.
//!
//! A block has a row, and its threads take turns along it. They agree on the maximum and on the
//! sum: a warp by shuffles, and the block's warps through shared memory.

use core::f32::consts::LOG2_E;
use cuda_std::block;
use cuda_std::float::GpuFloatApprox;
use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, thread_idx_x};
use cuda_std::view::{Block, Disjoint, Global, Length, RowPerBlock};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// `exp(x)` by the special function unit, which has powers of two.
fn exp(x: f32) -> f32 {
    (x * LOG2_E).exp2_approx()
}

/// Columns `t`, `t + THREADS`, … of a row, for thread `t`.
fn own_values(row: Global<f32, Length>) -> impl Iterator<Item = f32> {
    let mut column = thread_idx_x();
    core::iter::from_fn(move || {
        let value = row.get(column)?;
        column += THREADS;
        Some(value)
    })
}

/// The softmax of each row, by a block.
#[kernel(launch_bounds(THREADS))]
pub fn softmax_rows(
    x: Global<[[f32; n_columns]; n_rows]>,
    mut y: Disjoint<[[f32; n_columns]; n_rows], RowPerBlock<THREADS>>,
    n_rows: u32,
    n_columns: u32,
    block: Block,
) {
    let row = x.row(block_idx_x());
    let max = own_values(row).fold(f32::NEG_INFINITY, f32::max);
    let max = block.reduce(max, f32::max);
    let sum = own_values(row).map(|x| exp(x - max)).sum();
    let sum: f32 = block.sum(sum);
    for (column, y) in y.own_elements() {
        if let Some(x) = row.get(column) {
            y.set(exp(x - max) / sum);
        }
    }
}

/// [`softmax_rows`] with pointers.
///
/// # Safety
///
/// `x` and `y` have `n_rows * n_columns` elements and do not overlap. A block has `THREADS` threads.
#[kernel(launch_bounds(THREADS))]
pub unsafe fn softmax_rows_by_pointers(x: *const f32, y: *mut f32, n_rows: u32, n_columns: u32) {
    let scratch = shared_array![f32; block::SCRATCH];
    let row = block_idx_x();
    if row >= n_rows {
        return;
    }
    let (x, y) = (
        x.add((row * n_columns) as usize),
        y.add((row * n_columns) as usize),
    );
    let mut max = f32::NEG_INFINITY;
    let mut column = thread_idx_x();
    while column < n_columns {
        max = max.max(*x.add(column as usize));
        column += THREADS;
    }
    let max = block::reduce(scratch, max, f32::max);
    let mut sum = 0.0;
    let mut column = thread_idx_x();
    while column < n_columns {
        sum += exp(*x.add(column as usize) - max);
        column += THREADS;
    }
    let sum = block::reduce(scratch, sum, |a, b| a + b);
    let mut column = thread_idx_x();
    while column < n_columns {
        *y.add(column as usize) = exp(*x.add(column as usize) - max) / sum;
        column += THREADS;
    }
}
