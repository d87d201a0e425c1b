//! Paths in this repository.
//!
//! Determined when this program runs, not when it is built: a checkout may be moved or
//! copied, and its programs with it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The repository's root: above the package that cargo runs, or else above this program
/// or the current folder.
pub fn root() -> PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let program = std::env::current_exe().ok();
        let here = std::env::current_dir().ok();
        [package, program, here]
            .into_iter()
            .flatten()
            .find_map(|path| root_above(&path))
            .unwrap_or_default()
    })
    .clone()
}

fn root_above(path: &Path) -> Option<PathBuf> {
    let is_root = |dir: &&Path| dir.join("gpu-kernels/Cargo.toml").is_file();
    path.ancestors().find(is_root).map(Into::into)
}

/// The crate with the kernels.
pub fn kernels() -> PathBuf {
    root().join("gpu-kernels")
}

/// One of our folders, next to cargo's build outputs.
pub fn own_folder(name: &str) -> PathBuf {
    cuda_builder::target_dir_of(&root()).with_file_name(name)
}
