//! Deliberate mistakes with tiles and fragments. Each kernel is a working one
//! with one thing wrong; tests hold that the comparison with the reference
//! rejects it. None of them is a fault that memory checks could find: every
//! access is in bounds, aligned and initialised.
//!
//! | kernel | mistake |
//! |---|---|
//! | [`broken_stored_plain_loaded_swizzled`] | two types for one memory |
//! | [`broken_b_without_trans`] | A·Bᵀ where A·B is wanted |
//! | [`broken_fragments_swapped`] | quarters 1 and 2 of the right operand changed |

use cuda_std::half::f16;
use cuda_std::mma::{FragmentC, load_a, load_b, load_b_pair, load_b_transposed};
use cuda_std::prelude::*;
use cuda_std::tile::Plain;
use cuda_std::warp::FULL_MASK;

use super::wide::Tile32;
use super::{MATRIX, SIDE, Swizzled32, WARP, fill, multiply_add, write_result, zero};

/// One block's problem in a 16×32 tile, and its product written.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident, |$tile:ident| $product:block)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// As [`tile32_plain`](super::wide::tile32_plain).
        #[kernel(launch_bounds(WARP))]
        pub unsafe fn $name(input: *const f16, output: *mut f32) {
            let $tile = shared_tile!(Tile32<Plain>);
            let block = thread::block_idx_x();
            fill::<WARP, _, _, _>($tile, input.add((block * SIDE * 32) as usize), warp::lane_id());
            warp::sync_warp(FULL_MASK);
            let product: [FragmentC<f32>; 2] = $product;
            write_result(output.add((block * MATRIX) as usize), SIDE, product);
        }
    )* };
}

kernels! {
    /// L·Rᵀ, the tile stored plain and loaded swizzled: the mistake that a layout
    /// in the type is there to prevent, made by force.
    broken_stored_plain_loaded_swizzled, |tile| {
        let tile = tile.relaid::<Swizzled32>();
        multiply_add(load_a(tile, 0, 0), load_b_transposed(tile, 0, SIDE), zero())
    }

    /// A·B without the transpose that B needs: it computes A·Bᵀ.
    broken_b_without_trans, |tile| {
        multiply_add(load_a(tile, 0, 0), load_b_transposed(tile, 0, SIDE), zero())
    }

    /// A·B with the right operand's quarters 1 and 2 changed, as for Bᵀ.
    broken_fragments_swapped, |tile| {
        let [left, right] = load_b(tile, 0, SIDE);
        let ([r0, r1], [r2, r3]) = (left.registers, right.registers);
        multiply_add(load_a(tile, 0, 0), load_b_pair([r0, r2, r1, r3]), zero())
    }
}
