//! GEMM by tensor cores: C = alpha·A·B + beta·C, factors of 16 bits, sums of 32.
//!
//! A has m rows of k, B has n rows of k: both lie along k (`matrices.rs`). Any m, n and k
//! will do; rows begin at multiples of 16 bytes, that is, pitches are multiples of 8.
//!
//! # The two numbers
//!
//! A product does m·n·k multiply-adds, and should move 2·(m·k + n·k + m·n) bytes. An H200's
//! tensor cores do 4.9·10¹⁴ multiply-adds per second, its memory moves 4.8·10¹² bytes: at
//! 8192³, 1.1 ms of arithmetic and 0.08 ms of memory. Between them are the second-level
//! cache, shared memory, the registers, and instructions to be issued; each step of the
//! ladder relieves one of them.
//!
//! | step | what is new | what limits it |
//! |---|---|---|
//! | [`naive`] | `mma.sync`: a warp a tile of 16×8 | six loads for one `mma`, of half sectors |
//! | [`tiled`] | tiles that a block shares, by `cp.async` | eight-way bank conflicts of fragment loads |
//! | [`swizzled`] | XOR swizzle, `ldmatrix` | waits: tiles, then fragments, then products |
//! | [`pipelined`] | tiles three stages ahead, fragments one step, 64×64 a warp | `mma.sync` itself |
//!
//! # The files
//!
//! `matrices.rs`: sizes, scale, what is written. Then the steps in order, each a file;
//! [`pipelined`] is made of `ring.rs` (tiles on their way), `fragments.rs` (what a warp
//! multiplies), `order.rs` (which block has which tile) and `write_back.rs` (C).
//!
//! # Edges
//!
//! What sticks out of a factor along k is zeros, by the copies' own means. What sticks out
//! below the last row, or right of the last column, is zeros or whatever is there; it does not
//! reach what is stored.

mod fragments;
pub mod matrices;
pub mod naive;
mod order;
pub mod pipelined;
mod ring;
pub mod swizzled;
pub mod tiled;
mod write_back;

use crate::unrolled::unrolled;
