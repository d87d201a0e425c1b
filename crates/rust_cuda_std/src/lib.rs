//! `cuda_std` under the names of Rust-CUDA's crate: programs written for that one compile with
//! this one after a change of their dependency lines.
//!
//! It is our `cuda_std`, all of which can be named here, and in addition:
//!
//! | name | what it is here |
//! |---|---|
//! | [`#[kernel]`](macro@kernel) | the same PTX entry; on the host the function, not a typed launch |
//! | [`#[address_space(shared)]`](macro@address_space) | `static mut`s in shared memory |
//! | [`thread`]: [`thread_idx`](thread::thread_idx), `block_idx`, `block_dim`, `grid_dim`, `index_2d`, `index_3d` | [`glam::UVec2`] and [`glam::UVec3`] |
//! | [`thread`]: [`sync_threads`](thread::sync_threads) and its relatives | safe functions |
//! | [`atomic`]: `AtomicF32`, `BlockAtomicF64`, `SystemAtomicF32`, … | atomics as types |
//! | [`mem`], [`ptr`], [`misc`] | shared memory's sizes, address spaces, the clock |
//! | [`glam`], [`f16`](struct@f16), [`bf16`], [`GpuFloat`] | at the root |
//! | `assert_eq!`, `assert_ne!` | `core`'s: one that fails is a panic ([`mod@panic`]) |
//! | [`prelude`] | with `f16`, `print!`, `println!` and these two |
//!
//! Left out: whatever needs a heap (`Vec`, `Box`, `format!`), the wrappers of single libdevice
//! functions (`intrinsics`, `FloatExt`), and `vek`, which Rust-CUDA advises against.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]

pub mod atomic;
pub mod mem;
pub mod misc;
pub mod ptr;
mod shared_static;
pub mod thread;

pub use core::{assert_eq, assert_ne};
pub use cuda_std::float::GpuFloat;
pub use cuda_std::half::{bf16, f16};
pub use cuda_std::*;
pub use cuda_std_macros::{address_space, rust_cuda_kernel as kernel};
pub use glam;
#[doc(hidden)]
pub use shared_static::{SharedPlace, SharedStatic, SharedValue};

/// The names that Rust-CUDA's prelude has, without those that need a heap.
pub mod prelude {
    pub use crate::{assert_eq, assert_ne, f16, kernel, print, println, thread};
}
