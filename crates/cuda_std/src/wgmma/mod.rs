//! Products of whole tiles by a warpgroup, straight from shared memory (`wgmma`). Specific to
//! Hopper (sm_90a).
//!
//! [`mma`](crate::mma) multiplies operands in a warp's registers. Here 128 threads, four
//! consecutive warps, multiply 64 rows of A by N columns of B, which both stay in shared memory,
//! and the sums are spread over their registers. It is asynchronous: the threads go on at once.
//!
//! [`Sums`] holds these sums; the number of registers per thread determines the columns:
//!
//! | `Sums<T, REGISTERS>` | 4 | 8 | 16 | 32 | 48 | 64 | 96 | 128 |
//! |---|---|---|---|---|---|---|---|---|
//! | columns (N) | 8 | 16 | 32 | 64 | 96 | 128 | 192 | 256 |
//!
//! | factors `T` | sums | k of an [`Operand`] |
//! |---|---|---|
//! | `f16`, `bf16` | `f32` | 64 |
//! | [`Tf32`] | `f32` | 32 |
//! | [`E4m3`], [`E5m2`] | `f32` | 128 |
//! | `i8`, `u8` | `i32` | 128 |
//!
//! While products are in flight the sums must not be accessed, and the types ensure that:
//! [`Sums::finish`] waits and lends them out, and as long as they are lent nothing can be added.
//!
//! ```
//! # use cuda_std::wgmma::{AlongK, Operand, Sums};
//! # use half::f16;
//! # unsafe fn example(a: Operand<f16, AlongK>, b: Operand<f16, AlongK>) { unsafe {
//! let mut sums = Sums::<f16, 128>::new();
//! sums.add_product(a, b, false);
//! sums.add_product(a.further(16_384), b.further(16_384), true);
//! let in_registers: &mut [f32; 128] = sums.finish();
//! # } }
//! ```
//!
//! An array stays in registers only as long as its elements are named by constants.
//!
//! Left out: A from registers, sums in `f16`, sparse A, swizzles of other widths.
//!
//! Source: PTX ISA, `wgmma.mma_async`; measured and compared on an H200.

mod operand;
mod registers;
mod sums;
mod tall;

pub use operand::{
    AcrossK, AlongK, E4m3, E5m2, Factor, Operand, ROW_BYTES, Rows, TILE_ALIGN_BYTES, Tf32,
};
pub use sums::{Multiply, Sums, position, wait_for_all_but};
pub use tall::{MultiplyTall, TallSums};

/// Threads that multiply together.
pub const WARPGROUP: u32 = 128;
/// Rows of A, and of the sums.
pub const M: u32 = 64;
