//! Compiles a kernel crate to PTX with rustc's own nvptx backend.
//!
//! Called from a build script, with the names that Rust-CUDA's `cuda_builder`
//! has:
//!
//! ```no_run
//! cuda_builder::CudaBuilder::new("../kernels")
//!     .arch("sm_80")
//!     .build_or_exit();
//! ```
//!
//! The application then has the PTX as `include_str!(env!("KERNELS_PTX"))`
//! ([`CudaBuilder::export_as`]). What a kernel crate looks like is in the README; it needs
//! neither a toolchain file nor feature lines.
//!
//! What happens inside, in order:
//!
//! 1. [`toolchain`] (the crate `device_toolchain`) finds a compiler that can do it (1.97 or newer, with the
//!    sources of `core`), or fetches one;
//! 2. [`CudaBuilder`] runs a second cargo beside the one that is running, with a target
//!    folder of its own, once for each architecture; the compiler is given what a kernel
//!    crate would otherwise state itself (`#![no_std]`, features);
//! 3. the PTX, which is the *assembly* of the crate after fat LTO, is copied
//!    out, and cargo learns which sources it was made from.
//!
//! Three things are changed in what rustc wrote, none of them an instruction: launch
//! bounds become directives ([`launch_bounds`]), tensor maps get the alignment that they
//! need as parameters ([`tensor_maps`]), and the places of memory accesses name the calls
//! that they were inlined at.
//!
//! There is no link step: PTX text is what the driver and the simulator load.
//!
//! What it leaves out: it neither checks the PTX nor knows any kernel.

mod arch;
mod builder;
mod built_core;
mod cargo;
pub mod dep_info;
mod error;
mod inlining;
mod kernel_crate;
pub mod launch_bounds;
mod messages;
mod nested;
mod nolink;
mod output;
mod packages;
mod record;
pub mod tensor_maps;

pub use arch::Arch;
pub use builder::CudaBuilder;
pub use device_toolchain as toolchain;
pub use error::BuildError;
pub use kernel_crate::{KernelCrate, target_dir_of};
pub use output::{BuildOutput, Ptx};

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
