//! A build's output, and how the application finds it: a build script sets environment variables
//! for the compiler, so that the application writes `include_str!(env!("KERNELS_PTX"))`.

use crate::arch::Arch;
use crate::packages::Packages;
use crate::toolchain::Toolchain;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;

/// The result of a build.
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
    /// The architecture it was compiled for.
    pub arch: Arch,
    /// Its path.
    pub path: PathBuf,
}

/// The variable with the PTX's path, unless the builder is given another name.
pub(crate) const VARIABLE: &str = "KERNELS_PTX";

/// Sets `name` to the path of the first PTX, `name` with the architecture (`KERNELS_PTX_SM_90A`) to
/// those of the others, and `name` with `_SOURCES` to the folder that the paths in its line tables
/// are relative to.
///
/// The first crate that a build script compiles gets the name; for a second one of the same name
/// there is a warning, and its PTX is not exported.
pub(crate) fn export(name: &str, packages: &Packages, ptx: &[Ptx]) {
    static TAKEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = TAKEN
        .lock()
        .is_ok_and(|mut taken| taken.insert(name.to_owned()));
    if !is_new {
        println!(
            "cargo::warning={name} is already another crate's PTX; name that of `{}` with \
             `.export_as(\"…\")`",
            packages.crate_name
        );
        return;
    }
    let sources = packages.workspace_root.display();
    println!("cargo::rustc-env={name}_SOURCES={sources}");
    for (index, ptx) in ptx.iter().enumerate() {
        let name = match index {
            0 => name.to_owned(),
            _ => format!("{name}_{}", ptx.arch.name().to_uppercase()),
        };
        println!("cargo::rustc-env={name}={}", ptx.path.display());
    }
}
