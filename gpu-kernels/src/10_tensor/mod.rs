//! Tensor-core tiles: `ldmatrix`, `mma`, and the layouts that keep `ldmatrix`
//! free of bank conflicts.
//!
//! A tensor core multiplies 16×16 by 16×8 elements of 16 bits in one instruction
//! of a warp ([`cuda_std::mma`]). It is fed from shared memory by `ldmatrix`,
//! which fetches 8×8 matrices, row by row: for each matrix, eight lanes give the
//! address of a row of eight elements, 16 bytes.
//!
//! # Row collisions
//!
//! The 32 banks are 4 bytes wide: one *line* of them is 128 bytes, eight chunks
//! of 16. Eight rows of 16 bytes are one line's worth, and arrive in one wavefront
//! if each lies in a different one of the eight chunk columns. A row's chunk column
//! is bits 4 to 6 of its address, and that depends on the pitch:
//!
//! ```text
//!   a 16×16 tile, pitch 32 bytes: four rows per line
//!
//!     chunk column   0     1     2     3     4     5     6     7
//!     line 0        r0 L  r0 R  r1 L  r1 R  r2 L  r2 R  r3 L  r3 R
//!     line 1        r4 L  r4 R  r5 L  r5 R  r6 L  r6 R  r7 L  r7 R
//! ```
//!
//! An 8×8 matrix is one column of that, say all the `L`. Rows 0 and 4 are in
//! the same chunk column, as are 1 and 5, …: two wavefronts instead of one. At a
//! pitch of 64 bytes, two rows per line, every other row collides: four
//! wavefronts. From 128 bytes on all eight do.
//!
//! # Finding B, M and S
//!
//! Take offsets in elements (16 bits): bits 0 to 2 are the place in a chunk, bits
//! 3 to 5 the chunk column, bits 6 and up the line. Bits 3 to 5 must become
//! different in eight consecutive rows, and nothing else may change.
//!
//! - **M = 3**: the eight elements of a chunk stay together; `ldmatrix` takes
//!   them by one address.
//! - Rows of C = 2ᶜ elements begin at bit c. Of the three bits that number the
//!   eight rows of a matrix, c to c+2, those below bit 6 are chunk-column bits
//!   already: they tell rows apart without help. The others do not reach the chunk
//!   column. There are **B = min(3, c − 3)** of them, for c ≥ 3.
//! - They are the upper ones: bits max(6, c) and up. They must be XORed onto the
//!   same number of chunk-column bits that do not number rows: the lowest, from bit M
//!   up. So **S = max(6, c) − 3**.
//!
//! | columns | c | row bits | `Swizzle<B, M, S>` | plain: wavefronts per matrix |
//! |---|---|---|---|---|
//! | 16 | 4 | 4, 5, **6** | `<1, 3, 3>` | 2 |
//! | 32 | 5 | 5, **6, 7** | `<2, 3, 3>` | 4 |
//! | 64 | 6 | **6, 7, 8** | `<3, 3, 3>` | 8 |
//! | 128 | 7 | **7, 8, 9** | `<3, 3, 4>` | 8 |
//! | 256 | 8 | **8, 9, 10** | `<3, 3, 5>` | 8 |
//!
//! ([`swizzle_for`] is that derivation as a function; a test checks it against
//! the table and the rule for conflicts.)
//!
//! # Padding instead
//!
//! Padding needs no power of two: eight rows differ in their chunk columns
//! whenever the pitch is an odd number of chunks ([`Padded<8>`] on every width of
//! the table). It is the better choice where rows have no power-of-two length,
//! where one tile is read under several strides that no single swizzle serves,
//! and where address arithmetic is more expensive than memory (the padded address is
//! linear in the row, so the compiler folds it into the instruction's
//! offset). It costs 16 bytes per row, half of a 16-column tile, and it breaks up
//! the lines: a copy that goes through the tile chunk by chunk, free in both
//! other layouts, straddles them and has conflicts ([`simple`] shows it for comparison).
//! And tiles that the hardware fills (TMA) come swizzled, never padded in this way.
//!
//! # The files
//!
//! | file | problem |
//! |---|---|
//! | [`simple`] | C = A·Bᵀ of 16×16 matrices: plain, padded, swizzled, with `stmatrix` |
//! | [`address_order`] | no conflicts in a plain tile: another order of addresses |
//! | [`wide`] | 16×16 blocks out of 16×32 and 16×64 tiles, as Bᵀ and as B |
//! | [`power`] | Aⁿ, the products chained in registers and through the tile |
//! | [`multi`] | one layout for two ways of reading a 16×256 tile; changing it half-way |
//! | [`probe`] | the instructions bare, for tests of the fragment maps and of rounding |
//!
//! In each file one kernel has its addresses, `ldmatrix` and `mma` written out. The others do
//! the same with tiles, whose layout is a type, and with fragments.
//!
//! Left out: large matrix products (these tiles are what those are made of).

