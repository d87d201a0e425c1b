//! Transpose of an M×N matrix of `f32`: `output[column][row] = input[row][column]`.
//!
//! Both matrices lie row by row. Nothing is computed, so the memory system is
//! all that counts: a kernel that moves every element once, in whole sectors,
//! runs as fast as a copy. The trouble is that a warp that reads along a row
//! must write along a column.
//!
//! | kernel | idea | what it still pays |
//! |---|---|---|
//! | [`transpose_coalesced_read`] | lanes along the input's row | every store writes 32 sectors |
//! | [`transpose_coalesced_write`] | lanes along the output's row | every load reads 32 sectors |
//! | [`transpose_coalesced_write_ldg`] | the same, through the read-only path | the same |
//! | [`transpose_shared`] | a tile in shared memory, read by columns | a 32-way bank conflict a read |
//! | [`transpose_padded`] | a tile row is one element longer | 128 bytes of shared memory |
//! | [`transpose_swizzled`] | column XOR row instead of padding | nothing, but 4 bytes an access |
//! | [`transpose_vectorized`] | 64×64 tile, 16 bytes an access | |
//!
//! M and N are arbitrary: tiles that stick out are cut off thread by thread.
//!
//! # Record of tuning: [`transpose_vectorized`] on an H200
//!
//! Fewest bytes: 8 an element, 537 MB at 8192². Fewest operations: none. The floor
//! is the driver's device-to-device copy, 129 to 130 µs there, and 2.00 ms at
//! 32768². The kernel takes 132.7 µs (0.975 of the copy) and 2.100 ms (0.955).
//!
//! What a copy must do to be as fast as the driver's was measured first, by 300
//! kernels. It is the plainest one: 16 bytes a thread, one access, blocks of 128 or
//! 256 threads, no loop, no hints (1.00). With four accesses a thread it is 0.95,
//! in blocks of 1024 threads 0.96, with blocks that stay and go on in steps 0.93,
//! with such blocks that take the next tile from a counter 0.98, by the bulk copy
//! engine at most 0.95. Blocks start in order, so the addresses under way are a
//! window that moves through memory; the copy wants it to be just large enough to
//! hide the latency, 32 KB a multiprocessor. A tile with a barrier in the middle
//! needs several blocks at a time instead, and 128 KB: a copy of 64×64 tiles that
//! turns nothing, but is built like this, has 0.98 along the rows and 0.91 down
//! them. The transpose is in between.
//!
//! | step | predicted | measured, 8192² |
//! |---|---|---|
//! | blocks of 32×32 that load one chunk a thread, as the copy | 0.99 | 0.92: rows of 128 bytes |
//! | 64×64, one or two chunks a thread | 0.99 | 0.95 to 0.97 |
//! | tiles of 64×128, 128×64, 128×128, 64×256 | +1% | ±0.5% |
//! | several tile columns at a time, in groups of 2 to 32 | +2% at 32768² | −0.5 to −3% |
//! | blocks that stay, `cp.async`, two to six stages | 0.98 | 0.92 to 0.946 |
//! | the same, tiles from a counter | 0.98 | 0.976, and 0.957 at 32768² |
//! | loads evicted first, streaming stores | +1% | ±0.5%; `ld.cs` −5% |
//! | stores evicted last | +1% | +1.5%, at 32768² nothing: more of the output is still in the cache when the clock stops, so not used |
//! | 8191²: 4-byte accesses, lanes side by side (was 225 µs) | 145 µs | 189 µs |
//! | and stores that begin at sectors | 150 µs | 141 µs |
//! | and loads of 16 bytes as the rows lie | 136 µs | 150 µs: a row is 17 chunks |
//!
//! Then the floor of the access pattern was looked for, by 750 kernels more in random
//! order among copies. At 8192² and 32768², as shares of the copy's speed:
//!
//! | step | predicted | measured |
//! |---|---|---|
//! | only the addresses: loads and stores of the tiles, no turn, no barrier | 1.00 | 0.974 and 0.956: as the kernel |
//! | no barrier: squares turned in registers, lanes 8 wide | 0.99 | 0.93 and 0.93: stores of 64 bytes |
//! | no barrier: turned by shuffles, one chunk a lane | 0.99 | 0.88 and 0.87: stores of 32 bytes |
//! | no barrier: a tile of 32×32 for each warp | 0.98 | 0.89 |
//! | orders: diagonal, back and forth, 2 to 16 columns, squares of 2 to 16 tiles, bands of 32 to 256 rows | +2% | 0 to −4%, the more the less of an output row is under way at a time |
//! | clusters of four blocks | +1% | −2% |
//! | copies to the tile that pass the L1 cache (`cp.async`), with 256-byte prefetches | +1% | ±0.3% |
//! | three blocks a multiprocessor | +1% | +0.3% and +0.6%; a setting of this card, not used |
//! | stores that do not allocate, streaming stores | +1% | ±0.3% |
//! | nearly all of L1 for shared memory | 0 | −2%, at 8200² −14%: loads under way need lines in L1 |
//! | pitches that are no powers of two: 8256², 32832² | +2% | 0: no channel is hit more than others |
//! | 32768×2048 and 2048×32768 | | 0.969 and 0.945: far-apart reads cost most |
//!
//! Counters say that memory moves the same bytes as for the copy, 268 MB each way at
//! 8192² and 4.295 GB at 32768², and L2 as many sectors. So the rest is the order in
//! which they come: either the reads or the writes are pieces of a few hundred bytes
//! far apart, and a copy's are not. Whether wider pieces on the reads' side (through
//! 1 KB) or shorter ones on the writes' side are tried, the sum stays or grows.
//!
//! Sides that are no multiples of 32, 8191×8193 and 32767×32769 (the aligned kernel had
//! 0.983 and 0.959 in this run):
//!
//! | step | measured |
//! |---|---|
//! | 4-byte loads, stores that begin at sectors: the kernel until then | 0.935 and 0.874 |
//! | chunks as they lie, 60 columns, which 16 chunks hold anywhere | 0.944 and 0.887 |
//! | the same, 124 columns | 0.945 and 0.882 |
//! | requests that begin at lines, tiles of 40×96 | 0.957 and 0.880: used |
//! | the same, tiles of 72×96 | 0.966 and 0.887; 37 KB of shared memory, which the aligned path would pay for |
//! | the same, without what the last line has beyond the tile | −1% |
//! | stores that begin at lines, too | −1% |
//! | chunks that pass the L1 cache | −1% |
//!
//! At 32767×32769 counters show 2 to 7% more bytes read than at 32768²: the lines at the
//! border of two blocks' columns have left the cache when the second comes. Bands of
//! rows cure that, but cost as much by their order.
//!
//! As it is now, by `bench`: 132.7 µs at 8192², 137.9 to 139.0 µs at odd sizes around it
//! (were 141 to 142), 2.28 ms at 32767×32769 (was 2.30). At 32768² it takes 2.10 ms again
//! and again on the same buffers, and 2.18 ms (0.918) when two sets of buffers take turns,
//! as `bench` has them now, before these changes and after; the copy takes 2.00 ms either
//! way. That is not explained. A guess is the translation of addresses: a row of tiles
//! stores to 2048 pages of 2 MB.
//!
//! To be tried next: a kernel of its own for rows that start anywhere, with larger
//! tiles; at 32768², orders of tiles that stay within fewer pages, with two sets of
//! buffers.

