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
//! | [`tiled`] | tiles that a block shares | 5/4 | shared memory |
//! | [`registers::sgemm_column`] | 8 elements a thread | 3/8 | shared memory |
//! | [`registers::sgemm_square`] | 8×8 elements a thread | 1/4 | shared memory |
//! | [`vectors`] | 16 bytes a load | 1/16 | shared memory |
//! | [`pipelined`] | the next tiles are copied meanwhile | 1/16 | shared memory |
//! | [`fast`] | 8×16 elements a thread, a step ahead | 3/64 | shared memory |
//! | [`specialized`] | some warps copy, some multiply | 3/64 | shared memory |
//! | [`balanced`] | equal shares for all multiprocessors | 3/64 | shared memory |
//!
//! # What the steps gave
//!
//! On an H200 (1.98 GHz throughout, 630 W), medians of runs in turn with `cublasSgemm`
//! (13.1, TF32 off), which takes 2.69 ms at 4096³: 51 TFLOP/s. Its kernel is of the
//! same kind: 256×128 tiles, 254 registers, one block a multiprocessor. The floor is what the
//! kernel's own instructions take, one a cycle and scheduler, or its loads from shared
//! memory, one a cycle and multiprocessor, if that is more.
//!
//! | kernel | floor at 4096³ | measured | of cuBLAS's speed |
//! |---|---|---|---|
//! | [`naive`] | | 28.9 ms | 0.09 |
//! | [`tiled`] | 10.3 ms | 16.0 ms | 0.17 |
//! | [`registers::sgemm_column`] | 3.1 ms | 7.46 ms | 0.36 |
//! | [`registers::sgemm_square`] | 2.7 ms | 4.56 ms | 0.59 |
//! | [`vectors`] | 2.5 ms | 3.53 ms | 0.76 |
//! | [`pipelined`] | 2.4 ms | 3.26 ms | 0.83 |
//! | [`fast`] | 2.2 ms | 2.76 ms | 0.98 |
//! | [`specialized`] | 2.2 ms | 2.56 ms | 1.050 |
//! | [`balanced`] | 2.2 ms | 2.52 ms | 1.068 |
//!
//! The last one has 1.055 of cuBLAS's speed at 2048³ (0.327 ms) and 1.074 at 8192³ (20.0 ms).
//! Where rows do not start at multiples of 16 bytes it has 0.92 (4095×4097×4093; `fast` 0.74):
//! it copies element by element then, lanes side by side, where `fast` has four-way bank
//! conflicts besides.
//!
//! Two steps were slow beside nvcc's, [`registers::sgemm_column`] with 0.65 of the speed and
//! [`tiled`] with 0.83. nvcc had seen that four values of A lie together, and loaded them by one
//! instruction; LLVM is not told that the shared arrays are aligned, and had not. (To unroll
//! as far as nvcc does, and to fit as many blocks, had changed nothing.) Now the loads are
//! written out: 0.94 and 1.02. What was left of the column were registers: 40 are to do for
//! three blocks a multiprocessor, and ptxas made room by reading the thread's number anew
//! three times a tile. One array for both tiles and fewer bounds took two of these out of the
//! loop: 0.98.
//!
//! # What explains the last steps
//!
//! The profiler's reasons for warps that wait, in warps an issued instruction (`balanced` in
//! a variant that took 2.57 ms):
//!
//! | | [`fast`] | cuBLAS | [`balanced`] |
//! |---|---|---|---|
//! | cycles in which an instruction is issued | 83 % | 89 % | 88 % |
//! | instructions, a scheduler | 4.44 M | 4.60 M | 4.41 M |
//! | operands (dispatch stall) | 0.27 | 0.10 | 0.17 |
//! | barrier | 0.07 | 0.11 | none |
//! | shared memory (short scoreboard) | 0.05 | 0.21 | 0.08 |
//!
//! - *Operands.* What was seen fits this rule: in one cycle the registers deliver one
//!   operand out of the even ones and one out of the odd ones. A multiply-add has three; so
//!   one must still be there from the instruction before (`.reuse` in SASS), and the other
//!   two must be of different parity. The assembler (ptxas) chooses the registers and the
//!   order of the multiply-adds. Among copies and addresses it does so badly; where there is
//!   nothing but loads and multiply-adds, well. Counted by that rule a loop of `fast` takes
//!   1223 cycles for 1024 multiply-adds, one of `specialized` 1097.
//! - *Predicted and measured.* From 2.76 ms to 2.50 by the rule; measured 2.56. Copies that
//!   go on while results are stored were to give 0.04 ms, equal shares 0.07: together they
//!   gave 0.04.
//! - *Registers decide.* 9 warps of 224 registers do not exist: a scheduler has 16,384 and
//!   three warps of the nine. So registers must change hands
//!   ([`warpgroup`](cuda_std::warpgroup)). With 216 for those that multiply and 72 for those
//!   that copy nothing is spilled. With 224 and 56 a few values of the copiers are, and then
//!   ptxas assigns all registers of the kernel worse: `balanced` took 2.75 ms, as long as
//!   `fast`.
//! - *What else ptxas makes of it.* To ask early whether the next stage is full, so that
//!   nobody waits for the answer: 2.56 ms in place of 2.52. All lanes arriving in place of one
//!   a warp: 2.54 to 2.59 ms. By the rule these loops take 1097 to 1132 cycles, and their
//!   times follow it only roughly.
//!
//! What helped before that: to ask outside the loop whether B's rows are aligned (2.87 to
//! 2.77 ms: the branch parted the loop); copies right after the barrier instead of in the
//! tile's first step, so that what disturbs the loop is in one place (2.77 to 2.72 ms); loads
//! that the compiler cannot take apart ([`load_float4`](cuda_std::shared::load_float4): it had
//! loaded four of 48 chunks a tile word by word).
//!
//! What did not: A as it lies, read four k at a time (no transposition, but 255 registers
//! and more conflicts: 2.95 ms); two blocks of 128 threads a multiprocessor (2.80 to 2.87 ms);
//! tiles of 256×128 (2.84 ms); other orders of the multiply-adds (2.71 to 3.15 ms without
//! a pattern, since ptxas orders them anew); blocks in groups of rows for the L2 cache, and
//! streaming stores (within 0.4 %: memory is busy a thirtieth of the time). In `fast`, tiles
//! 16 deep are 0.4 % faster as nvcc compiles them and 2 % slower as rustc does; 24 deep, up to
//! 3 % faster at 8192³ and 6 % slower at 2048³. With roles, tiles 8 deep or 16 and three to
//! eight stages are all within 2 %; B by bulk copies (`cp.async.bulk`) took 10 % *longer*, with
//! the same loop.
//!
//! What would be tried next: where rows of B are not aligned, copies of 16 bytes all the same,
//! and a tile that starts where they do; both tiles by tensor copies (TMA), which need A
//! transposed in memory or another way to read it.
//!
//! # Edges
//!
//! m, n and k are arbitrary. What sticks out of a matrix is loaded as zeros, or, where
//! it cannot reach the result, as whatever is near; it is never stored. Rows whose
//! length is no multiple of 4 elements do not start at multiples of 16 bytes: they are
//! loaded, and stored, 4 bytes at a time.

#[path = "01_naive.rs"]
pub mod naive;
#[path = "02_tiled.rs"]
pub mod tiled;
#[path = "03_registers.rs"]
pub mod registers;
#[path = "04_vectors.rs"]
pub mod vectors;
#[path = "05_pipelined.rs"]
pub mod pipelined;
#[path = "06_fast.rs"]
pub mod fast;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
#[path = "07_specialized.rs"]
pub mod specialized;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
#[path = "08_balanced.rs"]
pub mod balanced;
#[path = "parts/copies.rs"]
mod copies;
#[path = "parts/fragments.rs"]
mod fragments;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
#[path = "parts/shares.rs"]
pub mod shares;

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

use crate::unrolled::unrolled;
