//! Jacobi's method on several devices: halos.
//!
//! Each cell becomes the mean of its four neighbours, again and again. A device has a band of rows
//! and, above and below it, a copy of its neighbours' edge rows: the *halo*.
//!
//! ```text
//!   device 0              device 1
//!   ┌──────────────┐
//!   │ fixed edge   │
//!   │ rows         │
//!   │ last row     │ ───▶ ┌──────────────┐
//!   └──────────────┘      │ halo above   │
//!     halo below  ◀────── │ first row    │
//!                         │ rows …       │
//! ```
//!
//! Before every step the halo must hold what the neighbour computed in the step before. Two matrices
//! take turns, so that what a step reads is not what it writes, on any device.
//!
//! | kernel | who moves the halo | who waits |
//! |---|---|---|
//! | [`jacobi_rows`] | the host, by copies between devices; of the edge rows while the inner ones are computed, if it launches those apart | streams, by events |
//! | [`jacobi_stores`] | the thread that computes an edge cell stores it a second time, over there | streams, by events |
//! | [`jacobi_loads`] | nobody: the neighbour's edge row is read where it is | streams, by events |
//! | [`jacobi_flags`] | as `jacobi_stores` | the kernel itself, for flags: all steps are one launch |
//!
//! The largest change of a cell says how far it is from the end. Floats that are not negative are in
//! the order of their bits, so its maximum is that of integers, and the same in any order.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::grid;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WarpReductionOp, warp_reduce};

use super::flags::{set, wait_for};

/// Threads of a block along a row.
pub const BLOCK_COLUMNS: u32 = 64;
/// Rows of a block.
pub const BLOCK_ROWS: u32 = 4;
/// Block of all kernels, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_COLUMNS, BLOCK_ROWS, 1];
const BLOCK_THREADS: u32 = BLOCK_COLUMNS * BLOCK_ROWS;
/// Blocks of [`jacobi_flags`] that a multiprocessor has room for: also one of 1536 threads.
pub const BLOCKS_AT_ONCE: u32 = 6;

/// Grid for so many rows.
pub const fn grid(n_rows: u32, n_columns: u32) -> [u32; 3] {
    [
        n_columns.div_ceil(BLOCK_COLUMNS),
        n_rows.div_ceil(BLOCK_ROWS),
        1,
    ]
}

/// The rows of a device's band: the first, and how many. All rows have an owner, and no two bands
/// differ by more than one row.
pub const fn band(n_rows: u32, n_devices: u32, device: u32) -> (u32, u32) {
    let (each, more) = (n_rows / n_devices, n_rows % n_devices);
    let extra = if device < more { device } else { more };
    (device * each + extra, each + (device < more) as u32)
}

/// Where a cell is. Row 0 is the halo above.
pub const fn cell(row: u32, column: u32, n_columns: u32) -> usize {
    row as usize * n_columns as usize + column as usize
}

/// A cell's neighbours, and itself.
#[derive(Clone, Copy)]
pub struct Around {
    /// The one above.
    pub up: f32,
    /// The one to the left.
    pub left: f32,
    /// The cell itself.
    pub own: f32,
    /// The one to the right.
    pub right: f32,
    /// The one below.
    pub down: f32,
}

impl Around {
    /// The cell's next value.
    #[inline(always)]
    pub fn mean(self) -> f32 {
        (self.up + self.left + self.right + self.down) * 0.25
    }

    /// How far that is from its present one.
    #[inline(always)]
    pub fn change(self) -> f32 {
        let change = self.mean() - self.own;
        if change < 0.0 { -change } else { change }
    }
}

#[inline(always)]
unsafe fn around(from: *const f32, row: u32, column: u32, n_columns: u32) -> Around {
    let at = from.add(cell(row, column, n_columns));
    Around {
        up: *at.sub(n_columns as usize),
        left: *at.sub(1),
        own: *at,
        right: *at.add(1),
        down: *at.add(n_columns as usize),
    }
}