use cuda_std::prelude::*;
use cuda_std::vector::Float4;
use cuda_std::view::{
    Barrier, Disjoint, Filled, Filling, Global, Rows, Swapped, TileLayout, Tiles, Turned,
};

use crate::swizzle::Swizzle;
use crate::unrolled::unrolled;

/// Side of a square tile, in elements, and of a square block, in threads.
pub const TILE: u32 = 32;
/// Threads in a block of every kernel but the last.
pub const BLOCK_THREADS: u32 = TILE * TILE;
/// Length of a padded tile row, in elements.
pub const PADDED_PITCH: u32 = TILE + 1;

const TILE_ELEMENTS: usize = (TILE * TILE) as usize;
const PADDED_ELEMENTS: usize = (TILE * PADDED_PITCH) as usize;

// A warp is one row of the block: the swizzle spreads it over all the banks.
const _: () = assert!(TILE == 32);

/// Element `(row, column)` of a matrix whose rows are `n_columns` long.
#[inline(always)]
const fn element(row: u32, column: u32, n_columns: u32) -> usize {
    (row * n_columns + column) as usize
}

// ---------------------------------------------------------------------------
// Without shared memory
// ---------------------------------------------------------------------------
//
//   thread (x, y) of block (X, Y)      reads                 writes
//   coalesced_read            input [32·Y + y][32·X + x]     output[32·X + x][32·Y + y]
//   coalesced_write           input [32·X + x][32·Y + y]     output[32·Y + y][32·X + x]

/// The output's element `(column, row)` for the thread with the input's `(row, column)`:
/// a block has a tile of the input.
type ByInput = Swapped<Tiles<TILE>>;
/// The same where a block has a tile of the output.
type ByOutput = Tiles<TILE>;

/// Lanes run along the input's row: loads are coalesced, stores are `n_rows`
/// elements apart.
///
/// Launch with [`BLOCK`] threads and [`grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn transpose_coalesced_read(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], ByInput>,
    n_rows: u32,
    n_columns: u32,
) {
    let place = output.place();
    let (column, row) = place.index();
    if let (Some(from), Some(to)) = (input.get((row, column)), output.at(place)) {
        to.set(from);
    }
}

/// Lanes run along the output's row: stores are coalesced, loads are
/// `n_columns` elements apart. Faster than the other way round: a strided
/// load's sectors stay in the L1 cache for the neighbouring warps, while a
/// strided store sends every sector to the L2 cache partly filled.
///
/// Launch with [`BLOCK`] threads and [`grid_by_output`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn transpose_coalesced_write(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], ByOutput>,
    n_rows: u32,
    n_columns: u32,
) {
    let place = output.place();
    let (column, row) = place.index();
    if let (Some(from), Some(to)) = (input.get((row, column)), output.at(place)) {
        to.set(from);
    }
}

/// [`transpose_coalesced_write`] with loads through the read-only path
/// (`ld.global.nc`), for the case that the compiler does not see on its own
/// that nobody writes `input`.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn transpose_coalesced_write_ldg(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], ByOutput>,
    n_rows: u32,
    n_columns: u32,
) {
    let place = output.place();
    let (column, row) = place.index();
    if let (Some(from), Some(to)) = (input.get_read_only((row, column)), output.at(place)) {
        to.set(from);
    }
}

