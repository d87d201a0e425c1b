//! Product of two matrices of `f32`: C = A·B, A m×k, B k×n, C m×n.
//!
//! All are row-major. The arithmetic is in `f32`, one fused multiply-add at a time:
//! no tensor cores, no TF32.
//!
//! # Arithmetic and memory
//!
//! A product does m·n·k multiply-adds and must move 4·(m·k + k·n + m·n) bytes. At
//! 4096³ that is 68.7·10⁹ multiply-adds and 201 MB. An H200 does 33.5·10¹² multiply-adds
//! per second (132 SMs of 128 lanes) and moves 4.2·10¹² bytes: the arithmetic takes
//! forty times as long as the memory. So only arithmetic counts, *if* a value
//! that was fetched is used often enough. Every step of the ladder is about that.
//!
//! | kernel | step | loads per multiply-add | from |
//! |---|---|---|---|
//! | [`naive`] | one thread per element | 2 | global memory |
//! | [`tiled`] | tiles that a block shares | 5/4 | shared memory |
//! | [`registers::sgemm_column`] | 8 elements per thread | 3/8 | shared memory |
//! | [`registers::sgemm_square`] | 8×8 elements per thread | 1/4 | shared memory |
//! | [`vectors`] | 16 bytes per load | 1/16 | shared memory |
//! | [`pipelined`] | the next tiles are copied in the meantime | 1/16 | shared memory |
//! | [`fast`] | 8×16 elements per thread, fragments one step ahead | 3/64 | shared memory |
//! | [`warp_specialized`] | warp-specialized: some warps copy, some multiply | 3/64 | shared memory |
//! | [`stream_k`] | stream-K: equal shares for all SMs | 3/64 | shared memory |
//!
//! # Limits
//!
//! - [`naive`]: loads from global memory. [`tiled`] and [`registers::sgemm_column`]: loads
//!   from shared memory, of which an SM serves one per cycle.
//! - [`registers::sgemm_square`] to [`pipelined`]: loads and addresses take issue slots from
//!   multiply-adds, and warps wait for the next tile.
//! - [`fast`]: operands. The observations fit this rule: per cycle, the register file
//!   delivers one operand from the even registers and one from the odd ones. The assembler
//!   chooses registers badly where copies and addresses are mixed in with multiply-adds.
//! - [`warp_specialized`]: the tail. Tiles do not divide evenly among the SMs, and nothing is
//!   multiplied until a tile's first copies arrive. [`stream_k`] cures both.
//!
//! `docs/tuning/sgemm.md` has the floor of each step, the measurements and what did not help.
//!
//! # Edges
//!
//! m, n and k are arbitrary. Elements outside a matrix are loaded as zeros or, where
//! they cannot reach the result, as whatever is nearby; they are never stored. Rows whose
//! length is not a multiple of 4 elements do not start at multiples of 16 bytes: they are
//! loaded and stored 4 bytes at a time.

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
#[path = "07_warp_specialized.rs"]
pub mod warp_specialized;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
#[path = "08_stream_k.rs"]
pub mod stream_k;
#[path = "parts/copies.rs"]
mod copies;
#[path = "parts/fragments.rs"]
mod fragments;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
#[path = "parts/partition.rs"]
pub mod partition;

use crate::matrix::{element, load_or_zero};
use cuda_std::unrolled;