#[path = "01_simple.rs"]
pub mod simple;
#[path = "02_address_order.rs"]
pub mod address_order;
#[path = "03_wide.rs"]
pub mod wide;
#[path = "04_power.rs"]
pub mod power;
#[path = "05_multi.rs"]
pub mod multi;
#[path = "parts/probe.rs"]
pub mod probe;

use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, map, mma};
use cuda_std::prelude::*;
use cuda_std::tile::{Layout, Padded, Tile};
use cuda_std::vector::Float2;

use crate::swizzle::Swizzle;
use crate::warp::WARP_LANES;

/// Side of a block that one `ldmatrix.x4` fetches.
pub const SIDE: u32 = 16;
/// Elements in a 16×16 matrix.
pub const MATRIX: u32 = SIDE * SIDE;
/// Elements in a 16-byte vector.
pub const CHUNK: u32 = 8;
/// Threads of a block of most kernels: one warp, one problem.
pub const WARP: u32 = WARP_LANES;

/// Layout of a 16-column tile without conflicts.
pub type Swizzled16 = Swizzle<1, 3, 3>;
/// Layout of a 32-column tile without conflicts.
pub type Swizzled32 = Swizzle<2, 3, 3>;
/// Layout of a 64-column tile without conflicts.
pub type Swizzled64 = Swizzle<3, 3, 3>;
/// Layout of a 128-column tile without conflicts.
pub type Swizzled128 = Swizzle<3, 3, 4>;
/// Layout of a 256-column tile without conflicts.
pub type Swizzled256 = Swizzle<3, 3, 5>;
/// Rows one 16-byte vector longer: no conflicts either.
pub type PaddedByChunk = Padded<CHUNK>;

/// A 16×16 tile.
pub type Tile16<L> = Tile<f16, 16, 16, L>;

/// `(B, M, S)` of the swizzle that keeps `ldmatrix` from conflicts in a tile of
/// 16-bit elements with `n_columns`, a power of two and at least 16.
pub const fn swizzle_for(n_columns: u32) -> (u32, u32, u32) {
    assert!(n_columns.is_power_of_two() && n_columns >= 16);
    /// First bit of the chunk column, and of the line, in offsets in elements.
    const CHUNK_BIT: u32 = CHUNK.ilog2();
    const LINE_BIT: u32 = CHUNK_BIT + 3;
    let row_bit = n_columns.ilog2();
    if row_bit < LINE_BIT {
        (row_bit - CHUNK_BIT, CHUNK_BIT, LINE_BIT - CHUNK_BIT)
    } else {
        (3, CHUNK_BIT, row_bit - CHUNK_BIT)
    }
}

// ---------------------------------------------------------------------------
// Between global memory, tiles and fragments
// ---------------------------------------------------------------------------
//
// Whole tiles move in 16-byte vectors, in row order: thread t has vectors t,
// t + N_THREADS, … Eight consecutive lanes access one line of the tile, so this has
// no conflicts in any layout that permutes vectors within a line.

/// Row and first column of chunk `chunk` of a tile of `n_columns`.
#[inline(always)]
pub const fn chunk_position(chunk: u32, n_columns: u32) -> (u32, u32) {
    let element = chunk * CHUNK;
    (element / n_columns, element % n_columns)
}

