//! One 16×256 tile, read in two ways: 16 warps, 16 products at once.
//!
//! A and B are 16×256 matrices in f16, f32 results.
//!
//! - **C1**, by columns: warp w takes the 16×16 column block w of each,
//!   C1ʷ = Aʷ·Bʷᵀ. Rows of a block are 512 bytes apart.
//! - **C2**, by rows: warp w takes row w of each and reads its 256 elements as a
//!   16×16 matrix, C2ʷ = Aʷ·Bʷᵀ. Rows of *that* are 32 bytes apart.
//!
//! ```text
//!   offset in elements   11 10 9 8 │ 7 6 5 4 │ 3 │ 2 1 0
//!   by columns            row      │  block  │ k │  k        eight rows: bits 8–10 vary
//!   by rows               matrix   │  row    │ k │  k        eight rows: bits 4–6 vary
//! ```
//!
//! Chunk columns are bits 3 to 5. By columns none of the varying bits is among
//! them: all eight rows collide. By rows bits 4 and 5 are, and bit 6 is not: the
//! rows collide in pairs. One layout cures both: first bits 3 to 5 ^= bits 8 to 10,
//! then bit 3 ^= bit 6. In chunks that is `chunk ^ row % 8 ^ chunk / 8 % 2`
//! ([`place`]). Neither layer disturbs the other, because by columns bit 6 is the
//! same in all eight rows, and by rows bits 8 to 10 are: they XOR the same
//! constant onto all rows of a phase, which keeps them apart.
//!
//! | kernels | `ldmatrix` plain | [`Both`] |
//! |---|---|---|
//! | `multi_columns_…` | 896 = 16 · 2 · 28 | 0 |
//! | `multi_rows_…` | 128 = 16 · 2 · 4 | 0 |
//! | `multi_both_…`, out of one fill | 1024 | 0 |
//! | `interleaved_…` | 1024 | 0, with a layout for each |
//!
//! The interleaved kernels go the other way: they use the layout that suits the
//! product at hand, and change it in between. The results go back to
//! shared memory in f16, C1 in the layout for columns. After a barrier
//! everything is laid out anew for rows, in place, through registers; both results
//! go to global memory from that layout, in 16-byte vectors. That costs a
//! pass over the tiles and buys simpler address arithmetic; the two-layer swizzle
//! is the better choice here, but not always possible.
//!
//! Tiles are filled by `cp.async`. [`multi_both_swizzled`] has every address written out.

use cuda_std::cp_async;
use cuda_std::half::f16;
use cuda_std::mma::ldmatrix::{self, x4_at};
use cuda_std::mma::{
    FragmentA, FragmentB, FragmentC, M16N8K16, load_a, load_b_transposed_pair, mma, quad_address,
    store_c,
};
use cuda_std::prelude::*;
use cuda_std::shared::address_in_space;
use cuda_std::tile::{Layout, Plain, TILE_ALIGN_BYTES, Tile};

use super::{
    CHUNK, SIDE, Swizzled16, Swizzled256, WARP, chunk_position, drain, for_chunks, multiply_add,
    write_result, zero,
};
use crate::swizzle::{Composed, Swizzle};

/// Columns of A and B.
pub const COLUMNS: u32 = 256;
/// Warps of a block: one for every column block, and one for every row.
pub const N_WARPS: u32 = COLUMNS / SIDE;
/// Threads of a block.
pub const BLOCK_THREADS: u32 = N_WARPS * WARP;
/// Elements of A, B, C1 and C2.
pub const ELEMENTS: u32 = SIDE * COLUMNS;

const _: () = assert!(N_WARPS == SIDE, "a warp is a column block and a row");
const _: () = assert!(BLOCK_THREADS * CHUNK == ELEMENTS, "a thread is a chunk");

// ---------------------------------------------------------------------------
// Address by address
// ---------------------------------------------------------------------------

/// Chunks of 16 bytes in a row.
const ROW_CHUNKS: u32 = COLUMNS / CHUNK;