// ---------------------------------------------------------------------------
// Through a 32×32 tile in shared memory
// ---------------------------------------------------------------------------
//
// Both global accesses run along rows now; the turn happens inside the block,
// where a warp stores a row of the tile and loads a column. Shared memory has
// 32 banks of 4 bytes, and element `i` lies in bank `i mod 32`. The bank of
// element (row, column) decides what the column's load costs:
//
//                  plain               padded              swizzled
//     column   0   1   2   3       0   1   2   3        0   1   2   3
//     row 0    0   1   2   3       0   1   2   3        0   1   2   3
//     row 1    0   1   2   3       1   2   3   4        1   0   3   2
//     row 2    0   1   2   3       2   3   4   5        2   3   0   1
//     row 3    0   1   2   3       3   4   5   6        3   2   1   0
//
// A column of the first table is one bank: 32 lanes wait for each other.

/// The tile as it comes: element `(row, column)` of rows 32 long.
#[inline(always)]
pub const fn plain(row: u32, column: u32) -> u32 {
    row * TILE + column
}

/// Rows 33 long: going down a row moves on by one bank.
#[inline(always)]
pub const fn padded(row: u32, column: u32) -> u32 {
    row * PADDED_PITCH + column
}

/// Rows 32 long, each in an order of its own: `column ^ row`. XOR with a
/// constant is one-to-one, so every row still fills its 32 places, and a
/// column, which goes through all rows, meets all 32 banks.
#[inline(always)]
pub const fn swizzled(row: u32, column: u32) -> u32 {
    row * TILE + (column ^ row)
}

cuda_std::tile_layout! {
    /// The tile laid out [`plain`].
    pub Plain = plain(TILE, TILE) in TILE_ELEMENTS;
    /// The tile laid out [`padded`].
    pub Padded = padded(TILE, TILE) in PADDED_ELEMENTS;
    /// The tile laid out [`swizzled`].
    pub Swizzled = swizzled(TILE, TILE) in TILE_ELEMENTS;
}

/// The output's element for a thread that has a column of the block's tile: the thread
/// `(x, y)` writes what `(y, x)` has read.
type ByTileColumn = Swapped<Turned<Tiles<TILE>>>;

/// Puts the thread's element of the input into the tile.
#[inline(always)]
fn fill<L: TileLayout>(tile: &mut Filling<f32, L>, input: Global<f32, Rows>) {
    let row = thread::block_idx_y() * TILE + thread::thread_idx_y();
    let column = thread::block_idx_x() * TILE + thread::thread_idx_x();
    if let Some(value) = input.get((row, column)) {
        tile.put(value);
    }
}

/// Writes the thread's element of the output, which another thread has put.
#[inline(always)]
fn drain<L: TileLayout>(tile: &Filled<f32, L>, output: &mut Disjoint<f32, Rows, ByTileColumn>) {
    if let Some(element) = output.at(output.place()) {
        element.set(tile.get(tile.lane().turned()));
    }
}

/// Through a tile laid out [`plain`]: every load of a column is a 32-way bank
/// conflict.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn transpose_shared(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], ByTileColumn>,
    n_rows: u32,
    n_columns: u32,
    mut tile: Filling<f32, Plain>,
    barrier: Barrier,
) {
    fill(&mut tile, input);
    let tile = tile.sync(barrier);
    drain(&tile, &mut output);
}

/// Through a tile laid out [`padded`]: no conflicts, for 3% more shared memory.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn transpose_padded(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], ByTileColumn>,
    n_rows: u32,
    n_columns: u32,
    mut tile: Filling<f32, Padded>,
    barrier: Barrier,
) {
    fill(&mut tile, input);
    let tile = tile.sync(barrier);
    drain(&tile, &mut output);
}

/// Through a tile laid out [`swizzled`]: no conflicts and no padding.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub fn transpose_swizzled(
    input: Global<[[f32; n_columns]; n_rows]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], ByTileColumn>,
    n_rows: u32,
    n_columns: u32,
    mut tile: Filling<f32, Swizzled>,
    barrier: Barrier,
) {
    fill(&mut tile, input);
    let tile = tile.sync(barrier);
    drain(&tile, &mut output);
}

// ---------------------------------------------------------------------------
// Through a 64×64 tile, 16 bytes an access
// ---------------------------------------------------------------------------
//
// The 32×32 kernels have one 4-byte load under way a thread: too little to keep
// the memory busy. Here a thread has four 16-byte loads under way, and every
// access, global or shared, moves 16 bytes, a *chunk*.
//
// The tile is 16×16 squares of 4×4 elements, and there are 16×16 threads. Thread
// (x, y) loads the four rows of square (y, x) and stores them, chunk by chunk,
// to shared memory; then it loads the four rows of square (x, y), turns the
// square in its registers, and stores four rows of the output. Both times, lanes
// that follow each other have chunks that follow each other in global memory.

/// Side of the large tile, in elements.
pub const LARGE_TILE: u32 = 64;
/// Elements in a chunk of 16 bytes.
pub const CHUNK: u32 = 4;
/// Side of the large tile, in squares of 4×4, and of its block, in threads.
pub const LARGE_TILE_SQUARES: u32 = LARGE_TILE / CHUNK;
/// Threads in a block of [`transpose_vectorized`].
pub const LARGE_BLOCK_THREADS: u32 = LARGE_TILE_SQUARES * LARGE_TILE_SQUARES;