/// Calls `$each` with the position of every chunk that is thread `$thread`'s.
macro_rules! for_chunks {
    ($thread:expr, $n_threads:expr, $rows:expr, $columns:expr, |$chunk:ident, $row:ident, $column:ident| $each:block) => {{
        const {
            assert!(
                ($rows * $columns).is_multiple_of($n_threads * CHUNK),
                "every thread moves the same number of chunks"
            );
        }
        let mut i = 0;
        while i < $rows * $columns / CHUNK / $n_threads {
            let $chunk = i * $n_threads + $thread;
            let ($row, $column) = chunk_position($chunk, $columns);
            $each
            i += 1;
        }
    }};
}
use for_chunks;

/// Fills `tile` from `input`, row by row, with `N_THREADS` threads.
///
/// # Safety
///
/// `input` holds the tile's elements and is aligned to 16 bytes; `thread` is
/// below `N_THREADS`, and every such thread calls it once. A barrier follows.
#[inline(always)]
pub(crate) unsafe fn fill<const N_THREADS: u32, const ROWS: u32, const COLUMNS: u32, L: Layout>(
    tile: Tile<f16, ROWS, COLUMNS, L>,
    input: *const f16,
    thread: u32,
) {
    for_chunks!(thread, N_THREADS, ROWS, COLUMNS, |chunk, row, column| {
        *tile.chunk::<u128>(row, column) = *input.cast::<u128>().add(chunk as usize);
    });
}

/// Copies `tile` to `output`: the reverse of [`fill`].
///
/// # Safety
///
/// As [`fill`]; a barrier comes before.
#[inline(always)]
pub(crate) unsafe fn drain<const N_THREADS: u32, const ROWS: u32, const COLUMNS: u32, L: Layout>(
    tile: Tile<f16, ROWS, COLUMNS, L>,
    output: *mut f16,
    thread: u32,
) {
    for_chunks!(thread, N_THREADS, ROWS, COLUMNS, |chunk, row, column| {
        *output.cast::<u128>().add(chunk as usize) = *tile.chunk::<u128>(row, column);
    });
}

/// A·B of 16×16 matrices, B as its two halves of 8 columns, added to `c`.
///
/// # Safety
///
/// The whole warp calls it together.
#[inline(always)]
pub(crate) unsafe fn multiply_add(
    a: FragmentA<f16, M16N8K16>,
    [left, right]: [FragmentB<f16, M16N8K16>; 2],
    [c_left, c_right]: [FragmentC<f32>; 2],
) -> [FragmentC<f32>; 2] {
    [mma(a, left, c_left), mma(a, right, c_right)]
}

/// The zero matrix, 16×16.
#[inline(always)]
pub(crate) const fn zero() -> [FragmentC<f32>; 2] {
    [FragmentC::zero(), FragmentC::zero()]
}

