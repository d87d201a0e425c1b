//! Product of two matrices of `f32`: C = A·B, A m×k, B k×n, C m×n.
//!
//! All lie row by row. The arithmetic is in `f32`, one fused multiply-add at a time:
//! no tensor cores, no TF32.
//!
//! # The two numbers
//!
//! A product does m·n·k multiply-adds and must move 4·(m·k + k·n + m·n) bytes. At
//! 4096³ that is 68.7·10⁹ multiply-adds and 201 MB. An H200 does 33.5·10¹² multiply-adds a
//! second (132 multiprocessors of 128 lanes at 1.98 GHz) and moves 4.2 TB/s: 2.05 ms
//! of arithmetic, 0.05 ms of memory. So arithmetic is all that counts, *if* a value
//! that was fetched is used often enough. Every step of the ladder is about that.
//!
//! | kernel | step | loads a multiply-add | from |
//! |---|---|---|---|
//! | [`naive`] | a thread an element | 2 | global memory |
//! | [`tiled`] | tiles that a block shares | 2 | shared memory |
//! | [`registers::sgemm_column`] | 8 elements a thread | 9/8 | shared memory |
//! | [`registers::sgemm_square`] | 8×8 elements a thread | 1/4 | shared memory |
//! | [`vectors`] | 16 bytes a load | 1/16 | shared memory |
//! | [`pipelined`] | the next tiles are copied meanwhile | 1/16 | shared memory |
//! | [`fast`] | 8×16 elements a thread, a step ahead | 3/64 | shared memory |
//!
//! # Edges
//!
//! m, n and k are arbitrary. What sticks out of a matrix is loaded as zeros, or, where
//! it cannot reach the result, as whatever is near; it is never stored. Rows whose
//! length is no multiple of 4 elements do not start at multiples of 16 bytes: they are
//! loaded, and stored, 4 bytes at a time.

pub mod copies;
pub mod fast;
pub mod naive;
pub mod pipelined;
pub mod registers;
pub mod tiled;
pub mod vectors;

/// Element `(row, column)` of a matrix whose rows are `n_columns` long.
#[inline(always)]
const fn element(row: u32, column: u32, n_columns: u32) -> usize {
    (row * n_columns + column) as usize
}

/// Element `(row, column)` of a matrix, or 0 where it has none.
#[inline(always)]
unsafe fn load_or_zero(
    matrix: *const f32,
    row: u32,
    column: u32,
    n_rows: u32,
    n_columns: u32,
) -> f32 {
    if row < n_rows && column < n_columns {
        *matrix.add(element(row, column, n_columns))
    } else {
        0.0
    }
}

/// Writes a block of code out for every number listed, which is a constant in it:
/// `unrolled!(I in [0 1 2 3] { … })`.
///
/// An array whose elements are only named by constants can live in registers. The
/// compiler unrolls short loops by itself; of loops in loops around hundreds of
/// instructions it does not, and then the array is in local memory.
macro_rules! unrolled {
    ($i:ident in [$($number:literal)*] $body:block) => { $( {
        const $i: usize = $number;
        $body
    } )* };
}
use unrolled;