/// The thread's cell among those of `n_rows` rows, if it has one: the outer columns stay as they are.
#[inline(always)]
fn own_cell(n_rows: u32, n_columns: u32) -> Option<(u32, u32)> {
    let row = thread::block_idx_y() * BLOCK_ROWS + thread::thread_idx_y();
    let column = thread::block_idx_x() * BLOCK_COLUMNS + thread::thread_idx_x();
    (row < n_rows && 0 < column && column + 1 < n_columns).then_some((row, column))
}

/// Adds the warp's largest change to the launch's. All threads of the warp call it.
#[inline(always)]
unsafe fn note_change(largest: *mut u32, change: f32) {
    let of_warp = warp_reduce(FULL_MASK, change.to_bits(), WarpReductionOp::Max);
    if thread::index_in_block().is_multiple_of(32) {
        atomic::max(largest, of_warp, Global, Device, Relaxed);
    }
}

/// One step for `n_rows` rows of a band, from `first_row` on, `row_step` apart.
///
/// # Safety
///
/// `from` and `to` hold the band with its halos, in rows of `n_columns`; the rows are in the band.
/// `largest` is null or a word. Launch with [`BLOCK`] and [`grid`](fn@grid).
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn jacobi_rows(
    from: *const f32,
    to: *mut f32,
    largest: *mut u32,
    first_row: u32,
    row_step: u32,
    n_rows: u32,
    n_columns: u32,
) {
    let mut change = 0.0;
    if let Some((row, column)) = own_cell(n_rows, n_columns) {
        let row = first_row + row * row_step;
        let around = around(from, row, column, n_columns);
        *to.add(cell(row, column, n_columns)) = around.mean();
        change = around.change();
    }
    if !largest.is_null() {
        note_change(largest, change);
    }
}

/// One step for a band of `n_rows` rows; its edge rows are stored in the neighbours' halos as well.
///
/// # Safety
///
/// As [`jacobi_rows`]. `above` and `below` are null or the neighbours' rows, of this step's matrix,
/// that are this band's edges there.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn jacobi_stores(
    from: *const f32,
    to: *mut f32,
    above: *mut f32,
    below: *mut f32,
    largest: *mut u32,
    n_rows: u32,
    n_columns: u32,
) {
    let mut change = 0.0;
    if let Some((row, column)) = own_cell(n_rows, n_columns) {
        let row = row + 1;
        let around = around(from, row, column, n_columns);
        let mean = around.mean();
        *to.add(cell(row, column, n_columns)) = mean;
        hand_over(mean, (row, column), n_rows, above, below);
        change = around.change();
    }
    if !largest.is_null() {
        note_change(largest, change);
    }
}

/// Stores a cell of an edge row in the neighbour's halo.
#[inline(always)]
unsafe fn hand_over(
    value: f32,
    (row, column): (u32, u32),
    n_rows: u32,
    above: *mut f32,
    below: *mut f32,
) {
    if row == 1 && !above.is_null() {
        *above.add(column as usize) = value;
    }
    if row == n_rows && !below.is_null() {
        *below.add(column as usize) = value;
    }
}

/// One step for a band of `n_rows` rows, whose neighbours' edge rows are read where they are.
///
/// # Safety
///
/// As [`jacobi_rows`]. `above` and `below` are null or the neighbours' own edge rows, of the matrix
/// that this step reads.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn jacobi_loads(
    from: *const f32,
    to: *mut f32,
    above: *const f32,
    below: *const f32,
    largest: *mut u32,
    n_rows: u32,
    n_columns: u32,
) {
    let mut change = 0.0;
    if let Some((row, column)) = own_cell(n_rows, n_columns) {
        let row = row + 1;
        let mut around = around(from, row, column, n_columns);
        if row == 1 && !above.is_null() {
            around.up = *above.add(column as usize);
        }
        if row == n_rows && !below.is_null() {
            around.down = *below.add(column as usize);
        }
        *to.add(cell(row, column, n_columns)) = around.mean();
        change = around.change();
    }
    if !largest.is_null() {
        note_change(largest, change);
    }
}

