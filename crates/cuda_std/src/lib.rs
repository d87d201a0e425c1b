//! Device library: what a kernel needs beyond `core`.
//!
//! Names follow Rust-CUDA's `cuda_std` where it has an equivalent, so that a kernel
//! written for it can be ported with few edits. Every function can be named on the
//! host as well, so that kernels type-check there; called on the host, it
//! panics. Device code is compiled by `cuda_builder`, which enables the language
//! features that it needs.
//!
//! Left out: allocation, texture and surface reads.
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        asm_experimental_arch,
        core_intrinsics,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem
    ),
    feature(link_llvm_intrinsics)
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

// The macros name this crate `::cuda_std`, even when this crate uses them.
extern crate self as cuda_std;

// Only the host launches.
#[cfg(not(target_arch = "nvptx64"))]
extern crate alloc;

/// Assembly that leaves the stack and the flags alone.
#[cfg(target_arch = "nvptx64")]
#[collapse_debuginfo(yes)]
macro_rules! ptx {
    ($($assembly:tt)*) => {
        ::core::arch::asm!($($assembly)*, options(nostack, preserves_flags))
    };
}

pub mod atomic;
pub mod block;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
pub mod bulk;
pub mod clock;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
pub mod cluster;
pub mod convert;
pub mod cp_async;
mod device_copy;
pub mod float;
pub mod grid;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
pub mod ldg;
pub mod mbarrier;
pub mod mma;
pub mod panic;
pub mod print;
pub mod shared;
pub mod swizzle;
pub mod tensor_map;
pub mod thread;
pub mod tile;
mod unrolled;
pub mod vector;
pub mod view;
pub mod warp;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
pub mod warpgroup;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
pub mod wgmma;

#[doc(hidden)]
pub use cuda_std_macros::kernels;
pub use cuda_std_macros::{DeviceCopy, KernelArg, gpu_only, kernel, print, println, shared_array};
pub use device_copy::DeviceCopy;
pub use float::GpuFloat;
pub use half;
pub use tensor_map::TensorMap;
pub use unrolled::unrolled;

/// The names that nearly every kernel file uses.
pub mod prelude {
    pub use crate::{GpuFloat, atomic, kernel, shared_array, shared_tile, thread, warp};
}

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
