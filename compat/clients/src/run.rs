//! The common part of all runs of clients.

use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Run<'r> {
    /// The folder with the driver.
    pub driver: &'r Path,
    /// The folder in which clients are kept.
    pub cache: &'r Path,
    /// A checkout that the user names.
    pub checkout: Option<&'r Path>,
    /// The files of tests that are run, if not all.
    pub files: Option<&'r glob::Pattern>,
    /// Only the small part.
    pub is_quick: bool,
    /// With the simulator's checks.
    pub is_checked: bool,
    /// How long after the first file of tests the last one may begin.
    pub patience: Option<Duration>,
}

/// The repository: as given by `cargo xtask`, or else where this was compiled.
pub fn repository() -> PathBuf {
    let root = std::env::var_os("LOCKSTEP_ROOT").map(PathBuf::from);
    root.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}
