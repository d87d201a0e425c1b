//! Tiles in shared memory, filled by `cp.async`; fragments by plain loads.
//!
//! A block computes 128×128 elements of C. For every 64 along k it copies 128 rows of A and
//! of B, waits, and multiplies: an element of A serves 128 columns, one of B 128 rows. The
//! copies move 16 bytes per thread, a whole line of 128 bytes for every row of a tile.
//!
//! The problem is reading them back. A row of the tile is 64 elements, 128 bytes: as
//! wide as the 32 banks. A load of a fragment's register takes 16 bytes of each of eight
//! rows, which lie in the same four banks:
//!
//! ```text
//!     bank      0    1    2    3    4 …
//!     row 0   lane 0    1    2    3
//!     row 1   lane 4    5    6    7          eight words from each of four banks:
//!     row 2   lane 8    9   10   11          eight wavefronts instead of one
//!       ⋮
//! ```
//!
//! Everything but the tiles' layout and the way fragments are loaded is shared with
//! [`swizzled`](super::swizzled), which changes those two.

use cuda_std::cp_async::{cg_first, commit_group, wait_group};
use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, map, mma};
use cuda_std::prelude::*;
use cuda_std::tile::{Layout, Plain, Tile};
use cuda_std::vector::UInt4;

use super::matrices::{PITCH_UNIT, Scale, Sizes, element, min, store_pair};
use super::unrolled;
use crate::warp::WARP_LANES;

/// Rows, and columns, of C that a block computes.
pub const SIDE: u32 = 128;
/// Depth of the tiles along k.
pub const TILE_K: u32 = 64;
/// Depth of one `mma`.
const STEP: u32 = 16;

/// Rows of C that a warp computes.
const WARP_ROWS: u32 = 64;
/// Columns of C that a warp computes.
const WARP_COLUMNS: u32 = 32;
/// Threads of a block.
pub const BLOCK_THREADS: u32 = SIDE / WARP_ROWS * (SIDE / WARP_COLUMNS) * WARP_LANES;

/// Elements of a chunk of 16 bytes.
const CHUNK: u32 = PITCH_UNIT;
/// Chunks in a row of a tile.
const ROW_CHUNKS: u32 = TILE_K / CHUNK;
/// Rows of a tile that one copy of the block has.
const COPY_ROWS: u32 = BLOCK_THREADS / ROW_CHUNKS;

// The loops below are written out this many times.
const _: () = assert!(SIDE / COPY_ROWS == 4 && TILE_K / STEP == 4);
const _: () = assert!(WARP_ROWS == 4 * 16 && WARP_COLUMNS == 2 * 16);

/// A tile of A or of B: 128 rows of 64 elements.
pub type Operand<L> = Tile<f16, SIDE, TILE_K, L>;

/// How fragments are loaded from a tile.
pub trait Feed<L: Layout> {
    /// The 16×16 block `BELOW` rows below `(row, column)` in a tile of A.
    ///
    /// # Safety
    ///
    /// The whole warp calls it together, after a barrier that follows the filling of the tile.
    unsafe fn a<const BELOW: u32>(
        tile: Operand<L>,
        row: u32,
        column: u32,
    ) -> FragmentA<f16, M16N8K16>;

    /// The two operands in the 16×16 block `BELOW` rows below `(row, column)` in a tile of B, whose
    /// rows are columns of the product.
    ///
    /// # Safety
    ///
    /// As [`a`](Self::a).
    unsafe fn b<const BELOW: u32>(
        tile: Operand<L>,
        row: u32,
        column: u32,
    ) -> [FragmentB<f16, M16N8K16>; 2];
}

/// One register at a time: 4 bytes per lane.
pub struct ByWords;

impl<L: Layout> Feed<L> for ByWords {
    #[inline(always)]
    unsafe fn a<const BELOW: u32>(
        tile: Operand<L>,
        row: u32,
        column: u32,
    ) -> FragmentA<f16, M16N8K16> {
        let lane = warp::lane_id();
        let mut registers = [0; 4];
        unrolled!(R in [0 1 2 3] {
            let at = map::a(lane, R as u32, 0);
            registers[R] = *tile.chunk::<u32>(row + BELOW + at.row, column + at.column);
        });
        FragmentA::new(registers)
    }

    #[inline(always)]
    unsafe fn b<const BELOW: u32>(
        tile: Operand<L>,
        row: u32,
        column: u32,
    ) -> [FragmentB<f16, M16N8K16>; 2] {
        let lane = warp::lane_id();
        let mut registers = [[0; 2]; 2];
        unrolled!(HALF in [0 1] {
            unrolled!(R in [0 1] {
                // The operand's columns are rows of the tile.
                let at = map::b(lane, R as u32, 0);
                let row = row + BELOW + HALF as u32 * 8 + at.column;
                let column = column + at.row;
                registers[HALF][R] = *tile.chunk::<u32>(row, column);
            });
        });
        registers.map(FragmentB::new)
    }
}

