//! The same tiles, swizzled, and fragments by `ldmatrix`.
//!
//! `ldmatrix.x4` loads four registers of a fragment in one instruction, where
//! [`tiled`](super::tiled) takes four; and the XOR swizzle puts chunk `j` of row `i` at
//! `j ^ (i mod 8)`, so that the eight rows of one of its matrices lie in eight different
//! columns of banks: one wavefront per matrix, the minimum. Copies of 16 bytes do not
//! suffer: a row's chunks only swap places among themselves.
//!
//! ```text
//!     chunk column   0   1   2   3   4   5   6   7
//!     row 0          0   1   2   3   4   5   6   7
//!     row 1          1   0   3   2   5   4   7   6
//!     row 2          2   3   0   1   6   7   4   5
//!       ⋮
//! ```

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix::x4_at;
use cuda_std::mma::{FragmentA, FragmentB, M16N8K16, load_b_pair, pair_address, quad_address};
use cuda_std::prelude::*;
use cuda_std::swizzle::Swizzle;
use cuda_std::tile::Layout;

use super::matrices::{Scale, Sizes};
use super::tiled::{BLOCK_THREADS, Feed, Operand, product};

/// The layout: in elements, chunks of 2³, rows of 2⁶.
pub type Layout64 = Swizzle<3, 3, 3>;

/// A 16×16 block at a time: `ldmatrix.x4`.
pub struct ByMatrices;

impl<L: Layout> Feed<L> for ByMatrices {
    #[inline(always)]
    unsafe fn a<const BELOW: u32>(
        tile: Operand<L>,
        row: u32,
        column: u32,
    ) -> FragmentA<f16, M16N8K16> {
        let at = quad_address(warp::lane_id());
        FragmentA::new(x4_at(
            tile.row_address_below::<BELOW>(row + at.0, column + at.1),
        ))
    }

    #[inline(always)]
    unsafe fn b<const BELOW: u32>(
        tile: Operand<L>,
        row: u32,
        column: u32,
    ) -> [FragmentB<f16, M16N8K16>; 2] {
        let at = pair_address(warp::lane_id());
        load_b_pair(x4_at(
            tile.row_address_below::<BELOW>(row + at.0, column + at.1),
        ))
    }
}

/// [`gemm_tiled`](super::tiled::gemm_tiled) without bank conflicts.
///
/// # Safety
///
/// As [`gemm_tiled`](super::tiled::gemm_tiled), with its block and grid.
#[kernel(launch_bounds(BLOCK_THREADS, 2))]
pub unsafe fn gemm_swizzled(a: *const f16, b: *const f16, c: *mut f16, sizes: Sizes, scale: Scale) {
    let a_tile = shared_tile!(Operand<Layout64>);
    let b_tile = shared_tile!(Operand<Layout64>);
    product::<Layout64, ByMatrices>((a_tile, b_tile), (a, b, c), &sizes, scale);
}
