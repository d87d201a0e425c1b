//! Aⁿ of a 16×16 matrix, with n given at run time; A⁰ is the identity.
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
//! Sums are in f32 and every power is rounded to f16. IEEE special values
//! propagate: an infinity or NaN in A spreads as the products in this order dictate
//! (0·∞ is NaN). A¹ is A itself, bit for bit: the first factor is taken
//! unchanged, not multiplied by an identity, which would turn 0·∞ into NaN.
//!
//! | kernel | tile | `ldmatrix` conflicts for n = 31 |
//! |---|---|---|
//! | [`matrix_power_plain`] | plain | 40: 5 steps, 4 per load |
//! | [`matrix_power_swizzled`] | [`swizzled`] | 0 |

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix::{x4_at, x4_trans_at};
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, map, mma};
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::tile::TILE_ALIGN_BYTES;
use cuda_std::warp::FULL_MASK;

use super::simple::plain;
use super::{CHUNK, MATRIX, WARP};

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

/// Where element `(row, column)` of the swizzled tile lies: rows 4 to 7 and 12 to 15 have
/// their two chunks of eight elements in the other order.
///
/// In offsets of elements that is `Swizzle<1, 3, 3>`.
#[inline(always)]
pub const fn swizzled(row: u32, column: u32) -> usize {
    plain(row, column ^ (row / 4 % 2 * CHUNK))
}

/// Aⁿ through a tile whose element `(row, column)` lies at `place(row, column)`.
#[inline(always)]
unsafe fn power(
    place: impl Fn(u32, u32) -> usize,
    tile: *mut f16,
    input: *const f16,
    output: *mut f16,
    n: u32,
) {
    let lane = warp::lane_id();
    let problem = (thread::block_idx_x() * MATRIX + lane * CHUNK) as usize;
    // Where a lane copies eight elements, which row it names in `ldmatrix`, and where it stores
    // a left operand: a register holds two adjacent elements of a quarter, as in `simple`.
    let own = tile.add(place(lane / 2, lane % 2 * CHUNK)).cast::<u128>();
    let rows = address_in_space(tile.add(place(lane % 16, lane / 16 * 8)));
    let store = |[a0, a1, a2, a3]: [u32; 4]| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        *tile.add(place(row, column)).cast::<u32>() = a0;
        *tile.add(place(row + 8, column)).cast::<u32>() = a1;
        *tile.add(place(row, column + 8)).cast::<u32>() = a2;
        *tile.add(place(row + 8, column + 8)).cast::<u32>() = a3;
    };

    *own = *input.add(problem).cast::<u128>();
    warp::sync_warp(FULL_MASK);

    let mut result = identity(lane);
    let mut has_factor = false;
    let mut digits = n;
    // `n` is the same for all lanes: they stay converged in this loop.
    while digits != 0 {
        let base = FragmentA::<f16, M16N8K16>::new(x4_at(rows));
        let [b0, b1, b2, b3] = x4_trans_at(rows);
        let (left, right) = (FragmentB::new([b0, b1]), FragmentB::new([b2, b3]));
        // Computed in every step, so that no `mma` is inside a branch.
        let product = FragmentA::from_products(
            mma(result, left, FragmentC::<f32>::zero()).to_f16(),
            mma(result, right, FragmentC::<f32>::zero()).to_f16(),
        );
        let square = FragmentA::<f16, M16N8K16>::from_products(
            mma(base, left, FragmentC::<f32>::zero()).to_f16(),
            mma(base, right, FragmentC::<f32>::zero()).to_f16(),
        );
        if digits % 2 == 1 {
            result = if has_factor { product } else { base };
            has_factor = true;
        }
        digits /= 2;
        warp::sync_warp(FULL_MASK);
        store(square.registers);
        warp::sync_warp(FULL_MASK);
    }

    store(result.registers);
    warp::sync_warp(FULL_MASK);
    *output.add(problem).cast::<u128>() = *own;
}

/// Aⁿ through a plain tile.
///
/// # Safety
///
/// `input` and `output` are aligned to 16 bytes, hold a 16×16 matrix per block, and
/// do not overlap. Launch with [`BLOCK`](super::BLOCK) threads and one block per
/// matrix.
#[kernel(launch_bounds(WARP))]
pub unsafe fn matrix_power_plain(input: *const f16, output: *mut f16, n: u32) {
    let tile = shared_array![f16; MATRIX as usize, align = TILE_ALIGN_BYTES];
    power(plain, tile, input, output, n);
}

/// Aⁿ through a swizzled tile: no conflicts.
///
/// # Safety
///
/// As [`matrix_power_plain`].
#[kernel(launch_bounds(WARP))]
pub unsafe fn matrix_power_swizzled(input: *const f16, output: *mut f16, n: u32) {
    let tile = shared_array![f16; MATRIX as usize, align = TILE_ALIGN_BYTES];
    power(swizzled, tile, input, output, n);
}

/// `ldmatrix` conflicts of [`matrix_power_plain`]: per binary digit two loads of 4 each.
pub const fn plain_conflicts(n: u32) -> u32 {
    (u32::BITS - n.leading_zeros()) * 2 * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{SIDE, Swizzled16, Tile16};

    #[test]
    fn the_swizzled_tile_is_that_of_the_first_lesson() {
        for (row, column) in (0..SIDE).flat_map(|row| (0..SIDE).map(move |c| (row, c))) {
            let expected = Tile16::<Swizzled16>::offset(row, column);
            assert_eq!(swizzled(row, column) as u32, expected);
        }
    }
}
