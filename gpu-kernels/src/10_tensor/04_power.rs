//! Aⁿ of a 16×16 matrix, n a run-time number; A⁰ is the identity.
//!
//! By squaring: n's binary digits, lowest first, say which of A, A², A⁴, A⁸, …
//! are multiplied together. Both products of a step, `result · base` and
//! `base · base`, have the same right operand, so a step is one `ldmatrix` (the
//! base as left operand), one `ldmatrix.trans` (as right operand) and four `mma`.
//!
//! The result never leaves the registers: a product in f16 has the map of a left
//! operand ([`FragmentA::from_products`]). The base does, because a square is
//! needed as right operand too, which has another map: it goes through the tile.
//!
//! Sums are in f32 and every power is rounded to f16. IEEE's special values go
//! their way: an infinity or NaN in A spreads as the products of this order say
//! (0·∞ is NaN). A¹ is A itself, bit for bit: the first factor is taken as it
//! is, not multiplied with an identity, which would make NaN of 0·∞.
//!
//! | kernel | tile | `ldmatrix` conflicts for n = 31 |
//! |---|---|---|
//! | [`matrix_power_plain`] | plain | 40: 5 steps, 4 per load |
//! | [`matrix_power_swizzled`] | `Swizzle<1, 3, 3>` | 0 |

use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, M16N8K16, load_a, load_b, map, store_c};
use cuda_std::prelude::*;
use cuda_std::tile::{Layout, Plain};
use cuda_std::warp::FULL_MASK;

use super::{MATRIX, Swizzled16, Tile16, WARP, drain, fill, multiply_add, zero};

/// This lane's part of the identity, as left operand.
#[inline(always)]
const fn identity(lane: u32) -> FragmentA<f16, M16N8K16> {
    FragmentA::new([
        identity_register(lane, 0),
        identity_register(lane, 1),
        identity_register(lane, 2),
        identity_register(lane, 3),
    ])
}

/// One of its registers: two elements.
pub const fn identity_register(lane: u32, register: u32) -> u32 {
    const ONE: u32 = f16::ONE.to_bits() as u32;
    let (low, high) = (map::a(lane, register, 0), map::a(lane, register, 1));
    let low_bits = if low.row == low.column { ONE } else { 0 };
    let high_bits = if high.row == high.column { ONE } else { 0 };
    low_bits | high_bits << 16
}

/// Stores a left operand to the tile: its quarters are two results' registers.
#[inline(always)]
unsafe fn store<L: Layout>(tile: Tile16<L>, matrix: FragmentA<f16, M16N8K16>) {
    let (left, right) = matrix.to_products();
    store_c(tile, 0, 0, left);
    store_c(tile, 0, 8, right);
}

#[inline(always)]
unsafe fn power<L: Layout>(tile: Tile16<L>, input: *const f16, output: *mut f16, n: u32) {
    let lane = warp::lane_id();
    let problem = (thread::block_idx_x() * MATRIX) as usize;
    fill::<WARP, _, _, _>(tile, input.add(problem), lane);
    warp::sync_warp(FULL_MASK);

    let mut result = identity(lane);
    let mut has_factor = false;
    let mut digits = n;
    // `n` is the same for all lanes: they stay together in this loop.
    while digits != 0 {
        let base = load_a(tile, 0, 0);
        let right = load_b(tile, 0, 0);
        // Computed in every step, so that no `mma` stands in a branch.
        let [product, square] = [
            multiply_add(result, right, zero()).map(|half| half.to_f16()),
            multiply_add(base, right, zero()).map(|half| half.to_f16()),
        ];
        if digits % 2 == 1 {
            result = if has_factor {
                FragmentA::from_products(product[0], product[1])
            } else {
                base
            };
            has_factor = true;
        }
        digits /= 2;
        warp::sync_warp(FULL_MASK);
        store(tile, FragmentA::from_products(square[0], square[1]));
        warp::sync_warp(FULL_MASK);
    }

    store(tile, result);
    warp::sync_warp(FULL_MASK);
    drain::<WARP, _, _, _>(tile, output.add(problem), lane);
}

/// Aⁿ through a plain tile.
///
/// # Safety
///
/// `input` and `output` are aligned to 16 bytes, hold a 16×16 matrix per block, and
/// do not overlap. Launch with [`BLOCK`](super::BLOCK) threads and a block a
/// matrix.
#[kernel(launch_bounds(WARP))]
pub unsafe fn matrix_power_plain(input: *const f16, output: *mut f16, n: u32) {
    power(shared_tile!(Tile16<Plain>), input, output, n);
}

/// Aⁿ through a swizzled tile: no conflicts.
///
/// # Safety
///
/// As [`matrix_power_plain`].
#[kernel(launch_bounds(WARP))]
pub unsafe fn matrix_power_swizzled(input: *const f16, output: *mut f16, n: u32) {
    power(shared_tile!(Tile16<Swizzled16>), input, output, n);
}

/// `ldmatrix` conflicts of [`matrix_power_plain`]: two loads of 4 a binary digit.
pub const fn plain_conflicts(n: u32) -> u32 {
    (u32::BITS - n.leading_zeros()) * 2 * 4
}