const WARP_LANES: u32 = 32;
const CHUNK_BYTES: u32 = 16;
/// A line is 32 banks of 4 bytes: the half of a tile row.
const LINE_BYTES: u32 = 128;
const LINE_CHUNKS: u32 = LINE_BYTES / CHUNK_BYTES;
/// The lines of one row of every square, for both halves of the tile.
const ROW_SLICE_BYTES: u32 = 2 * LARGE_TILE_SQUARES * LINE_BYTES;
const LARGE_TILE_BYTES: u32 = LARGE_TILE * LARGE_TILE * 4;
#[cfg(test)]
const LARGE_TILE_CHUNKS: usize = (LARGE_TILE_BYTES / CHUNK_BYTES) as usize;

const _: () = assert!(CHUNK * ROW_SLICE_BYTES == LARGE_TILE_BYTES);
// One array serves both layouts.
const _: () = assert!(LARGE_TILE_BYTES <= SHIFTED_ELEMENTS * 4);

/// Offset in bytes of the chunk that is row `row_in_square` of the square
/// `(square_row, square_column)`.
///
/// A 16-byte access of a warp goes to the banks in four rounds of 8 lanes, each
/// of 128 bytes. The 8 lanes of a round have
///
/// - when they store, the same `square_row` and 8 `square_column`s in a row;
/// - when they load, the same `square_column` and 8 `square_row`s in a row.
///
/// So the lines of neighbouring square rows follow each other, and the chunks
/// of line `l` are in the order `chunk ^ (l mod 8)`: bits 4 to 6 of the offset
/// XOR bits 7 to 9. That is the 128-byte pattern that the hardware's own tile
/// copies use.
///
/// ```text
///   bits  13 12            11              10 … 7        6 … 4          3 … 0
///         row_in_square    right half      square_row    chunk in line  byte
///                                             └──── XOR ────┘
/// ```
#[inline(always)]
pub const fn chunk_offset_bytes(square_row: u32, square_column: u32, row_in_square: u32) -> u32 {
    let (half, chunk) = (square_column / LINE_CHUNKS, square_column % LINE_CHUNKS);
    let line = half * LARGE_TILE_SQUARES + square_row;
    Swizzle::<3, 4, 3>::apply(line * LINE_BYTES + chunk * CHUNK_BYTES)
        + row_in_square * ROW_SLICE_BYTES
}

/// Loads the square of a matrix whose first element is `(row, column)`; elements
/// outside the matrix are 0. Rows are a multiple of 4 long, so that each chunk
/// is aligned, and lies wholly inside or outside.
#[inline(always)]
unsafe fn load_square(
    matrix: *const f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
) -> [Float4; 4] {
    let chunk = |i| {
        if row + i < n_rows && column < n_columns {
            Float4::load(matrix.add(element(row + i, column, n_columns)).cast())
        } else {
            Float4::default()
        }
    };
    [chunk(0), chunk(1), chunk(2), chunk(3)]
}

/// Stores a square to a matrix, as [`load_square`] loads one, leaving out what
/// is outside the matrix.
#[inline(always)]
unsafe fn store_square(
    matrix: *mut f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
    [a, b, c, d]: [Float4; 4],
) {
    let store = |i, chunk: Float4| {
        if row + i < n_rows && column < n_columns {
            chunk.store(matrix.add(element(row + i, column, n_columns)).cast());
        }
    };
    store(0, a);
    store(1, b);
    store(2, c);
    store(3, d);
}

/// Loads a chunk of the tile. A plain load would be split where each of its
/// elements goes a way of its own, as here, and lanes that load single elements
/// of chunks meet conflicts.
#[cuda_std::gpu_only]
#[inline(always)]
unsafe fn load_chunk(address: *const Float4) -> Float4 {
    let (x, y, z, w);
    // SAFETY: reads shared memory that the caller vouches for. Not `pure`: it
    // stays behind the barrier.
    unsafe {
        core::arch::asm!(
            "{{",
            ".reg .b64 place;",
            "cvta.to.shared.u64 place, {address};",
            "ld.shared.v4.f32 {{{x}, {y}, {z}, {w}}}, [place];",
            "}}",
            address = in(reg64) address,
            x = out(reg32) x,
            y = out(reg32) y,
            z = out(reg32) z,
            w = out(reg32) w,
            options(readonly, nostack, preserves_flags)
        );
    }
    Float4::new(x, y, z, w)
}

/// The transpose of a square of four rows of four.
#[inline(always)]
pub const fn transpose_square([a, b, c, d]: [Float4; 4]) -> [Float4; 4] {
    [
        Float4::new(a.x, b.x, c.x, d.x),
        Float4::new(a.y, b.y, c.y, d.y),
        Float4::new(a.z, b.z, c.z, d.z),
        Float4::new(a.w, b.w, c.w, d.w),
    ]
}