/// Where chunk `chunk` of row `row` lies, in chunks: in its row, moved within its line of eight
/// chunks, 128 bytes, by two layers. `^ row % 8` is for reading by columns, `^ chunk / 8 % 2`
/// for reading by rows.
///
/// | row | places of chunks 0, 1, … 7 | of 8, 9, … 15 |
/// |---|---|---|
/// | 0, 8 | 0, 1, 2, 3, 4, 5, 6, 7 | 9, 8, 11, 10, 13, 12, 15, 14 |
/// | 1, 9 | 1, 0, 3, 2, 5, 4, 7, 6 | 8, 9, 10, 11, 12, 13, 14, 15 |
/// | 2, 10 | 2, 3, 0, 1, 6, 7, 4, 5 | 11, 10, 9, 8, 15, 14, 13, 12 |
/// | … | | |
/// | 7, 15 | 7, 6, 5, 4, 3, 2, 1, 0 | 14, 15, 12, 13, 10, 11, 8, 9 |
///
/// Chunks 16 to 31 lie likewise, 16 places on. The place modulo 8 is the chunk column. By
/// columns an 8×8 matrix is one chunk of rows 0 to 7: eight chunk columns. By rows it is chunks
/// 0, 2, … 14 of one row: eight again.
#[inline(always)]
pub const fn place(row: u32, chunk: u32) -> u32 {
    row * ROW_CHUNKS + (chunk ^ (row % 8) ^ (chunk / 8 % 2))
}

/// C1 and C2 out of the same tiles, swizzled in two layers ([`place`]): no conflicts.
///
/// # Safety
///
/// As [`multi_both_plain`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn multi_both_swizzled(a: *const f16, b: *const f16, c1: *mut f32, c2: *mut f32) {
    let a_tile = shared_array![u128; BLOCK_THREADS as usize, align = TILE_ALIGN_BYTES];
    let b_tile = shared_array![u128; BLOCK_THREADS as usize, align = TILE_ALIGN_BYTES];
    let (thread, warp) = thread_and_warp();
    let lane = warp::lane_id();
    let problem = thread::block_idx_x() * ELEMENTS;

    // A thread copies one chunk of each.
    let own = place(thread / ROW_CHUNKS, thread % ROW_CHUNKS) as usize;
    let (a, b) = (a.add(problem as usize), b.add(problem as usize));
    cp_async::cg(a_tile.add(own), a.cast::<u128>().add(thread as usize));
    cp_async::cg(b_tile.add(own), b.cast::<u128>().add(thread as usize));
    cp_async::commit_group();
    cp_async::wait_group::<0>();
    thread::sync_threads();
    let (a_address, b_address) = (address_in_space(a_tile), address_in_space(b_tile));

    // By columns: the lanes name rows 0 to 15, first of the block's left chunk, then of its right.
    let at = place(lane % 16, 2 * warp + lane / 16);
    let left = FragmentA::<f16, M16N8K16>::new(x4_at(a_address + at * 16));
    // Loaded as a left operand: rows 0 to 7 of B are its registers 0 and 2, rows 8 to 15 the others.
    let [b0, b1, b2, b3] = x4_at(b_address + at * 16);
    let result = [
        mma(left, FragmentB::new([b0, b2]), FragmentC::<f32>::zero()),
        mma(left, FragmentB::new([b1, b3]), FragmentC::<f32>::zero()),
    ];
    write_result(c1.add((problem + warp * SIDE) as usize), COLUMNS, result);

    // By rows: row r of the matrix is chunks 2r and 2r + 1 of row `warp`.
    let at = place(warp, 2 * (lane % 16) + lane / 16);
    let left = FragmentA::<f16, M16N8K16>::new(x4_at(a_address + at * 16));
    let [b0, b1, b2, b3] = x4_at(b_address + at * 16);
    let result = [
        mma(left, FragmentB::new([b0, b2]), FragmentC::<f32>::zero()),
        mma(left, FragmentB::new([b1, b3]), FragmentC::<f32>::zero()),
    ];
    write_result(c2.add((problem + warp * COLUMNS) as usize), SIDE, result);
}