/// The neighbour above sets the first flag, that below the second.
pub const FROM_ABOVE: usize = 0;
/// The neighbour below sets this one.
pub const FROM_BELOW: usize = 1;

/// All steps of a band, without the host: a cooperative launch, whose blocks take rows in turn.
///
/// After each step thread 0 sets a flag at both neighbours, and waits for theirs. That says both that
/// the halos have come, and that the neighbours have read those of the step before, so that the next
/// step may overwrite them.
///
/// # Safety
///
/// `even` and `odd` hold the band with its halos; the first step reads `even`. `above_…` and
/// `below_…` are null, or the neighbours' rows that are this band's edges there, and their flags.
/// `flags` are this device's two, 0 at first, and count steps over launches: this launch's first is
/// `first_step`. Launch with [`BLOCK`] and as many blocks as fit.
#[kernel(cooperative, launch_bounds(BLOCK_THREADS, BLOCKS_AT_ONCE))]
pub unsafe fn jacobi_flags(
    even: *mut f32,
    odd: *mut f32,
    above_even: *mut f32,
    above_odd: *mut f32,
    above_flags: *mut u32,
    below_even: *mut f32,
    below_odd: *mut f32,
    below_flags: *mut u32,
    flags: *mut u32,
    largest: *mut u32,
    n_rows: u32,
    n_columns: u32,
    first_step: u32,
    n_steps: u32,
) {
    let mut step = 0;
    while step < n_steps {
        let is_even = step % 2 == 0;
        let (from, to) = if is_even { (even, odd) } else { (odd, even) };
        let above = if is_even { above_odd } else { above_even };
        let below = if is_even { below_odd } else { below_even };
        let mut change = 0.0;
        let mut block_row = thread::block_idx_y() * BLOCK_ROWS;
        while block_row < n_rows {
            let row = block_row + thread::thread_idx_y();
            let column = thread::block_idx_x() * BLOCK_COLUMNS + thread::thread_idx_x();
            if row < n_rows && 0 < column && column + 1 < n_columns {
                let (row, around) = (row + 1, around(from, row + 1, column, n_columns));
                let mean = around.mean();
                *to.add(cell(row, column, n_columns)) = mean;
                hand_over(mean, (row, column), n_rows, above, below);
                change = if around.change() > change {
                    around.change()
                } else {
                    change
                };
            }
            block_row += thread::grid_dim_y() * BLOCK_ROWS;
        }
        if !largest.is_null() && step + 1 == n_steps {
            note_change(largest, change);
        }
        // All of the device's edges are stored…
        grid::sync();
        let is_first = thread::block_idx_x() + thread::block_idx_y() == 0;
        if is_first && thread::index_in_block() == 0 {
            let done = first_step + step + 1;
            if !above_flags.is_null() {
                set(above_flags.add(FROM_BELOW), done);
            }
            if !below_flags.is_null() {
                set(below_flags.add(FROM_ABOVE), done);
            }
            if !above_flags.is_null() {
                wait_for(flags.add(FROM_ABOVE), done);
            }
            if !below_flags.is_null() {
                wait_for(flags.add(FROM_BELOW), done);
            }
        }
        // …and the neighbours' are here, for all blocks.
        grid::sync();
        step += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Around, band};

    #[test]
    fn bands_follow_each_other_and_are_alike() {
        for (n_rows, n_devices) in [(7, 3), (8, 8), (100, 1), (13, 8), (64, 4)] {
            let mut next = 0;
            for device in 0..n_devices {
                let (first, n) = band(n_rows, n_devices, device);
                assert_eq!(first, next);
                assert!((n_rows / n_devices..=n_rows.div_ceil(n_devices)).contains(&n));
                next += n;
            }
            assert_eq!(next, n_rows);
        }
    }

    #[test]
    fn a_cell_becomes_the_mean_of_its_neighbours() {
        let around = Around {
            up: 1.0,
            left: 2.0,
            own: 5.0,
            right: 3.0,
            down: 6.0,
        };
        assert_eq!((around.mean(), around.change()), (3.0, 2.0));
    }
}