/// Turns the tile that starts at `(first_row, first_column)`, where rows of both
/// matrices are aligned.
#[inline(always)]
unsafe fn transpose_squares(
    tile: *mut u8,
    input: *const f32,
    output: *mut f32,
    first_row: u32,
    first_column: u32,
    n_rows: u32,
    n_columns: u32,
) {
    let at = |offset_bytes: u32| tile.add(offset_bytes as usize).cast::<Float4>();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());

    // All loads before the first store: four accesses under way at once.
    let (row, column) = (first_row + y * CHUNK, first_column + x * CHUNK);
    let [a, b, c, d] = load_square(input, row, column, n_rows, n_columns);
    a.store(at(chunk_offset_bytes(y, x, 0)));
    b.store(at(chunk_offset_bytes(y, x, 1)));
    c.store(at(chunk_offset_bytes(y, x, 2)));
    d.store(at(chunk_offset_bytes(y, x, 3)));
    thread::sync_threads();

    let square = transpose_square([
        load_chunk(at(chunk_offset_bytes(x, y, 0))),
        load_chunk(at(chunk_offset_bytes(x, y, 1))),
        load_chunk(at(chunk_offset_bytes(x, y, 2))),
        load_chunk(at(chunk_offset_bytes(x, y, 3))),
    ]);
    let (row, column) = (first_column + y * CHUNK, first_row + x * CHUNK);
    store_square(output, row, column, n_columns, n_rows, square);
}

// ---------------------------------------------------------------------------
// Rows that start anywhere
// ---------------------------------------------------------------------------
//
// Where rows are not a multiple of a line long, most of them start inside one.
//
// Stores: a block that stores 32 elements of such a row fills the sectors at both
// ends only in part, and partly filled sectors are what memory is worst at: the
// cache must put the parts together. So each output row is cut not at multiples of
// 32 but at the borders of sectors before them: it moves by a *shift* of 0 to 7
// elements, its own in each row.
//
//     borders            │       │       │       │       │       │
//     output row 5     ──┬───────────────────┬───────────────────┬──
//     output row 6       ──┬───────────────────┬───────────────────┬   length 8k + 2
//     moved: row 5     ┬───────────────────┬───────────────────┬────
//            row 6     ──┬───────────────────┬───────────────────┬──
//
// What a block stores of the rows moved most begins 7 elements before its tile.
// It loads those rows of the input too, the *halo*.
//
// Loads: a warp loads a row of the tile, lane by lane the chunks of four lines, from
// the line on that holds the row's first element. Lanes whose chunks come before
// that element have nothing to load. So a request never has a fifth line, and four
// lines hold 97 elements, wherever the first is: a tile is 96 columns wide. What the
// last line has beyond them is loaded, too: whole lines are the cheapest.
//
// The row's first chunk goes to the first place of the tile's row, as it is. Its
// first element may come up to 3 places later then, by the row's *lead*:
//
//     input row 4        · · a b │ c d e f │ g h i j │      lead 2
//     input row 5        · a b c │ d e f g │ h i j k │      lead 1: rows 4k + 3 long
//
// A chunk of the output is four rows of a column, and those have four leads; rows
// four apart have the same. Lanes whose chunks begin at different ones would meet
// conflicts, went each from its first row to its last. So all lanes load rows 4k
// first, then 4k + 1, 4k + 2, 4k + 3, and each turns its four values round into its
// own order.

/// Elements in a sector.
pub const SECTOR: u32 = 8;
/// Elements in a line.
pub const LINE: u32 = LINE_BYTES / 4;
/// Output rows are cut at multiples of so many elements, where rows start anywhere.
pub const CUT: u32 = SECTOR;
/// Elements of an output row that a block stores there.
pub const PIECE: u32 = 32;
/// Rows of the input that a block loads there.
pub const SHIFTED_ROWS: u32 = PIECE + CUT;
/// Columns of the tile there: so many are in four lines, wherever they start.
pub const SHIFTED_COLUMNS: u32 = SHIFTED_PITCH - LINE;

/// Elements that a warp loads in one request.
const SHIFTED_PITCH: u32 = WARP_LANES * CHUNK;
const SHIFTED_ELEMENTS: u32 = SHIFTED_ROWS * SHIFTED_PITCH;
const LARGE_BLOCK_WARPS: u32 = LARGE_BLOCK_THREADS / WARP_LANES;
/// Chunks that a thread loads: each warp takes every eighth row.
const SHIFTED_LOADS: usize = (SHIFTED_ROWS / LARGE_BLOCK_WARPS) as usize;
/// What a warp stores at once: the pieces of four rows, eight chunks each.
const SHIFTED_GROUPS: u32 = SHIFTED_COLUMNS / 4;
/// Chunks that a thread stores.
const SHIFTED_STORES: usize = (SHIFTED_GROUPS / LARGE_BLOCK_WARPS) as usize;

const _: () = assert!(SHIFTED_ROWS.is_multiple_of(LARGE_BLOCK_WARPS));
const _: () = assert!(SHIFTED_GROUPS.is_multiple_of(LARGE_BLOCK_WARPS));
// A shift is the same in each piece of a row, and a lead in every fourth row.
const _: () = assert!(PIECE.is_multiple_of(CUT) && CUT.is_multiple_of(SECTOR));
const _: () = assert!(CUT.is_multiple_of(CHUNK));
const _: () = assert!(PIECE == 8 * CHUNK && SHIFTED_PITCH == 1 << 7);

/// Place of element `column` of row `row` of the tile; chunks stay whole.
///
/// Lanes store chunks that follow each other in a row. They load four columns, and
/// of each, eight elements four rows apart, from any row on: bits 2 to 4 of the
/// column XOR bits 2 to 4 of the row, so that eight such rows have eight different
/// places for a column, and the two bits below are the four columns.
#[inline(always)]
pub const fn shifted_place(row: u32, column: u32) -> u32 {
    Swizzle::<3, 2, 7>::apply(row * SHIFTED_PITCH + column)
}