// ---------------------------------------------------------------------------
// By tiles and fragments
// ---------------------------------------------------------------------------

/// A 16×256 tile.
pub type Tile256<L> = Tile<f16, SIDE, COLUMNS, L>;
/// The two-layer swizzle that serves both ways of reading, in offsets of elements: [`place`].
pub type Both = Composed<Swizzle<3, 3, 5>, Swizzle<1, 3, 3>>;
/// The layout for reading by columns.
pub type ByColumns = Swizzled256;
/// The layout for reading by rows.
pub type ByRows = Swizzled16;

/// Position in the tile of element `(row, column)` of the 16×16 matrix that is
/// row `matrix` of the tile.
#[inline(always)]
pub const fn in_row(matrix: u32, row: u32, column: u32) -> (u32, u32) {
    (matrix, row * SIDE + column)
}

/// The number of this thread, and of its warp, in the block.
#[inline(always)]
fn thread_and_warp() -> (u32, u32) {
    let thread = thread::thread_idx_x();
    (thread, thread / WARP)
}

/// Fills both tiles and waits for them.
#[inline(always)]
unsafe fn begin<L: Layout>(
    a_tile: Tile256<L>,
    b_tile: Tile256<L>,
    a: *const f16,
    b: *const f16,
    thread: u32,
) {
    let problem = (thread::block_idx_x() * ELEMENTS) as usize;
    let (a, b) = (a.add(problem).cast::<u128>(), b.add(problem).cast::<u128>());
    for_chunks!(
        thread,
        BLOCK_THREADS,
        SIDE,
        COLUMNS,
        |chunk, row, column| {
            cp_async::cg(a_tile.chunk::<u128>(row, column), a.add(chunk as usize));
            cp_async::cg(b_tile.chunk::<u128>(row, column), b.add(chunk as usize));
        }
    );
    cp_async::commit_group();
    cp_async::wait_group::<0>();
    thread::sync_threads();
}

/// Row `matrix` of the tile as a 16×16 left operand.
#[inline(always)]
unsafe fn load_row<L: Layout>(tile: Tile256<L>, matrix: u32) -> FragmentA<f16, M16N8K16> {
    let (row, column) = quad_address(warp::lane_id());
    let (row, column) = in_row(matrix, row, column);
    FragmentA::new(ldmatrix::x4(tile, row, column))
}

/// C1 of one warp.
#[inline(always)]
unsafe fn by_columns<L: Layout>(a: Tile256<L>, b: Tile256<L>, warp: u32) -> [FragmentC<f32>; 2] {
    let left = load_a(a, 0, warp * SIDE);
    let right = load_b_transposed_pair(load_a(b, 0, warp * SIDE));
    multiply_add(left, right, zero())
}

/// C2 of one warp.
#[inline(always)]
unsafe fn by_rows<L: Layout>(a: Tile256<L>, b: Tile256<L>, warp: u32) -> [FragmentC<f32>; 2] {
    let left = load_row(a, warp);
    let right = load_b_transposed_pair(load_row(b, warp));
    multiply_add(left, right, zero())
}

/// Writes C1 of one warp where A's column block is.
#[inline(always)]
unsafe fn write_columns(c1: *mut f32, warp: u32, result: [FragmentC<f32>; 2]) {
    let block = thread::block_idx_x() * ELEMENTS + warp * SIDE;
    write_result(c1.add(block as usize), COLUMNS, result);
}

