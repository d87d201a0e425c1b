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
//!
//! # What the hardware sees
//!
//!
//! For one warp, away from the edges:
//!
//!                        global load   global store   shared store  shared load
//!                        sectors       sectors        wavefronts    wavefronts
//!   coalesced_read             4            32             –             –
//!   coalesced_write           32             4             –             –
//!   shared                     4             4             1            32
//!   padded, swizzled           4             4             1             1
//!   vectorized (4 chunks)     64            64            16            16
//!
//! The last row moves sixteen times as much data as the others: its cost a byte
//! is the same as `swizzled`'s, with a quarter of the instructions. What makes
//! it faster is that each thread has four loads under way instead of one.
//!
//! Read next: `swizzle`, where the XOR comes from and what else it can do.

#[path = "01_tiles.rs"]
mod tiles;
#[path = "02_squares.rs"]
mod squares;
#[path = "03_shifted.rs"]
mod shifted;
#[path = "04_vectorized.rs"]
mod vectorized;

pub use shifted::{
    CUT, LINE, PIECE, SECTOR, SHIFTED_COLUMNS, SHIFTED_ROWS, shifted_chunk, shifted_place,
    turned_round,
};
pub use squares::{
    CHUNK, LARGE_BLOCK, LARGE_BLOCK_THREADS, LARGE_TILE, LARGE_TILE_SQUARES, chunk_offset_bytes,
    transpose_square,
};
pub use tiles::{
    BLOCK, BLOCK_THREADS, PADDED_PITCH, Padded, Plain, Swizzled, TILE, grid, grid_by_output,
    padded, plain, swizzled, transpose_coalesced_read, transpose_coalesced_write,
    transpose_coalesced_write_ldg, transpose_padded, transpose_shared, transpose_swizzled,
};
pub use vectorized::{large_grid, transpose_vectorized};

/// Element `(row, column)` of a matrix whose rows are `n_columns` long.
#[inline(always)]
const fn element(row: u32, column: u32, n_columns: u32) -> usize {
    (row * n_columns + column) as usize
}
