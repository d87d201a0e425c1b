//! From tiles to fragments and back: 16×16 blocks of a [`Tile`].
//!
//! All loads are one `ldmatrix.x4`. Its four matrices are the quarters of the
//! block, in the order of A's registers, and [`quad_address`] says which lane
//! names which row:
//!
//! ```text
//!               columns 0–7     columns 8–15
//!     rows 0–7   R0: lanes 0–7   R2: lanes 16–23
//!     rows 8–15  R1: lanes 8–15  R3: lanes 24–31
//! ```

use half::f16;

use crate::tile::{Layout, Tile};

use super::{Element, FragmentA, FragmentB, FragmentC, M16N8K16, ldmatrix, map};

/// Elements in a row of a matrix, which one lane's address names.
pub const MATRIX_ROW: u32 = 8;

/// Row and column, within a 16×16 block, of the matrix row that `lane` names.
#[inline(always)]
pub const fn quad_address(lane: u32) -> (u32, u32) {
    let (matrix, row) = map::address_of(lane);
    (row + matrix % 2 * 8, matrix / 2 * MATRIX_ROW)
}

/// The same for a block of Bᵀ, of which each right operand is half: its upper half comes in
/// the first two registers, its lower half in the others. `mma` takes an operand from
/// consecutive registers; any other order costs moves.
#[inline(always)]
pub const fn pair_address(lane: u32) -> (u32, u32) {
    let (matrix, row) = map::address_of(lane);
    (row + matrix / 2 * 8, matrix % 2 * MATRIX_ROW)
}

/// This lane's index in its warp.
#[inline(always)]
fn lane() -> u32 {
    crate::warp::lane_id()
}

/// The 16×16 block at `(row, column)` as left operand.
///
/// # Safety
///
/// The whole warp calls it together; the block is in the tile, `column` is a
/// multiple of 8, and a barrier follows the stores to it.
#[inline(always)]
pub unsafe fn load_a<T: Element, const ROWS: u32, const COLUMNS: u32, L: Layout>(
    tile: Tile<T, ROWS, COLUMNS, L>,
    row: u32,
    column: u32,
) -> FragmentA<T, M16N8K16> {
    let (block_row, block_column) = quad_address(lane());
    // SAFETY: by this function's own contract.
    FragmentA::new(unsafe { ldmatrix::x4(tile, row + block_row, column + block_column) })
}

/// The two right operands in a 16×16 block of B, that is K×N: columns 0 to 7
/// and 8 to 15. Each 8×8 matrix is transposed on the way.
///
/// # Safety
///
/// As [`load_a`].
#[inline(always)]
pub unsafe fn load_b<T: Element, const ROWS: u32, const COLUMNS: u32, L: Layout>(
    tile: Tile<T, ROWS, COLUMNS, L>,
    row: u32,
    column: u32,
) -> [FragmentB<T, M16N8K16>; 2] {
    let (block_row, block_column) = quad_address(lane());
    // SAFETY: by this function's own contract.
    load_b_pair(unsafe { ldmatrix::x4_trans(tile, row + block_row, column + block_column) })
}

/// Splits the four matrices of a block of B: its left half is the quarters 0 and
/// 1, one below the other.
#[inline(always)]
pub const fn load_b_pair<T: Element>([r0, r1, r2, r3]: [u32; 4]) -> [FragmentB<T, M16N8K16>; 2] {
    [FragmentB::new([r0, r1]), FragmentB::new([r2, r3])]
}

/// The two right operands in a 16×16 block of Bᵀ, that is N×K: rows 0 to 7 and
/// 8 to 15 of the block are columns 0 to 7 and 8 to 15 of B.
///
/// # Safety
///
/// As [`load_a`].
#[inline(always)]
pub unsafe fn load_b_transposed<T: Element, const ROWS: u32, const COLUMNS: u32, L: Layout>(
    tile: Tile<T, ROWS, COLUMNS, L>,
    row: u32,
    column: u32,
) -> [FragmentB<T, M16N8K16>; 2] {
    let (block_row, block_column) = pair_address(lane());
    // SAFETY: by this function's own contract.
    load_b_pair(unsafe { ldmatrix::x4(tile, row + block_row, column + block_column) })
}

/// A block of Bᵀ held in registers as a left operand, as the two right ones: its
/// upper half is the quarters 0 and 2, side by side. So one load is enough for a
/// product of a block with its own transpose.
#[inline(always)]
pub const fn load_b_transposed_pair<T: Element>(
    block: FragmentA<T, M16N8K16>,
) -> [FragmentB<T, M16N8K16>; 2] {
    let [r0, r1, r2, r3] = block.registers;
    [FragmentB::new([r0, r2]), FragmentB::new([r1, r3])]
}

/// Stores a 16×8 result at `(row, column)`: two stores of 4 bytes per lane.
///
/// # Safety
///
/// The 16×8 block is in the tile, `column` is even, and no other thread accesses
/// it until a barrier.
#[inline(always)]
pub unsafe fn store_c<const ROWS: u32, const COLUMNS: u32, L: Layout>(
    tile: Tile<f16, ROWS, COLUMNS, L>,
    row: u32,
    column: u32,
    c: FragmentC<f16>,
) {
    let (lane, [upper, lower]) = (lane(), c.registers);
    let at = |register| {
        let at = map::c16(lane, register, 0);
        // SAFETY: by this function's own contract.
        unsafe { tile.chunk::<u32>(row + at.row, column + at.column) }
    };
    // SAFETY: by this function's own contract.
    unsafe {
        *at(0) = upper;
        *at(1) = lower;
    }
}

/// Stores a 16×16 result, two products side by side, at `(row, column)` by one
/// `stmatrix.x4`: lanes name rows as in [`quad_address`]. From sm_90 on.
///
/// # Safety
///
/// As [`load_a`], and no other thread accesses the block until a barrier.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
#[inline(always)]
pub unsafe fn store_matrices<const ROWS: u32, const COLUMNS: u32, L: Layout>(
    tile: Tile<f16, ROWS, COLUMNS, L>,
    row: u32,
    column: u32,
    [left, right]: [FragmentC<f16>; 2],
) {
    let (block_row, block_column) = quad_address(lane());
    let registers = FragmentA::from_products(left, right).registers;
    // SAFETY: by this function's own contract.
    unsafe { super::stmatrix::x4(tile, row + block_row, column + block_column, registers) }
}
