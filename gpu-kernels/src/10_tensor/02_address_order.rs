//! No conflicts in a plain tile: the lanes ask for rows in another order.
//!
//! G = A·Aᵀ, 16×16, in f32, A loaded once. In a plain tile of 16 columns, rows
//! r and r + 4 of a matrix collide (module [`tensor`](super)): of the eight chunk
//! columns, a matrix uses only those of its own half, `L` or `R`. Its neighbour
//! across, the other half of the same rows, has the same trouble with the other
//! four. So let the two share: in each phase, the last four lanes ask for the
//! *other* half of their row.
//!
//! ```text
//!     chunk column   0     1     2     3     4     5     6     7
//!     line 0        r0 L  r0 R  r1 L  r1 R  r2 L  r2 R  r3 L  r3 R
//!     line 1        r4 L  r4 R  r5 L  r5 R  r6 L  r6 R  r7 L  r7 R
//!
//!     phase 0 as usual:  r0 L, r1 L, r2 L, r3 L, r4 L, r5 L, r6 L, r7 L    2 wavefronts
//!     phase 0 here:      r0 L, r1 L, r2 L, r3 L, r4 R, r5 R, r6 R, r7 R    1 wavefront
//! ```
//!
//! What comes back is in the wrong registers for the lanes that hold rows 4 to 7
//! of each matrix, lanes 16 to 31: what belongs in R0 is in R2, and vice versa;
//! likewise R1 and R3. They swap these, and everything is in place.
//!
//! It works for this pitch only. A row of 32 bytes has two chunks, and exactly
//! two rows of a matrix collide: two halves to choose from for two rows in one
//! chunk column. At 64 bytes four rows collide, and the 16×16 block that one
//! `ldmatrix` fetches still has only two chunks of each row to offer; half of the
//! conflicts would remain.
//!
//! | kernel | conflicts in `ldmatrix` |
//! |---|---|
//! | [`address_order_plain`] | 4 |
//! | [`address_order_swapped`] | 0 |

use cuda_std::half::f16;
use cuda_std::mma::ldmatrix::x4_at;
use cuda_std::mma::{
    FragmentA, FragmentB, FragmentC, M16N8K16, load_a, load_b_transposed_pair, mma,
};
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::tile::{Plain, TILE_ALIGN_BYTES};
use cuda_std::warp::FULL_MASK;

use super::simple::plain;
use super::{CHUNK, MATRIX, SIDE, Tile16, WARP, fill, multiply_add, write_result, zero};

/// Row and column that `lane` asks for: as in [`simple`](super::simple), but the last
/// four lanes of each phase take the other chunk of their row.
///
/// | lanes | row | column |
/// |---|---|---|
/// | 0–3, 4–7 | 0–3, 4–7 | 0, **8** |
/// | 8–11, 12–15 | 8–11, 12–15 | 0, **8** |
/// | 16–19, 20–23 | 0–3, 4–7 | 8, **0** |
/// | 24–27, 28–31 | 8–11, 12–15 | 8, **0** |
#[inline(always)]
pub const fn swapped_address(lane: u32) -> (u32, u32) {
    let (row, chunk) = (lane % 16, lane / 16);
    let is_last_four = row / 4 % 2;
    (row, (chunk * CHUNK) ^ (is_last_four * CHUNK))
}

/// Whether `lane` holds rows 4 to 7 of every matrix, and so must swap.
#[inline(always)]
pub const fn must_swap(lane: u32) -> bool {
    lane >= 16
}

/// The two, swapped if `swap`. Without a branch: the compiler would turn an `if` into
/// one, and the lanes would diverge between `ldmatrix` and `mma`.
#[inline(always)]
pub const fn swapped_if(swap: bool, [a, b]: [u32; 2]) -> [u32; 2] {
    let difference = (a ^ b) & (swap as u32).wrapping_neg();
    [a ^ difference, b ^ difference]
}

/// G = A·Aᵀ through a plain tile, addresses as usual: 4 conflicts.
///
/// # Safety
///
/// `a` and `g` are aligned to 16 bytes, hold a 16×16 matrix per block, and do not
/// overlap. Launch with [`BLOCK`](super::BLOCK) threads and a block per product.
#[kernel(launch_bounds(WARP))]
pub unsafe fn address_order_plain(a: *const f16, g: *mut f32) {
    let tile = shared_tile!(Tile16<Plain>);
    let problem = (thread::block_idx_x() * MATRIX) as usize;
    fill::<WARP, _, _, _>(tile, a.add(problem), warp::lane_id());
    warp::sync_warp(FULL_MASK);

    let block = load_a(tile, 0, 0);
    let product = multiply_add(block, load_b_transposed_pair(block), zero());
    write_result(g.add(problem), SIDE, product);
}

/// G = A·Aᵀ through a plain tile, addresses from [`swapped_address`]: no
/// conflicts.
///
/// # Safety
///
/// As [`address_order_plain`].
#[kernel(launch_bounds(WARP))]
pub unsafe fn address_order_swapped(a: *const f16, g: *mut f32) {
    let tile = shared_array![f16; MATRIX as usize, align = TILE_ALIGN_BYTES];
    let lane = warp::lane_id();
    let problem = (thread::block_idx_x() * MATRIX) as usize;

    // A lane copies eight elements, 16 bytes.
    let own = (lane * CHUNK) as usize;
    *tile.add(own).cast::<u128>() = *a.add(problem).add(own).cast::<u128>();
    warp::sync_warp(FULL_MASK);

    let (row, column) = swapped_address(lane);
    let [r0, r1, r2, r3] = x4_at(address_in_space(tile) + plain(row, column) as u32 * 2);
    let [r0, r2] = swapped_if(must_swap(lane), [r0, r2]);
    let [r1, r3] = swapped_if(must_swap(lane), [r1, r3]);

    // A's registers, two at a time, are Aᵀ's: rows 0 to 7 of A are its columns 0 to 7.
    let a = FragmentA::<f16, M16N8K16>::new([r0, r1, r2, r3]);
    let left = mma(a, FragmentB::new([r0, r2]), FragmentC::<f32>::zero());
    let right = mma(a, FragmentB::new([r1, r3]), FragmentC::<f32>::zero());
    write_result(g.add(problem), SIDE, [left, right]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::cost;
    use cuda_std::mma::map;

    #[test]
    fn swapped_addresses_do_not_conflict() {
        let offset = |lane| {
            let (row, column) = swapped_address(lane);
            plain(row, column) as u32 * 2
        };
        assert_eq!(cost(16, offset).conflicts, 0);
    }

    #[test]
    fn swaps() {
        assert_eq!(swapped_if(true, [1, 2]), [2, 1]);
        assert_eq!(swapped_if(false, [1, 2]), [1, 2]);
    }

    /// Follows every element: where the instruction puts it, and where it is
    /// after the swap.
    #[test]
    fn after_the_swap_every_element_is_in_its_place() {
        for lane in 0..WARP {
            for register in 0..4 {
                for half in 0..2 {
                    // After the swap this register holds what came in `from`.
                    let from = if must_swap(lane) {
                        register ^ 2
                    } else {
                        register
                    };
                    // Its matrix's row is named by the lane that holds the address.
                    let in_matrix = map::matrix(lane, half);
                    let (row, column) = swapped_address(from * 8 + in_matrix.row);
                    let expected = map::a(lane, register, half);
                    assert_eq!(
                        (row, column + in_matrix.column),
                        (expected.row, expected.column)
                    );
                }
            }
        }
    }
}