/// Writes C2 of one warp where A's row is.
#[inline(always)]
unsafe fn write_row(c2: *mut f32, warp: u32, result: [FragmentC<f32>; 2]) {
    let row = thread::block_idx_x() * ELEMENTS + warp * COLUMNS;
    write_result(c2.add(row as usize), SIDE, result);
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident($($c:ident),*): $layout:ty, |$a:ident, $b:ident, $warp:ident| $body:block)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// All pointers are aligned to 16 bytes and have 16×256 elements per
        /// block; outputs overlap nothing. Launch with [`BLOCK`] threads and one
        /// block per problem.
        #[kernel(launch_bounds(BLOCK_THREADS))]
        pub unsafe fn $name(a: *const f16, b: *const f16, $($c: *mut f32),*) {
            let ($a, $b) = (shared_tile!(Tile256<$layout>), shared_tile!(Tile256<$layout>));
            let (thread, $warp) = thread_and_warp();
            begin($a, $b, a, b, thread);
            $body
        }
    )* };
}

kernels! {
    /// C1 out of plain tiles: 896 conflicts.
    multi_columns_plain(c1): Plain, |a_tile, b_tile, warp| {
        write_columns(c1, warp, by_columns(a_tile, b_tile, warp));
    }
    /// C1 out of tiles laid out by [`Both`]: none.
    multi_columns_swizzled(c1): Both, |a_tile, b_tile, warp| {
        write_columns(c1, warp, by_columns(a_tile, b_tile, warp));
    }
    /// C2 out of plain tiles: 128 conflicts.
    multi_rows_plain(c2): Plain, |a_tile, b_tile, warp| {
        write_row(c2, warp, by_rows(a_tile, b_tile, warp));
    }
    /// C2 out of tiles laid out by [`Both`]: none.
    multi_rows_swizzled(c2): Both, |a_tile, b_tile, warp| {
        write_row(c2, warp, by_rows(a_tile, b_tile, warp));
    }
    /// C1 and C2 out of the same plain tiles: 1024 conflicts.
    multi_both_plain(c1, c2): Plain, |a_tile, b_tile, warp| {
        write_columns(c1, warp, by_columns(a_tile, b_tile, warp));
        write_row(c2, warp, by_rows(a_tile, b_tile, warp));
    }
}

// ---------------------------------------------------------------------------
// Interleaved: a layout for each product
// ---------------------------------------------------------------------------

/// One thread's chunk of a tile.
#[inline(always)]
unsafe fn chunk<L: Layout>(tile: Tile256<L>, thread: u32) -> *mut u128 {
    let (row, column) = chunk_position(thread, COLUMNS);
    tile.chunk(row, column)
}

/// Moves the tiles from layout `L` to layout `M`, in place: every thread holds one
/// chunk of each in its registers while it is nowhere else.
///
/// There are barriers before, between and after.
#[inline(always)]
unsafe fn relay<L: Layout, M: Layout>([a, b, c]: [Tile256<L>; 3], thread: u32) -> [Tile256<M>; 3] {
    thread::sync_threads();
    let held = (*chunk(a, thread), *chunk(b, thread), *chunk(c, thread));
    thread::sync_threads();
    let [a, b, c] = [a.relaid::<M>(), b.relaid::<M>(), c.relaid::<M>()];
    *chunk(a, thread) = held.0;
    *chunk(b, thread) = held.1;
    *chunk(c, thread) = held.2;
    thread::sync_threads();
    [a, b, c]
}

/// Both products; `First` is the layout for columns, `Second` for rows.
#[inline(always)]
unsafe fn interleaved<First: Layout, Second: Layout>(
    [a_tile, b_tile, c_tile]: [Tile256<First>; 3],
    [a, b]: [*const f16; 2],
    [c1, c2]: [*mut f16; 2],
) {
    let problem = (thread::block_idx_x() * ELEMENTS) as usize;
    let (thread, warp) = thread_and_warp();
    begin(a_tile, b_tile, a, b, thread);

    let [left, right] = by_columns(a_tile, b_tile, warp);
    store_c(c_tile, 0, warp * SIDE, left.to_f16());
    store_c(c_tile, 0, warp * SIDE + 8, right.to_f16());

    let [a_tile, b_tile, c_tile] = relay::<First, Second>([a_tile, b_tile, c_tile], thread);
    drain::<BLOCK_THREADS, _, _, _>(c_tile, c1.add(problem), thread);

    // C2's rows take the place of A's: each warp reads and writes its own only.
    let [left, right] = by_rows(a_tile, b_tile, warp);
    warp::sync_warp(warp::FULL_MASK);
    store_row(a_tile, warp, 0, left.to_f16());
    store_row(a_tile, warp, 8, right.to_f16());
    thread::sync_threads();
    drain::<BLOCK_THREADS, _, _, _>(a_tile, c2.add(problem), thread);
}