/// What lane `lane` stores of group `group`: the row of the chunk's first element,
/// counted from where the block's piece of the output row begins, and the column of
/// the tile.
#[inline(always)]
pub const fn shifted_chunk(group: u32, lane: u32) -> (u32, u32) {
    (lane % 8 * CHUNK, group * 4 + lane / 8)
}

/// `values` turned round, so that number `first mod 4` becomes the first.
#[inline(always)]
pub const fn turned_round([a, b, c, d]: [f32; 4], first: u32) -> [f32; 4] {
    let [a, b, c, d] = if first & 1 == 0 {
        [a, b, c, d]
    } else {
        [b, c, d, a]
    };
    if first & 2 == 0 {
        [a, b, c, d]
    } else {
        [c, d, a, b]
    }
}

/// Elements `first` to `first + 3` of an array, in one access if all of them are
/// there; what is not is 0. `first` may be before the array: then it has wrapped.
#[inline(always)]
unsafe fn load_chunk_inside(array: *const f32, first: u32, n_elements: u32) -> Float4 {
    if first < n_elements && n_elements - first >= CHUNK {
        return Float4::load(array.add(first as usize).cast());
    }
    let at = |i: u32| {
        let index = first.wrapping_add(i);
        if index < n_elements {
            *array.add(index as usize)
        } else {
            0.0
        }
    };
    Float4::new(at(0), at(1), at(2), at(3))
}

/// [`transpose_squares`] where rows start anywhere: the tile has
/// [`SHIFTED_COLUMNS`] columns, and the pieces of the output's rows begin their
/// shifts before `first_row`.
#[inline(always)]
unsafe fn transpose_shifted(
    tile: *mut f32,
    input: *const f32,
    output: *mut f32,
    first_row: u32,
    first_column: u32,
    n_rows: u32,
    n_columns: u32,
) {
    let thread = thread::thread_idx_y() * LARGE_TILE_SQUARES + thread::thread_idx_x();
    let (warp, lane) = (thread / WARP_LANES, thread % WARP_LANES);
    let misaligned = (input.addr() / size_of::<f32>()) as u32 % LINE;
    // How far into its line the tile's part of a row of the matrix begins.
    let place_in_line = |row: u32| (row * n_columns + first_column + misaligned) % LINE;
    // Before the first row of the matrix, rows wrap to large numbers.
    let matrix_row = |tile_row: u32| (first_row + tile_row).wrapping_sub(CUT);

    let tile_row = |k: usize| k as u32 * LARGE_BLOCK_WARPS + warp;
    // The lane's chunk, counted from that with the first element; wraps before it.
    let chunk_of = |k: usize| lane.wrapping_sub(place_in_line(matrix_row(tile_row(k))) / CHUNK);
    // The index of its first element, if it has elements of the row.
    let first_of = |k: usize| {
        let (row, chunk) = (matrix_row(tile_row(k)), chunk_of(k));
        // Of the first chunk of all it may be -1 to -3.
        let column = (first_column + chunk * CHUNK).wrapping_sub(place_in_line(row) % CHUNK);
        let begins_in_row = column.wrapping_add(CHUNK - 1) < n_columns + (CHUNK - 1);
        (row < n_rows && chunk < WARP_LANES && begins_in_row)
            .then(|| (row * n_columns).wrapping_add(column))
    };
    let mut chunks = [Float4::default(); SHIFTED_LOADS];
    // Only in the matrix's first and last row can a chunk stick out of it.
    if first_row == 0 || first_row + PIECE >= n_rows {
        unrolled::<SHIFTED_LOADS>(|k| {
            if let Some(first) = first_of(k) {
                chunks[k] = load_chunk_inside(input, first, n_rows * n_columns);
            }
        });
    } else {
        unrolled::<SHIFTED_LOADS>(|k| {
            if let Some(first) = first_of(k) {
                chunks[k] = Float4::load(input.add(first as usize).cast());
            }
        });
    }
    unrolled::<SHIFTED_LOADS>(|k| {
        let chunk = chunk_of(k);
        if chunk < WARP_LANES {
            let place = shifted_place(tile_row(k), chunk * CHUNK);
            chunks[k].store(tile.add(place as usize).cast());
        }
    });
    thread::sync_threads();

    unrolled::<SHIFTED_STORES>(|i| {
        let (from_start, tile_column) = shifted_chunk(i as u32 * LARGE_BLOCK_WARPS + warp, lane);
        let column = first_column + tile_column;
        if column < n_columns {
            let shift = element(column, first_row, n_rows) as u32 % CUT;
            let tile_row = CUT - shift + from_start;
            // Of the chunk's four rows that which is a multiple of 4, and 0 to 3.
            let at = |i: u32| {
                let row = tile_row + i.wrapping_sub(tile_row) % CHUNK;
                let lead = place_in_line(i) % CHUNK;
                *tile.add(shifted_place(row, tile_column + lead) as usize)
            };
            let [a, b, c, d] = turned_round([at(0), at(1), at(2), at(3)], tile_row);
            let row = matrix_row(tile_row);
            if row < n_rows && n_rows - row >= CHUNK {
                let place = output.add(element(column, row, n_rows));
                Float4::new(a, b, c, d).store(place.cast());
            } else {
                // An end of the row is inside the chunk, or it is all outside.
                let store = |j: u32, value| {
                    let row = row.wrapping_add(j);
                    if row < n_rows {
                        *output.add(element(column, row, n_rows)) = value;
                    }
                };
                store(0, a);
                store(1, b);
                store(2, c);
                store(3, d);
            }
        }
    });
}

