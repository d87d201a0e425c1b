//! Tensor cores by `mma.sync`: a warp multiplies 16×16 by 16×8, out of its registers.
//!
//! | step | kernel | idea | limit |
//! |---|---|---|---|
//! | 1 | [`naive`] | `mma.sync`: one warp per tile of 16×8 | six loads for one `mma`, of half sectors |
//! | 2 | [`tiled`] | tiles that a block shares, by `cp.async` | eight-way bank conflicts of fragment loads |
//! | 3 | [`swizzled`] | XOR swizzle, `ldmatrix` | waits: tiles, then fragments, then products |
//! | 4 | [`pipelined`] | tiles three stages ahead, fragments one step, 64×64 per warp | its copies and their addresses, among the products |
//!
//! On Hopper TMA can take these copies over: `gemm_by_mma` is the last step, fed by it
//! (`02_hopper/variants/by_mma.rs`). That is as far as `mma.sync` goes.
//!
//! All kernels support alpha and beta, and take f16, both factors along k ([`matrices`]).
//! [`pipelined`] is made of the files in `parts`: `pipeline.rs` (copies of tiles), `fragments.rs`
//! (a warp's product), `tile_scheduler.rs` (which block has which tile) and `write_back.rs` (C).
//!
//! # Edges
//!
//! Along k, elements outside a factor are zeros: the copies fill them in. Elements
//! below the last row, or right of the last column, are zeros or whatever is there; they do not
//! affect what is stored.

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

use cuda_std::unrolled;
