//! What a build makes.

use crate::arch::Arch;
use crate::toolchain::Toolchain;
use std::path::PathBuf;

/// What a build made.
#[derive(Debug, Clone)]
pub struct BuildOutput {
    /// The PTX of the architecture named by [`CudaBuilder::arch`](crate::CudaBuilder::arch).
    pub ptx_path: PathBuf,
    /// Every PTX file: that one first, then those of [`CudaBuilder::extra_arch`](crate::CudaBuilder::extra_arch).
    pub ptx: Vec<Ptx>,
    /// The compiler that made them.
    pub toolchain: Toolchain,
}

/// One PTX file.
#[derive(Debug, Clone)]
pub struct Ptx {
    /// What it was compiled for.
    pub arch: Arch,
    /// Where it is.
    pub path: PathBuf,
}
