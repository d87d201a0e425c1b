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
//! # What the steps gave
//!
//! On an H200 (1.98 GHz throughout, 620 W), medians of runs in turn with `cublasSgemm`
//! (13.1, TF32 off), which takes 2.68 ms at 4096³: 51 TFLOP/s. Its kernel is of the
//! same kind: 256×128 tiles, 254 registers, one block a multiprocessor. The floor is what the
//! kernel's own instructions take, one a cycle and scheduler; for the column it is what its
//! loads take, one a cycle and multiprocessor.
//!
//! | kernel | floor at 4096³ | measured | of cuBLAS's speed |
//! |---|---|---|---|
//! | [`naive`] | | 28.8 ms | 0.09 |
//! | [`tiled`] | | 20.0 ms | 0.13 |
//! | [`registers::sgemm_column`] | 9.2 ms | 11.0 ms | 0.24 |
//! | [`registers::sgemm_square`] | 2.7 ms | 4.55 ms | 0.59 |
//! | [`vectors`] | 2.5 ms | 3.53 ms | 0.76 |
//! | [`pipelined`] | 2.4 ms | 3.26 ms | 0.82 |
//! | [`fast`] | 2.2 ms | 2.76 ms | 0.97 |
//!
//! The last one keeps that share at 2048³ (0.351 ms, 0.976) and 8192³ (22.0 ms, 0.977). Where
//! rows do not start at multiples of 16 bytes it has 0.74 of it (4095×4097×4093). A trial
//! with the same loop, compiled apart, took 2.72 ms: what ptxas makes of this loop varies
//! by as much from one text around it to the next.
//!
//! Beside nvcc's, [`registers::sgemm_column`] had 0.67 of the speed and [`tiled`] 0.82 in that
//! run. The first took 44 registers a thread where nvcc took 40: two blocks fitted a
//! multiprocessor instead of three. Its launch bounds now ask for three, and it takes 40.
//! The second's inner loop was unrolled four times, nvcc's 32 times; now it is, too, and both
//! compilers' inner loops are the same loads and multiply-adds in SASS. The times in the table
//! are from before these two cures; after them no GPU has measured.
//!
//! # What is left, and what explains it
//!
//! The profiler, on the same loop in CUDA C++ (2.73 ms): an instruction is issued in 86 % of
//! the cycles, cuBLAS's kernel issues in 90 %, but more of them. By its reasons for warps that wait,
//! in warps an issued instruction:
//!
//! - *Operands* (dispatch stall), 0.24, cuBLAS 0.10. What was seen fits this rule: in
//!   one cycle the registers deliver one operand out of the even ones and one out of the
//!   odd ones. A multiply-add has three; so one must still be there from the instruction
//!   before (`.reuse` in SASS), and the other two must be of different parity. The
//!   assembler (ptxas) chooses the registers and the order of the multiply-adds. In the
//!   middle of the loop it finds an assignment with next to no conflict; near the loop's
//!   ends, among copies and addresses, it does not.
//! - *Shared memory and the barrier*, 0.09 and 0.08: there are two warps to a scheduler
//!   only, and they meet at every tile.
//! - *Waves*: 512 tiles on 132 multiprocessors are 3.88 rounds and take 4. That is 3 %;
//!   cuBLAS's tiles are as many.
//!
//! What helped: to ask outside the loop whether B's rows are aligned (2.87 to 2.77 ms: the
//! branch parted the loop); copies right after the barrier instead of in the tile's first
//! step, so that what disturbs the loop is in one place (2.77 to 2.72 ms); loads that the
//! compiler cannot take apart
//! ([`load_float4`](cuda_std::shared::load_float4): it had loaded four of 48 chunks a tile
//! word by word).
//!
//! What did not: A as it lies, read four k at a time (no transposition, but 255 registers
//! and more conflicts: 2.95 ms); two blocks of 128 threads a multiprocessor (2.80 to 2.87 ms);
//! tiles of 256×128 (2.84 ms); other orders of the multiply-adds (2.71 to 3.15 ms without
//! a pattern, since ptxas orders them anew); blocks in groups of rows for the L2 cache, and
//! streaming stores (within 0.4 %: memory is busy a thirtieth of the time). Tiles 16 deep
//! are 0.4 % faster as nvcc compiles them and 2 % slower as rustc does. Tiles 24 deep are up to
//! 3 % faster at 8192³, between −1 and +1 % at 4096³ and 6 % slower at 2048³: warps
//! wait for instructions four times as often, so that the loop of 52 KB seems to be too
//! long for a cache.
//!
//! What would be tried next: dividing the last, partial wave along k among all
//! multiprocessors (stream-K, up to 3 % at 4096³); tiles brought by the copy engine (TMA),
//! which would take copies and addresses out of the loop, and with them the conflicts
//! near its ends.
//!
//! # Edges
//!
//! m, n and k are arbitrary. What sticks out of a matrix is loaded as zeros, or, where
//! it cannot reach the result, as whatever is near; it is never stored. Rows whose
//! length is no multiple of 4 elements do not start at multiples of 16 bytes: they are
//! loaded, and stored, 4 bytes at a time.

mod copies;
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
