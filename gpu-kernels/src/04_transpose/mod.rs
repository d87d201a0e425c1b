//! Transpose of an M×N matrix of `f32`: `output[column][row] = input[row][column]`.
//!
//! Both matrices are row-major. Nothing is computed, so the memory system is
//! all that counts: a kernel that moves every element once, in whole sectors,
//! runs as fast as a copy. The trouble is that a warp that reads along a row
//! must write along a column. What a column of a tile in shared memory costs is the
//! subject of [`crate::bank_conflicts`].
//!
//! | kernel | idea | what it still pays |
//! |---|---|---|
//! | [`transpose_coalesced_read`] | lanes along the input's row | every store writes 32 sectors |
//! | [`transpose_coalesced_write`] | lanes along the output's row | every load reads 32 sectors |
//! | [`transpose_coalesced_write_ldg`] | the same, through the read-only path | the same |
//! | [`transpose_shared`] | a tile in shared memory, read by columns | a 32-way bank conflict per read |
//! | [`transpose_padded`] | tile rows one element longer | 128 bytes of shared memory |
//! | [`transpose_swizzled`] | column XOR row instead of padding | only 4 bytes per access |
//! | [`transpose_safe`] | the same as a safe function | the same |
//! | [`transpose_vectorized`] | 64×64 tile, 16 bytes per access | |
//!
//! M and N are arbitrary: in tiles at the edges, each thread checks its own element.
//!
//! # Reading order
//!
//! | file | subject |
//! |---|---|
//! | `01_tiles.rs` | 32×32 tiles: without shared memory, then through a tile in three layouts |
//! | `02_squares.rs` | 64×64 tiles in 16-byte vectors, where rows are whole lines |
//! | `03_shifted.rs` | rows that start anywhere, as in a matrix of odd sides |
//! | `04_vectorized.rs` | the kernel that chooses between those two |
//!
//! # Sectors and wavefronts
//!
//! For one warp, away from the edges:
//!
//! ```text
//!                        global load   global store   shared store  shared load
//!                        sectors       sectors        wavefronts    wavefronts
//!   coalesced_read             4            32             –             –
//!   coalesced_write           32             4             –             –
//!   shared                     4             4             1            32
//!   padded, swizzled, safe     4             4             1             1
//!   vectorized (4 vectors)    64            64            16            16
//! ```
//!
//! The last row moves sixteen times as much data as the others: its cost per byte
//! is the same as `swizzled`'s, with a quarter of the instructions. What makes
//! it faster is that each thread has four loads in flight instead of one.
//!
//! # Limits
//!
//! [`transpose_vectorized`] moves the same bytes as a copy, with as many L2 sectors, and
//! runs a few percent slower. The difference is the order of the addresses: either the
//! reads or the writes are pieces of a few hundred bytes, far apart, unlike a
//! copy's. Loads and stores of the tiles alone, without transposing, are as slow.
//! `docs/tuning/transpose_vectorized.md` has the measurements.
//!
//! Read next: [`crate::swizzled_tile`], a tile for which this XOR is not enough, and
//! [`crate::swizzle`], which has the general form.

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
    BLOCK, BLOCK_THREADS, PADDED_PITCH, Swizzled, TILE, grid, grid_by_output, padded, plain,
    swizzled, transpose_coalesced_read, transpose_coalesced_write, transpose_coalesced_write_ldg,
    transpose_padded, transpose_safe, transpose_shared, transpose_swizzled,
};
pub use vectorized::{large_grid, transpose_vectorized};