/// Writes a 16×16 result to global memory, rows `pitch` elements apart: each
/// store of a warp is 8 whole sectors.
///
/// # Safety
///
/// `output` is aligned to 8 bytes and has room for the block; `pitch` is even.
#[inline(always)]
pub(crate) unsafe fn write_result(
    output: *mut f32,
    pitch: u32,
    [left, right]: [FragmentC<f32>; 2],
) {
    let lane = warp::lane_id();
    let at = |register, column| {
        let at = map::c32(lane, register);
        output
            .add((at.row * pitch + column + at.column) as usize)
            .cast::<Float2>()
    };
    let ([a, b, c, d], [e, f, g, h]) = (left.registers, right.registers);
    *at(0, 0) = Float2::new(a, b);
    *at(2, 0) = Float2::new(c, d);
    *at(0, 8) = Float2::new(e, f);
    *at(2, 8) = Float2::new(g, h);
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of every kernel but those of [`multi`], in threads.
pub const BLOCK: [u32; 3] = [WARP, 1, 1];

/// Grid for `n_problems`: a block each.
pub const fn grid(n_problems: u32) -> [u32; 3] {
    [n_problems, 1, 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::{Cost, cost};
    use cuda_std::mma::quad_address;
    use cuda_std::tile::Plain;

    /// Cost of one `ldmatrix.x4` of the 16×16 block at `(0, column)`: its rule is
    /// that of a 16-byte access, eight lanes at a time.
    fn load_cost<const COLUMNS: u32, L: Layout>(column: u32) -> Cost {
        cost(16, |lane| {
            let (row, block_column) = quad_address(lane);
            Tile::<f16, 16, COLUMNS, L>::offset(row, column + block_column) * 2
        })
    }

    fn conflicts<const COLUMNS: u32, L: Layout>() -> u32 {
        (0..COLUMNS / SIDE)
            .map(|block| load_cost::<COLUMNS, L>(block * SIDE).conflicts)
            .sum()
    }

    #[test]
    fn the_derivation_gives_the_table() {
        assert_eq!(
            [16, 32, 64, 128, 256].map(swizzle_for),
            [(1, 3, 3), (2, 3, 3), (3, 3, 3), (3, 3, 4), (3, 3, 5)]
        );
    }

    #[test]
    fn plain_tiles_conflict_as_the_table_says() {
        assert_eq!(load_cost::<16, Plain>(0).ways, 2);
        assert_eq!(load_cost::<32, Plain>(0).ways, 4);
        assert_eq!(load_cost::<64, Plain>(0).ways, 8);
        assert_eq!(load_cost::<128, Plain>(0).ways, 8);
        assert_eq!(load_cost::<256, Plain>(0).ways, 8);
        // In all blocks of a tile: 4, 24, 112 of the catalogue, and on.
        assert_eq!(conflicts::<16, Plain>(), 4);
        assert_eq!(conflicts::<32, Plain>(), 24);
        assert_eq!(conflicts::<64, Plain>(), 112);
        assert_eq!(conflicts::<256, Plain>() * 2, 896);
    }

    #[test]
    fn swizzled_tiles_do_not_conflict() {
        assert_eq!(conflicts::<16, Swizzled16>(), 0);
        assert_eq!(conflicts::<32, Swizzled32>(), 0);
        assert_eq!(conflicts::<64, Swizzled64>(), 0);
        assert_eq!(conflicts::<128, Swizzled128>(), 0);
        assert_eq!(conflicts::<256, Swizzled256>(), 0);
    }

    #[test]
    fn one_chunk_of_padding_does_not_conflict() {
        assert_eq!(conflicts::<16, PaddedByChunk>(), 0);
        assert_eq!(conflicts::<32, PaddedByChunk>(), 0);
        assert_eq!(conflicts::<64, PaddedByChunk>(), 0);
        assert_eq!(conflicts::<128, PaddedByChunk>(), 0);
        assert_eq!(conflicts::<256, PaddedByChunk>(), 0);
    }

    /// Cost of all of a warp's accesses in [`fill`] and [`drain`].
    fn copy_conflicts<const COLUMNS: u32, L: Layout>() -> u32 {
        (0..16 * COLUMNS / CHUNK / WARP)
            .map(|i| {
                let offset = |lane| {
                    let (row, column) = chunk_position(i * WARP + lane, COLUMNS);
                    Tile::<f16, 16, COLUMNS, L>::offset(row, column) * 2
                };
                cost(16, offset).conflicts
            })
            .sum()
    }

    #[test]
    fn copies_conflict_only_where_padding_breaks_the_lines() {
        assert_eq!(copy_conflicts::<16, Plain>(), 0);
        assert_eq!(copy_conflicts::<16, Swizzled16>(), 0);
        assert_eq!(copy_conflicts::<32, Swizzled32>(), 0);
        assert_eq!(copy_conflicts::<64, Swizzled64>(), 0);
        assert_eq!(copy_conflicts::<256, Swizzled256>(), 0);
        assert_eq!(copy_conflicts::<16, PaddedByChunk>(), 4);
    }

    /// Cost of the four stores of a 16×16 result in f16 ([`cuda_std::mma::store_c`]).
    fn result_conflicts<const COLUMNS: u32, L: Layout>() -> u32 {
        [(0, 0), (1, 0), (0, 8), (1, 8)]
            .into_iter()
            .map(|(register, column)| {
                let offset = |lane| {
                    let at = map::c16(lane, register, 0);
                    Tile::<f16, 16, COLUMNS, L>::offset(at.row, column + at.column) * 2
                };
                cost(4, offset).conflicts
            })
            .sum()
    }

    #[test]
    fn result_stores_conflict_in_plain_tiles_only() {
        assert_eq!(result_conflicts::<16, Plain>(), 4);
        assert_eq!(result_conflicts::<16, Swizzled16>(), 0);
        assert_eq!(result_conflicts::<16, PaddedByChunk>(), 0);
    }
}
