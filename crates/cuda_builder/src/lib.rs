//! Compiles a kernel crate to PTX with rustc's own nvptx backend.
//!
//! Called from a build script, with the same names as Rust-CUDA's `cuda_builder`:
//!
//! ```no_run
//! cuda_builder::CudaBuilder::new("../kernels")
//!     .arch("sm_80")
//!     .build_or_exit();
//! ```
//!
//! The application then has the PTX as `include_str!(env!("KERNELS_PTX"))`
//! ([`CudaBuilder::export_as`]). A kernel crate needs neither a toolchain file nor feature lines;
//! the README shows one.
//!
//! What happens inside, in order:
//!
//! 1. [`toolchain`] (the crate `device_toolchain`) finds a suitable compiler (1.97 or newer, with
//!    the sources of `core`), or fetches one;
//! 2. [`CudaBuilder`] runs a second cargo alongside the running one, with its own target folder,
//!    once for each architecture; the compiler is given what a kernel crate would otherwise state
//!    itself (`#![no_std]`, features);
//! 3. the PTX, which is the crate's *assembly* after fat LTO, is copied out, and cargo learns which
//!    sources it was made from.
//!
//! Four things in rustc's output are changed, none of them an instruction: launch bounds become
//! directives, tensor maps get the alignment that they need as parameters, static variables in shared
//! memory are declared ([`requests`]), and the places of memory accesses name the calls at which they
//! were inlined.
//!
//! A kernel that keeps an array in local memory gets a warning with the array's line, unless it says
//! `#[kernel(local_memory)]`.
//!
//! There is no link step: PTX text is what the driver and the simulator load.
//!
//! Left out: checking the PTX, and knowing any kernel.

mod advice;
mod arch;
mod builder;
mod built_core;
mod capabilities;
mod cargo;
mod copies;
mod debug_info;
pub mod dep_info;
mod device_errors;
mod error;
mod graph;
mod helpers;
mod inlining;
mod kernel_crate;
mod local_memory;
mod messages;
mod nested;
mod nolink;
mod output;
mod packages;
mod record;
pub mod requests;
mod rust_cuda;

pub use arch::Arch;
pub use builder::CudaBuilder;
pub use debug_info::DebugInfo;
pub use device_errors::DeviceErrors;
pub use device_toolchain as toolchain;
pub use error::BuildError;
pub use kernel_crate::{KernelCrate, target_dir_of};
pub use output::{BuildOutput, Ptx};
pub use rust_cuda::NvvmArch;

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