/// Shared tiles in the plain layout.
///
/// # Safety
///
/// As [`gemm_naive`](super::naive::gemm_naive), with this file's [`BLOCK`] and [`grid`].
#[kernel(launch_bounds(BLOCK_THREADS, 2))]
pub unsafe fn gemm_tiled(a: *const f16, b: *const f16, c: *mut f16, sizes: Sizes, scale: Scale) {
    let a_tile = shared_tile!(Operand<Plain>);
    let b_tile = shared_tile!(Operand<Plain>);
    product::<Plain, ByWords>((a_tile, b_tile), (a, b, c), &sizes, scale);
}

/// The kernel, for a layout of the tiles and a way to load fragments.
#[inline(always)]
pub(super) unsafe fn product<L: Layout, F: Feed<L>>(
    (a_tile, b_tile): (Operand<L>, Operand<L>),
    (a, b, c): (*const f16, *const f16, *mut f16),
    sizes: &Sizes,
    scale: Scale,
) {
    let first_row = thread::block_idx_y() * SIDE;
    let first_column = thread::block_idx_x() * SIDE;
    let (warp, lane) = (
        thread::thread_idx_x() / WARP_LANES,
        thread::thread_idx_x() % WARP_LANES,
    );
    let row = warp % (SIDE / WARP_ROWS) * WARP_ROWS;
    let column = warp / (SIDE / WARP_ROWS) * WARP_COLUMNS;

    let mut sums = [[FragmentC::<f32>::zero(); 4]; 4];
    let (mut a, mut b) = (
        a.add(element(first_row, 0, sizes.a_pitch)),
        b.add(element(first_column, 0, sizes.b_pitch)),
    );
    let mut first = 0;
    while first < sizes.k {
        let depth = sizes.k - first;
        copy(a_tile, a, (sizes.m - first_row, depth), sizes.a_pitch);
        copy(b_tile, b, (sizes.n - first_column, depth), sizes.b_pitch);
        commit_group();
        wait_group::<0>();
        thread::sync_threads();
        unrolled!(K in [0 1 2 3] {
            const DEPTH: u32 = K as u32 * STEP;
            let mut right = [FragmentB::new([0; 2]); 4];
            unrolled!(J in [0 1] {
                let pair = F::b::<{ J as u32 * 16 }>(b_tile, column, DEPTH);
                right[2 * J] = pair[0];
                right[2 * J + 1] = pair[1];
            });
            unrolled!(I in [0 1 2 3] {
                let left = F::a::<{ I as u32 * 16 }>(a_tile, row, DEPTH);
                unrolled!(J in [0 1 2 3] {
                    sums[I][J] = mma(left, right[J], sums[I][J]);
                });
            });
        });
        // No thread may refill the tiles until all have read them.
        thread::sync_threads();
        (a, b) = (
            a.wrapping_add(TILE_K as usize),
            b.wrapping_add(TILE_K as usize),
        );
        first += TILE_K;
    }
    let at = map::c32(lane, 0);
    unrolled!(I in [0 1 2 3] {
        unrolled!(J in [0 1 2 3] {
            let [p, q, r, s] = sums[I][J].registers;
            let row = first_row + row + I as u32 * 16 + at.row;
            let column = first_column + column + J as u32 * 8 + at.column;
            store_pair(c, sizes, scale, (row, column), [p, q]);
            store_pair(c, sizes, scale, (row + 8, column), [r, s]);
        });
    });
}

/// Starts the copies of a tile, from the first of the `n_rows` and `n_columns` that are left.
///
/// Elements beyond the matrix are zeros.
#[inline(always)]
unsafe fn copy<L: Layout>(
    tile: Operand<L>,
    from: *const f16,
    (n_rows, n_columns): (u32, u32),
    pitch: u32,
) {
    let thread = thread::thread_idx_x();
    let (row, column) = (thread / ROW_CHUNKS, thread % ROW_CHUNKS * CHUNK);
    let n_bytes = min(n_columns.saturating_sub(column), CHUNK) * size_of::<f16>() as u32;
    unrolled!(I in [0 1 2 3] {
        let row = row + I as u32 * COPY_ROWS;
        let chunk = from.wrapping_add((row * pitch + column) as usize);
        let n_bytes = if row < n_rows { n_bytes } else { 0 };
        cg_first(tile.row_address(row, column), chunk.cast::<UInt4>(), n_bytes);
    });
}

/// Block of [`gemm_tiled`] and of [`gemm_swizzled`](super::swizzled::gemm_swizzled), in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of [`gemm_tiled`] and of [`gemm_swizzled`](super::swizzled::gemm_swizzled): x over
/// columns, y over rows.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(SIDE), m.div_ceil(SIDE), 1]
}
