//! `cargo xtask sim-driver DIR`: a CUDA driver that needs no GPU, for programs in any
//! language.

use crate::ending::print;
use crate::{build, folder};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Put a CUDA driver that needs no GPU into a folder.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The folder; created if it is missing
    dir: PathBuf,
}

/// The driver's name.
const DRIVER: &str = "libcuda.so.1";
/// The runtime's, which replaces that of a toolkit of the same version.
const RUNTIME_12: &str = "libcudart.so.12";
const RUNTIME_13: &str = "libcudart.so.13";
/// NCCL's.
const NCCL: &str = "libnccl.so.2";
/// Names that linkers look for, and their targets: CUDA's packages lack the runtime's, and build
/// scripts such as `cust`'s look for a toolkit, in which the driver is in `lib64`.
const LINKS: [(&str, &str); 4] = [
    ("libcuda.so", DRIVER),
    ("libcudart.so", RUNTIME_13),
    ("libnccl.so", NCCL),
    ("lib64/libcuda.so", "../libcuda.so.1"),
];

/// Builds the libraries, and says how to use them.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let dir = std::path::absolute(&options.dir).context("the folder has no path")?;
    folder::check(&dir)?;
    install(&dir)?;
    print(|out| {
        writeln!(
            out,
            "{} is a CUDA driver on the simulator, with {RUNTIME_12}, {RUNTIME_13} and
{NCCL}. To use it:

    export LD_LIBRARY_PATH={}:$LD_LIBRARY_PATH
    YOUR PROGRAM

To build a Rust program with `cust` from crates.io where there is no CUDA toolkit:

    export CUDA_LIBRARY_PATH={}

What does not work with it: kernels without PTX (machine code only, as in cuBLAS,
cuDNN and PyTorch's own), programs with static libcudart (link with nvcc's
`-cudart shared`, and `-L` with this folder if the toolkit has no libcudart.so),
textures, and sharing memory with other processes.",
            dir.join(DRIVER).display(),
            dir.display(),
            dir.display()
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Puts the libraries into a folder, also under the names that linkers look for.
pub fn install(dir: &Path) -> anyhow::Result<()> {
    let built = build::libraries()?;
    std::fs::create_dir_all(dir).with_context(|| format!("{} cannot be created", dir.display()))?;
    place(&built.driver, dir, DRIVER)?;
    place(&built.runtime_12, dir, RUNTIME_12)?;
    place(&built.runtime_13, dir, RUNTIME_13)?;
    place(&built.nccl, dir, NCCL)?;
    link(dir)
}

/// Adds the names that linkers look for to a folder's libraries.
fn link(dir: &Path) -> anyhow::Result<()> {
    for (name, library) in LINKS {
        let link = dir.join(name);
        let _ = std::fs::remove_file(&link);
        let folder = link.parent().unwrap_or(dir);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::os::unix::fs::symlink(library, &link))
            .with_context(|| format!("{} cannot be written", link.display()))?;
    }
    Ok(())
}

/// Puts a library into a folder.
fn place(built: &Path, dir: &Path, name: &str) -> anyhow::Result<()> {
    let library = dir.join(name);
    // A running program keeps its file: the new one only takes over the name.
    let new = dir.join(format!(".{name}.{}", std::process::id()));
    let placed = std::fs::copy(built, &new).and_then(|_| std::fs::rename(&new, &library));
    if placed.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    placed.with_context(|| format!("{} cannot be written", library.display()))
}

#[cfg(test)]
mod tests {
    use super::{DRIVER, NCCL, RUNTIME_13, link};

    #[test]
    fn linkers_find_driver_and_runtime() {
        let folder = tempfile::tempdir().unwrap();
        for name in [DRIVER, NCCL, RUNTIME_13] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        // A second time, as after an earlier run.
        for _ in 0..2 {
            link(folder.path()).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            [
                "libcuda.so",
                "libcudart.so",
                "libnccl.so",
                "lib64/libcuda.so"
            ]
            .map(read),
            [DRIVER, RUNTIME_13, NCCL, DRIVER]
        );
    }
}
