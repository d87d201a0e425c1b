//! Compiles a kernel crate to PTX with rustc's own nvptx backend.
//!
//! Called from a build script, with the names that Rust-CUDA's `cuda_builder`
//! has:
//!
//! ```no_run
//! use std::path::PathBuf;
//!
//! let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
//! let built = cuda_builder::CudaBuilder::new("../gpu-kernels")
//!     .arch("sm_80")
//!     .extra_arch("sm_90a")
//!     .copy_to(out_dir.join("kernels.ptx"))
//!     .build_or_exit();
//! println!("cargo::rustc-env=KERNELS_PTX={}", built.ptx_path.display());
//! ```
//!
//! What happens inside, in order:
//!
//! 1. [`toolchain`] finds a compiler that can do it (1.97 or newer, with the
//!    sources of `core`), or fetches one;
//! 2. [`CudaBuilder`] runs a second cargo beside the one that is running, with a target
//!    folder of its own, once for each architecture;
//! 3. the PTX, which is the *assembly* of the crate after fat LTO, is copied
//!    out, and cargo is told which sources it was made from.
//!
//! Two things are changed in what rustc wrote, neither of them an instruction: launch
//! bounds become directives ([`launch_bounds`]), and the places of memory accesses name
//! the calls that they were inlined at.
//!
//! There is no link step: PTX text is what the driver and the simulator load.
//!
//! What it leaves out: it neither checks the PTX nor knows any kernel.

mod arch;
mod builder;
mod cargo;
pub mod dep_info;
mod error;
mod inlining;
mod kernel_crate;
pub mod launch_bounds;
mod messages;
mod nested;
mod nolink;
mod packages;
mod record;
pub mod toolchain;

pub use arch::Arch;
pub use builder::{BuildOutput, CudaBuilder, Ptx};
pub use error::BuildError;
pub use kernel_crate::{KernelCrate, target_dir_of};
pub use record::{nanoseconds, state};
