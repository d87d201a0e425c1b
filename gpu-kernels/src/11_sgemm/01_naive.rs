//! One thread per element, straight from global memory.

use cuda_std::float::GpuFloat;
use cuda_std::prelude::*;

use super::element;

/// Columns of C that a block computes: a warp's lanes.
pub const COLUMNS: u32 = 32;
/// Rows of C that a block computes: its warps.
pub const ROWS: u32 = 8;

/// Every element of C by a thread of its own, which reads a row of A and a column
/// of B.
///
/// Lanes run along the row of C: they read the same element of A (one sector) and
/// neighbours in B (four sectors). No single *request* reads more than it must, but
/// every element of A is requested n times and every one of B m
/// times. Two loads per fused multiply-add: the load units are the limit.
///
/// # Safety
///
/// `a` holds `m * k` elements, `b` holds `k * n`, `c` holds `m * n`, each fewer than
/// 2³², and `c` overlaps neither. Launch with [`BLOCK`] threads and [`grid`] blocks.
#[kernel(launch_bounds(COLUMNS * ROWS))]
pub unsafe fn sgemm_naive(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let row = thread::block_idx_y() * ROWS + thread::thread_idx_y();
    let column = thread::block_idx_x() * COLUMNS + thread::thread_idx_x();
    if row >= m || column >= n {
        return;
    }
    let mut sum = 0.0_f32;
    for i in 0..k {
        sum = GpuFloat::mul_add(
            *a.add(element(row, i, k)),
            *b.add(element(i, column, n)),
            sum,
        );
    }
    *c.add(element(row, column, n)) = sum;
}

/// Block of [`sgemm_naive`], in threads.
pub const BLOCK: [u32; 3] = [COLUMNS, ROWS, 1];

/// Grid of [`sgemm_naive`]: x over columns, y over rows.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(COLUMNS), m.div_ceil(ROWS), 1]
}
