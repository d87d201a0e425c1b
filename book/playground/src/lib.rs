//! The kernels of the book's live pages: the lessons' kernels, with parameters for what a reader
//! may change.
//!
//! - `tile_…`: a tile goes to shared memory by rows, laid out as `Place` says, and comes back
//!   by rows or by columns, an element per lane ([`tile_4`] and others), or by `ldmatrix`
//!   ([`tile_ldmatrix`]);
//! - `strided_…`: lanes read global memory some elements apart.
//!
//! Elements are integers: they are only moved, each in one access.
//!
//! Left out: speed. A layout as a parameter costs arithmetic that a constant one does not.
#![allow(unsafe_op_in_unsafe_fn)]
// A kernel takes each array and each number as a parameter of its own.
#![allow(clippy::too_many_arguments)]

use cuda_std::mma::ldmatrix::x4_at;
use cuda_std::prelude::*;
use cuda_std::shared::{address_in_space, dynamic_shared_mem};

/// Threads of the block that works on a tile.
pub const BLOCK_THREADS: u32 = 256;
/// Sides of the blocks that [`tile_ldmatrix`] loads at once: four matrices of 8×8.
pub const MATRICES: u32 = 16;

/// Where an element lies: the layouts of the crate `maps`, by number.
///
/// | kind | element `(row, column)` with `plain = row · pitch + column` |
/// |---|---|
/// | 0 | `plain` |
/// | 1 | `plain ^ (plain >> a & b)` |
/// | 2 | chunks of `a` elements, `b` of them a line: chunk XOR line |
/// | 3 | the same by addition |
#[derive(Clone, Copy)]
struct Place {
    columns: u32,
    pitch: u32,
    kind: u32,
    a: u32,
    b: u32,
}

impl Place {
    #[inline(always)]
    fn of(self, row: u32, column: u32) -> usize {
        let plain = row * self.pitch + column;
        let place = match self.kind {
            0 => plain,
            1 => plain ^ (plain >> self.a & self.b),
            kind => {
                let chunk = plain / self.a;
                let (line, in_line) = (chunk / self.b, chunk % self.b);
                let moved = if kind == 2 {
                    in_line ^ line
                } else {
                    in_line + line
                };
                row * self.columns + moved * self.a % self.columns + plain % self.a
            }
        };
        place as usize
    }
}

/// Puts the tile into shared memory by rows.
#[inline(always)]
unsafe fn fill<T: Copy>(tile: *mut T, input: *const T, rows: u32, place: Place) {
    let mut i = thread::thread_idx_x();
    while i < rows * place.columns {
        let (row, column) = (i / place.columns, i % place.columns);
        *tile.add(place.of(row, column)) = *input.add(i as usize);
        i += BLOCK_THREADS;
    }
}

/// Reads it back, by rows or by columns, and writes what it has read in that order.
#[inline(always)]
unsafe fn through_tile<T: Copy>(
    input: *const T,
    output: *mut T,
    rows: u32,
    by_columns: u32,
    place: Place,
) {
    let tile = dynamic_shared_mem::<T>();
    fill(tile, input, rows, place);
    thread::sync_threads();
    let mut i = thread::thread_idx_x();
    while i < rows * place.columns {
        let (row, column) = if by_columns != 0 {
            (i % rows, i / rows)
        } else {
            (i / place.columns, i % place.columns)
        };
        *output.add(i as usize) = *tile.add(place.of(row, column));
        i += BLOCK_THREADS;
    }
}

macro_rules! tiles {
    ($($(#[$doc:meta])* $name:ident of $element:ty;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `input` and `output` hold `rows · columns` elements; no size is 0; the dynamic shared
        /// memory has room for every place. Launch one block of [`BLOCK_THREADS`].
        #[kernel(launch_bounds(BLOCK_THREADS))]
        pub unsafe fn $name(
            input: *const $element,
            output: *mut $element,
            rows: u32,
            columns: u32,
            by_columns: u32,
            pitch: u32,
            kind: u32,
            a: u32,
            b: u32,
        ) {
            let place = Place { columns, pitch, kind, a, b };
            through_tile(input, output, rows, by_columns, place);
        }
    )* };
}

tiles! {
    /// A tile of elements of 2 bytes.
    tile_2 of u16;
    /// A tile of elements of 4 bytes.
    tile_4 of u32;
    /// A tile of elements of 8 bytes.
    tile_8 of u64;
    /// A tile of elements of 16 bytes.
    tile_16 of u128;
}

/// A tile of elements of 2 bytes that comes back by `ldmatrix`, four matrices of 8×8 at once:
/// blocks of 16×16, by rows of blocks. Matrix after matrix is written, each by rows.
///
/// # Safety
///
/// As [`tile_2`]; both sides are multiples of [`MATRICES`], and the layout keeps 16 bytes
/// together.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn tile_ldmatrix(
    input: *const u16,
    output: *mut u32,
    rows: u32,
    columns: u32,
    _by_columns: u32,
    pitch: u32,
    kind: u32,
    a: u32,
    b: u32,
) {
    let place = Place {
        columns,
        pitch,
        kind,
        a,
        b,
    };
    let tile = dynamic_shared_mem::<u16>();
    fill(tile, input, rows, place);
    thread::sync_threads();
    let (warp, lane) = (thread::thread_idx_x() / 32, thread::thread_idx_x() % 32);
    let per_row = columns / MATRICES;
    let mut block = warp;
    while block < rows / MATRICES * per_row {
        let row = block / per_row * MATRICES + lane % MATRICES;
        let column = block % per_row * MATRICES + lane / MATRICES * 8;
        let registers = x4_at(address_in_space(tile.add(place.of(row, column))));
        // A matrix is 32 words, a block four matrices.
        let first = output.add((block * 128 + lane) as usize);
        let mut matrix = 0;
        while matrix < 4 {
            *first.add(matrix * 32) = registers[matrix];
            matrix += 1;
        }
        block += BLOCK_THREADS / 32;
    }
}

/// Lanes read elements `stride` apart, from the element `first` on, and write side by side.
#[inline(always)]
unsafe fn strided<T: Copy>(input: *const T, output: *mut T, n: u32, first: u32, stride: u32) {
    let i = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    if i < n {
        *output.add(i as usize) = *input.add((first + i * stride) as usize);
    }
}

macro_rules! strides {
    ($($(#[$doc:meta])* $name:ident of $element:ty;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `input` holds `first + n · stride` elements, `output` `n`.
        #[kernel]
        pub unsafe fn $name(
            input: *const $element,
            output: *mut $element,
            n: u32,
            first: u32,
            stride: u32,
        ) {
            strided(input, output, n, first, stride);
        }
    )* };
}

strides! {
    /// Elements of 1 byte.
    strided_1 of u8;
    /// Elements of 2 bytes.
    strided_2 of u16;
    /// Elements of 4 bytes.
    strided_4 of u32;
    /// Elements of 8 bytes.
    strided_8 of u64;
    /// Elements of 16 bytes.
    strided_16 of u128;
}