/// Whether rows of both matrices start at lines, as [`transpose_squares`] wants it.
#[inline(always)]
const fn rows_are_lines(n_rows: u32, n_columns: u32) -> bool {
    n_columns.is_multiple_of(LINE) && n_rows.is_multiple_of(LINE)
}

/// 16 bytes an access, also where rows start anywhere, and no bank conflicts:
/// where rows are whole lines, through a 64×64 tile laid out by
/// [`chunk_offset_bytes`], elsewhere through one of 40×96 laid out by
/// [`shifted_place`].
///
/// # Safety
///
/// `input` and `output` hold `n_rows * n_columns` elements (fewer than 2³² − 128) and
/// do not overlap; `output` is aligned to 32 bytes, and `input` to 16 if both sides are
/// multiples of [`LINE`]. Launch with [`LARGE_BLOCK`] threads and [`large_grid`] blocks.
#[kernel(launch_bounds(LARGE_BLOCK_THREADS))]
pub unsafe fn transpose_vectorized(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let tile = shared_array![f32; SHIFTED_ELEMENTS as usize, align = LINE_BYTES as usize];
    // Blocks that follow each other go down the input's rows: their stores are
    // neighbours, and stores gain more by that than loads do.
    let (tile_row, tile_column) = (thread::block_idx_x(), thread::block_idx_y());
    if rows_are_lines(n_rows, n_columns) {
        transpose_squares(
            tile.cast(),
            input,
            output,
            tile_row * LARGE_TILE,
            tile_column * LARGE_TILE,
            n_rows,
            n_columns,
        );
    } else {
        transpose_shifted(
            tile,
            input,
            output,
            tile_row * PIECE,
            tile_column * SHIFTED_COLUMNS,
            n_rows,
            n_columns,
        );
    }
}

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of every kernel but [`transpose_vectorized`], in threads.
pub const BLOCK: [u32; 3] = [TILE, TILE, 1];

/// Block of [`transpose_vectorized`], in threads.
pub const LARGE_BLOCK: [u32; 3] = [LARGE_TILE_SQUARES, LARGE_TILE_SQUARES, 1];

/// Grid of the kernels whose blocks run along the input's rows: x over columns,
/// y over rows.
pub const fn grid(n_rows: u32, n_columns: u32) -> [u32; 3] {
    [n_columns.div_ceil(TILE), n_rows.div_ceil(TILE), 1]
}

/// Grid of the kernels whose blocks run along the output's rows: x over rows,
/// y over columns.
pub const fn grid_by_output(n_rows: u32, n_columns: u32) -> [u32; 3] {
    [n_rows.div_ceil(TILE), n_columns.div_ceil(TILE), 1]
}

/// Grid of [`transpose_vectorized`]: x over rows, y over columns. A row that is
/// moved back needs more of its end.
pub const fn large_grid(n_rows: u32, n_columns: u32) -> [u32; 3] {
    let [tile_rows, tile_columns] = if rows_are_lines(n_rows, n_columns) {
        [n_rows.div_ceil(LARGE_TILE), n_columns.div_ceil(LARGE_TILE)]
    } else {
        [
            (n_rows + (CUT - 1)).div_ceil(PIECE),
            n_columns.div_ceil(SHIFTED_COLUMNS),
        ]
    };
    [tile_rows, tile_columns, 1]
}

