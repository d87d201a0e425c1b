//! Where things are in this repository.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// The crate with the kernels.
pub fn kernels() -> PathBuf {
    root().join("gpu-kernels")
}
