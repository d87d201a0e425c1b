//! The folder that one run works in.
//!
//! ```text
//! CACHE/unfinished-…/found/      packages that interrupted runs left, perhaps cut
//! CACHE/unfinished-…/packages/   whole packages
//! CACHE/unfinished-…/apt-…/      apt's lists and caches, and what it downloads
//! CACHE/unfinished-…/unpacked/   the compiler to be
//! CACHE/unfinished-…/replaced/   the damaged compiler in whose place it goes
//! ```
//!
//! The folder goes when the run ends. A run that fails leaves its packages for
//! the next one; a run that is killed leaves everything, of which the next one
//! takes the packages.

use super::leftovers;
use super::space;
use super::store::Store;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The folder that one run works in.
pub(super) struct Run {
    dir: TempDir,
    pub store: Store,
    /// What could not be removed of earlier runs, and why.
    pub stubborn: Vec<(PathBuf, io::Error)>,
    /// Whether there was an earlier run that did not end well.
    pub is_second: bool,
}

impl Run {
    /// Makes the folder in `cache_dir`, and takes over what others left there.
    /// The caller holds the lock.
    pub fn start(cache_dir: &Path) -> io::Result<Self> {
        let left = leftovers::find(cache_dir);
        let begin = || {
            let dir = tempfile::Builder::new()
                .prefix(leftovers::PREFIX)
                .tempdir_in(cache_dir)?;
            fs::create_dir(dir.path().join("found"))?;
            let store = Store::new(dir.path().join("packages"))?;
            Ok((dir, store))
        };
        let (dir, store) = begin().or_else(|e: io::Error| {
            if left.is_empty() || !space::ran_out(&e.to_string()) {
                return Err(e);
            }
            // No room for a folder: what was left gives some.
            for root in &left {
                let _ = leftovers::remove(root);
            }
            begin()
        })?;
        let stubborn = leftovers::take_over(&left, &dir.path().join("found"));
        Ok(Self {
            dir,
            store,
            stubborn,
            is_second: !left.is_empty(),
        })
    }

    /// A file or folder of this run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Removes some of the run's folders, to make room.
    pub fn remove(&self, is_spent: impl Fn(&str) -> bool) {
        for entry in fs::read_dir(self.dir.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            if is_spent(&entry.file_name().to_string_lossy()) {
                // Goes with the run's folder, if not now.
                let _ = leftovers::remove(&entry.path());
            }
        }
    }

    /// Ends a run that failed: packages stay, so that they need not come again.
    pub fn leave_packages(mut self) {
        self.remove(|name| !["found", "packages"].contains(&name));
        if !leftovers::packages(self.dir.path()).is_empty() {
            self.dir.disable_cleanup(true);
        }
    }
}
