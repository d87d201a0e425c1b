//! Every kernel of the catalogue, in Rust, for the GPU and the simulator.
//!
//! One file a topic. For the device, this crate becomes one PTX module with an
//! entry for every `#[kernel]`. For the host, it is an ordinary library: the
//! kernels' launch markers, the launch geometry, and the index functions, which
//! are tested there.
//!
//! Left out: anything that launches, checks or measures a kernel; that is the
//! `host` crate's.
#![no_std]
// What the device's compiler must allow; the host's stable one needs none.
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch))]
// A kernel's `# Safety` section says what its launch must hold, and covers
// every pointer access in it.
#![allow(unsafe_op_in_unsafe_fn)]
// A kernel takes each array and each number as a parameter of its own.
#![allow(clippy::too_many_arguments)]

pub mod atomics;
pub mod bank_conflicts;
pub mod banks;
pub mod coalescing;
pub mod copy;
pub mod local_memory;
pub mod neighbor;
pub mod reduction;
pub mod sgemm;
pub mod swizzle;
pub mod swizzled_tile;
pub mod tensor;
pub mod transpose;
mod unrolled;