// ---------------------------------------------------------------------------
// What the hardware sees
// ---------------------------------------------------------------------------
//
// For one warp, away from the edges:
//
//                        global load   global store   shared store  shared load
//                        sectors       sectors        wavefronts    wavefronts
//   coalesced_read             4            32             –             –
//   coalesced_write           32             4             –             –
//   shared                     4             4             1            32
//   padded, swizzled           4             4             1             1
//   vectorized (4 chunks)     64            64            16            16
//
// The last row moves sixteen times as much data as the others: its cost a byte
// is the same as `swizzled`'s, with a quarter of the instructions. What makes
// it faster is that each thread has four loads under way instead of one.
//
// Read next: `swizzle`, where the XOR comes from and what else it can do.

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::{Cost, cost};

    extern crate std;
    use std::collections::BTreeSet;

    /// What a warp pays that accesses row `line` of the tile, or its column.
    fn row_and_column(layout: fn(u32, u32) -> u32, line: u32) -> (Cost, Cost) {
        (
            cost(4, |lane| 4 * layout(line, lane)),
            cost(4, |lane| 4 * layout(lane, line)),
        )
    }

    const FREE: Cost = Cost {
        wavefronts: 1,
        conflicts: 0,
        ways: 1,
    };

    #[test]
    fn columns_of_the_plain_tile_are_32_way_conflicts() {
        for line in 0..TILE {
            let (row, column) = row_and_column(plain, line);
            assert_eq!(row, FREE);
            assert_eq!(
                column,
                Cost {
                    wavefronts: 32,
                    conflicts: 31,
                    ways: 32
                }
            );
        }
    }

    #[test]
    fn padded_and_swizzled_tiles_have_no_conflicts() {
        for line in 0..TILE {
            assert_eq!(row_and_column(padded, line), (FREE, FREE));
            assert_eq!(row_and_column(swizzled, line), (FREE, FREE));
        }
    }

    #[test]
    fn layouts_give_every_element_a_place_of_its_own() {
        for (layout, n_elements) in [
            (plain as fn(u32, u32) -> u32, TILE_ELEMENTS),
            (padded, PADDED_ELEMENTS),
            (swizzled, TILE_ELEMENTS),
        ] {
            let places: BTreeSet<_> = (0..TILE)
                .flat_map(|row| (0..TILE).map(move |column| layout(row, column)))
                .collect();
            assert_eq!(places.len() as u32, TILE * TILE);
            assert!(
                places
                    .into_iter()
                    .all(|place| (place as usize) < n_elements)
            );
        }
    }

    #[test]
    fn chunks_have_places_of_their_own() {
        let mut places = BTreeSet::new();
        for square_row in 0..LARGE_TILE_SQUARES {
            for square_column in 0..LARGE_TILE_SQUARES {
                for row_in_square in 0..CHUNK {
                    places.insert(chunk_offset_bytes(square_row, square_column, row_in_square));
                }
            }
        }
        assert_eq!(places.len(), LARGE_TILE_CHUNKS);
        assert!(places.iter().all(|place| place.is_multiple_of(CHUNK_BYTES)));
        assert!(places.last() < Some(&LARGE_TILE_BYTES));
    }

    #[test]
    fn the_large_tile_has_no_conflicts() {
        // Lane l of warp w is thread (l mod 16, 2·w + l / 16).
        for warp in 0..LARGE_BLOCK_THREADS / 32 {
            let thread = |lane| (lane % 16, 2 * warp + lane / 16);
            for row_in_square in 0..CHUNK {
                let stores = cost(16, |lane| {
                    let (x, y) = thread(lane);
                    chunk_offset_bytes(y, x, row_in_square)
                });
                let loads = cost(16, |lane| {
                    let (x, y) = thread(lane);
                    chunk_offset_bytes(x, y, row_in_square)
                });
                assert_eq!((stores.conflicts, loads.conflicts), (0, 0), "warp {warp}");
            }
        }
    }

    #[test]
    fn without_the_swizzle_the_large_tile_has_conflicts() {
        let offset = |square_row, square_column| {
            (square_column / 8 * 16 + square_row) * 128 + square_column % 8 * 16
        };
        assert_eq!(cost(16, |lane| offset(lane % 16, lane / 16)).ways, 8);
    }

    #[test]
    fn the_shifted_tile_has_no_conflicts_from_any_row_on() {
        let stores = cost(16, |lane| 4 * shifted_place(5, 4 * lane));
        assert_eq!(stores.conflicts, 0);
        for group in 0..SHIFTED_GROUPS {
            // Each of the four columns has a shift of its own.
            for shifts in [[0, 0, 0, 0], [0, 1, 2, 3], [7, 0, 5, 1], [3, 6, 1, 4]] {
                for (i, lead) in (0..CHUNK).flat_map(|i| (0..CHUNK).map(move |lead| (i, lead))) {
                    let loads = cost(4, |lane| {
                        let (row, column) = shifted_chunk(group, lane);
                        let row = CUT - shifts[column as usize % 4] + row;
                        let row = row + i.wrapping_sub(row) % CHUNK;
                        4 * shifted_place(row, column + lead)
                    });
                    assert_eq!(loads, FREE, "group {group}, shifts {shifts:?}, lead {lead}");
                }
            }
        }
    }

    #[test]
    fn every_chunk_of_the_shifted_tile_is_stored_once() {
        let chunks: BTreeSet<_> = (0..SHIFTED_GROUPS)
            .flat_map(|group| (0..WARP_LANES).map(move |lane| shifted_chunk(group, lane)))
            .collect();
        assert_eq!(chunks.len() as u32, SHIFTED_COLUMNS * PIECE / CHUNK);
        assert!(chunks.iter().all(|&(row, column)| {
            row.is_multiple_of(CHUNK) && row < PIECE && column < SHIFTED_COLUMNS
        }));
    }

    #[test]
    fn values_are_turned_round() {
        let turned = |first| turned_round([0.0, 1.0, 2.0, 3.0], first);
        assert_eq!(turned(0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(turned(1), [1.0, 2.0, 3.0, 0.0]);
        assert_eq!(turned(6), [2.0, 3.0, 0.0, 1.0]);
        assert_eq!(turned(3), [3.0, 0.0, 1.0, 2.0]);
    }

    #[test]
    fn squares_are_transposed() {
        let row = |i: u32| {
            let at = |j| (10 * i + j) as f32;
            Float4::new(at(0), at(1), at(2), at(3))
        };
        let column = |j: u32| {
            let at = |i: u32| (10 * i + j) as f32;
            Float4::new(at(0), at(1), at(2), at(3))
        };
        assert_eq!(
            transpose_square([0, 1, 2, 3].map(row)),
            [0, 1, 2, 3].map(column)
        );
    }

    #[test]
    fn grids_cover_the_matrix() {
        assert_eq!(grid(1, 1), [1, 1, 1]);
        assert_eq!(grid(33, 64), [2, 2, 1]);
        assert_eq!(grid(32, 65), [3, 1, 1]);
        assert_eq!(grid_by_output(32, 65), [1, 3, 1]);
        assert_eq!(large_grid(64, 96), [1, 2, 1]);
        assert_eq!(large_grid(25, 96), [1, 1, 1]);
        assert_eq!(large_grid(26, 97), [2, 2, 1]);
    }
}
