//! One warp per tile of 16×8, its fragments straight from global memory.
//!
//! `mma.sync` multiplies 16×16 by 16×8 elements. Each lane holds eight elements of A, as
//! four pairs along k, and four of B, as two pairs. Here each lane fetches its pairs directly
//! from the matrices: a load of the warp touches eight rows, and takes 16 bytes of each.
//!
//! That is half a sector of 32 bytes; and six such loads feed one product. Worse, an
//! element of A is fetched by every warp along n that needs it. The caches can hide the
//! latency, not the number of requests.

use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, map, mma};
use cuda_std::prelude::*;

use super::matrices::{Scale, Sizes, element, store_pair};
use super::unrolled;
use crate::warp::WARP_LANES;

/// Rows of C that a warp computes: those of one `mma`.
pub const WARP_ROWS: u32 = 16;
/// Columns of C that a warp computes.
pub const WARP_COLUMNS: u32 = 8;
/// Depth of one `mma`.
const STEP: u32 = 16;

/// Warps of a block, along the rows of C and along its columns.
const WARPS: [u32; 2] = [2, 4];
/// Rows of C that a block computes.
pub const ROWS: u32 = WARPS[0] * WARP_ROWS;
/// Columns of C that a block computes.
pub const COLUMNS: u32 = WARPS[1] * WARP_COLUMNS;

const BLOCK_THREADS: u32 = WARPS[0] * WARPS[1] * WARP_LANES;

/// The first rung: the speed of a tensor core that is starved of data.
///
/// # Safety
///
/// `a`, `b` and `c` hold the matrices of `sizes`, with pitches that are multiples of 8,
/// at multiples of 16 bytes; `c` overlaps neither. Launch with [`BLOCK`] threads and [`grid`]
/// blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn gemm_naive(a: *const f16, b: *const f16, c: *mut f16, sizes: Sizes, scale: Scale) {
    let (warp, lane) = (
        thread::thread_idx_x() / WARP_LANES,
        thread::thread_idx_x() % WARP_LANES,
    );
    let row = thread::block_idx_y() * ROWS + warp % WARPS[0] * WARP_ROWS;
    let column = thread::block_idx_x() * COLUMNS + warp / WARPS[0] * WARP_COLUMNS;

    let mut sums = FragmentC::<f32>::zero();
    let mut first = 0;
    while first < sizes.k {
        let mut left = [0; 4];
        unrolled!(R in [0 1 2 3] {
            let at = map::a(lane, R as u32, 0);
            let at = (row + at.row, first + at.column);
            left[R] = pair_or_zeros(a, at, (sizes.m, sizes.k), sizes.a_pitch);
        });
        let mut right = [0; 2];
        unrolled!(R in [0 1] {
            // B's rows are the operand's columns.
            let at = map::b(lane, R as u32, 0);
            let at = (column + at.column, first + at.row);
            right[R] = pair_or_zeros(b, at, (sizes.n, sizes.k), sizes.b_pitch);
        });
        sums = mma(
            FragmentA::<f16, M16N8K16>::new(left),
            FragmentB::new(right),
            sums,
        );
        first += STEP;
    }
    let [p, q, r, s] = sums.registers;
    let at = map::c32(lane, 0);
    let (row, column) = (row + at.row, column + at.column);
    store_pair(c, &sizes, scale, (row, column), [p, q]);
    store_pair(c, &sizes, scale, (row + 8, column), [r, s]);
}

/// Two neighbours along k, packed as a fragment's register: zeros beyond the matrix.
#[inline(always)]
unsafe fn pair_or_zeros(
    matrix: *const f16,
    (row, column): (u32, u32),
    (n_rows, n_columns): (u32, u32),
    pitch: u32,
) -> u32 {
    if row >= n_rows || column >= n_columns {
        return 0;
    }
    // The column is even and so is the pitch: the second one may be past the row's end, but not
    // past the pitch.
    let pair = *matrix.add(element(row, column, pitch)).cast::<u32>();
    if column + 1 < n_columns {
        pair
    } else {
        pair & 0xffff
    }
}

/// Block of [`gemm_naive`], in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of [`gemm_naive`]: x over columns, y over rows.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(COLUMNS), m.div_ceil(ROWS), 1]
}