/// Stores eight columns of a 16×16 result to row `matrix` of the tile.
#[inline(always)]
unsafe fn store_row<L: Layout>(
    tile: Tile256<L>,
    matrix: u32,
    first_column: u32,
    result: FragmentC<f16>,
) {
    let lane = warp::lane_id();
    let at = |register| {
        let at = cuda_std::mma::map::c16(lane, register, 0);
        let (row, column) = in_row(matrix, at.row, first_column + at.column);
        tile.chunk::<u32>(row, column)
    };
    let [upper, lower] = result.registers;
    *at(0) = upper;
    *at(1) = lower;
}

/// Both products through plain tiles, in f16.
///
/// # Safety
///
/// As [`multi_both_plain`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn interleaved_plain(a: *const f16, b: *const f16, c1: *mut f16, c2: *mut f16) {
    let tiles = [
        shared_tile!(Tile256<Plain>),
        shared_tile!(Tile256<Plain>),
        shared_tile!(Tile256<Plain>),
    ];
    interleaved::<Plain, Plain>(tiles, [a, b], [c1, c2]);
}

/// Both products, in f16, the first through tiles laid out by [`ByColumns`], the
/// second through the same tiles re-laid by [`ByRows`].
///
/// # Safety
///
/// As [`multi_both_plain`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn interleaved_swizzled(a: *const f16, b: *const f16, c1: *mut f16, c2: *mut f16) {
    let tiles = [
        shared_tile!(Tile256<ByColumns>),
        shared_tile!(Tile256<ByColumns>),
        shared_tile!(Tile256<ByColumns>),
    ];
    interleaved::<ByColumns, ByRows>(tiles, [a, b], [c1, c2]);
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of every kernel of this file, in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::cost;

    fn conflicts_by_columns<L: Layout>() -> u32 {
        let load = |warp| {
            cost(16, |lane| {
                let (row, column) = quad_address(lane);
                Tile256::<L>::offset(row, warp * SIDE + column) * 2
            })
        };
        (0..N_WARPS).map(|warp| 2 * load(warp).conflicts).sum()
    }

    fn conflicts_by_rows<L: Layout>() -> u32 {
        let load = |warp| {
            cost(16, |lane| {
                let (row, column) = quad_address(lane);
                let (row, column) = in_row(warp, row, column);
                Tile256::<L>::offset(row, column) * 2
            })
        };
        (0..N_WARPS).map(|warp| 2 * load(warp).conflicts).sum()
    }

    #[test]
    fn one_layer_helps_one_way_only() {
        assert_eq!(
            (
                conflicts_by_columns::<Plain>(),
                conflicts_by_rows::<Plain>()
            ),
            (896, 128)
        );
        assert_eq!(conflicts_by_columns::<ByColumns>(), 0);
        assert_eq!(conflicts_by_rows::<ByColumns>(), 128);
        assert_eq!(conflicts_by_columns::<ByRows>(), 896);
        assert_eq!(conflicts_by_rows::<ByRows>(), 0);
    }

    #[test]
    fn the_places_of_chunks_are_both_layers() {
        for (row, chunk) in (0..SIDE).flat_map(|row| (0..ROW_CHUNKS).map(move |c| (row, c))) {
            assert_eq!(
                place(row, chunk) * CHUNK,
                Tile256::<Both>::offset(row, chunk * CHUNK)
            );
        }
    }

    #[test]
    fn two_layers_help_both_ways() {
        assert_eq!(
            (conflicts_by_columns::<Both>(), conflicts_by_rows::<Both>()),
            (0, 0)
        );
    }
}
