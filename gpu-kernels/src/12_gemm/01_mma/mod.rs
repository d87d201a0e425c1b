//! Tensor cores by `mma.sync`: a warp multiplies 16×16 by 16×8, out of its registers.
//!
//! | step | kernel | what is new | what limits it |
//! |---|---|---|---|
//! | 1 | [`naive`] | `mma.sync`: one warp per tile of 16×8 | six loads for one `mma`, of half sectors |
//! | 2 | [`tiled`] | tiles that a block shares, by `cp.async` | eight-way bank conflicts of fragment loads |
//! | 3 | [`swizzled`] | XOR swizzle, `ldmatrix` | waits: tiles, then fragments, then products |
//! | 4 | [`pipelined`] | tiles three stages ahead, fragments one step, 64×64 per warp | its copies and their addresses, among the products |
//!
//! On Hopper the copy engine can take these copies over: `gemm_by_mma` is this last step, fed by it
//! (`02_hopper/variants/by_mma.rs`). Further `mma.sync` does not go there.
//!
//! All know alpha and beta, and take f16, both factors along k ([`matrices`]). [`pipelined`] is
//! made of the files in `parts`: `pipeline.rs` (tiles being copied), `fragments.rs` (what a warp
//! multiplies), `tile_scheduler.rs` (which block has which tile) and `write_back.rs` (C).
//!
//! # Edges
//!
//! What sticks out of a factor along k is zeros, by the copies' own means. What sticks out
//! below the last row, or right of the last column, is zeros or whatever is there; it does not
//! reach what is stored.

#[path = "01_naive.rs"]
pub mod naive;
#[path = "02_tiled.rs"]
pub mod tiled;
#[path = "03_swizzled.rs"]
pub mod swizzled;
#[path = "04_pipelined.rs"]
pub mod pipelined;
#[path = "parts/matrices.rs"]
pub mod matrices;
#[path = "parts/tile_scheduler.rs"]
mod tile_scheduler;
#[path = "parts/pipeline.rs"]
pub(in crate::gemm) mod pipeline;
#[path = "parts/fragments.rs"]
pub(in crate::gemm) mod fragments;
#[path = "parts/write_back.rs"]
pub(in crate::gemm) mod write_back;

use crate::unrolled::unrolled;
