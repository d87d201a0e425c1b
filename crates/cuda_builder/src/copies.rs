//! A note of which copy of a workspace a target folder was last used for.
//!
//! Two copies, such as git worktrees, may share a target folder (`CARGO_TARGET_DIR`). cargo knows
//! the packages of a workspace by their place in it, and goes by the times of their files: what it
//! compiled for one copy passes for the other's. The note tells whose it is.
//!
//! Left out: packages outside the workspace, which cargo knows by their full path.

use crate::packages::Packages;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// By a package's folder in its workspace, name and version: the root of the copy that it was last
/// compiled in.
#[derive(Debug, Default)]
pub(crate) struct Copies(BTreeMap<String, PathBuf>);

impl Copies {
    /// Reads a note; without one, nothing was compiled yet.
    pub fn read(note: &Path) -> Self {
        let text = fs::read(note).unwrap_or_default();
        Self(serde_json::from_slice(&text).unwrap_or_default())
    }

    /// The root of another copy, and cargo's names for the packages that were compiled there last;
    /// `None` if there are none.
    pub fn other<'a>(&'a self, packages: &'a Packages) -> Option<(&'a Path, Vec<&'a str>)> {
        let mut root = None;
        let mut ids = Vec::new();
        for (folder, id) in packages.in_workspace() {
            let last = self.0.get(&key(folder, id));
            if let Some(other) = last.filter(|last| **last != packages.workspace_root) {
                root = Some(other.as_path());
                ids.push(id);
            }
        }
        Some((root?, ids))
    }

    /// Notes that the packages are now compiled in this copy.
    pub fn claim(mut self, packages: &Packages, note: &Path) -> io::Result<()> {
        for (folder, id) in packages.in_workspace() {
            let root = packages.workspace_root.clone();
            self.0.insert(key(folder, id), root);
        }
        fs::write(note, serde_json::to_vec(&self.0)?)
    }
}

/// cargo's name for a package without the place of its workspace: `kernels#my-kernels@0.1.0`.
fn key(folder: &Path, id: &str) -> String {
    let name = id.rsplit('#').next().unwrap_or_default();
    format!("{}#{name}", folder.display())
}
