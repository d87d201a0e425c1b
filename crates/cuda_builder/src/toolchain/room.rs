//! Whether there is room on the disk for a compiler, and what is wrong if there is not.

use super::space::{Room, nearest_folder, ran_out};
use super::{ToolchainError, leftovers};
use std::io;
use std::path::Path;

/// What a fetch takes at its peak, as far as is known before the archive is
/// asked: the packages of 1.97.1 (153 MB) beside what is unpacked of them
/// (576 MB), and something for growth.
const ESTIMATE: u64 = 800_000_000;

/// The variable that names the cache folder.
const CACHE: &str = "LOCKSTEP_CACHE";

impl Room {
    /// The room in `cache_dir`. What an interrupted fetch left there need not be
    /// fetched again.
    pub(super) fn before_fetch(cache_dir: &Path) -> Result<Self, ToolchainError> {
        let here: u64 = leftovers::find(cache_dir)
            .iter()
            .flat_map(|root| leftovers::packages(root))
            .map(|(_, size)| size)
            .sum();
        Self::of(cache_dir, ESTIMATE.saturating_sub(here))
    }

    /// The room in `dir`, of which `needed` bytes are needed.
    pub(super) fn of(dir: &Path, needed: u64) -> Result<Self, ToolchainError> {
        let failed = |source| ToolchainError::Cache {
            path: dir.into(),
            source,
        };
        let existing = nearest_folder(dir).map_err(failed)?;
        let free = match fs4::statvfs(&existing).map_err(failed)? {
            // A file system that does not tell.
            stats if stats.total_space() == 0 => u64::MAX,
            stats => stats.available_space(),
        };
        Ok(Self { free, needed })
    }

    /// An error unless it is enough.
    pub(super) fn demand(self, dir: &Path) -> Result<(), ToolchainError> {
        if self.is_enough() {
            return Ok(());
        }
        Err(ToolchainError::Full {
            path: dir.into(),
            room: self,
            said: None,
            variable: CACHE,
        })
    }
}

/// An error unless `cache_dir` can be written to, or created.
pub(super) fn try_to_write(cache_dir: &Path) -> Result<(), ToolchainError> {
    let attempt = nearest_folder(cache_dir).and_then(tempfile::tempfile_in);
    let tried = attempt.map(drop);
    tried.map_err(|e| unusable(cache_dir, cache_dir, e))
}

/// Why `path`, which is `cache_dir` or in it, cannot be used.
pub(super) fn unusable(cache_dir: &Path, path: &Path, source: io::Error) -> ToolchainError {
    if ran_out(&source.to_string()) {
        return full(cache_dir, format!("{}: {source}", path.display()));
    }
    ToolchainError::Cache {
        path: path.into(),
        source,
    }
}

/// The error for a disk that ran full, as `said` tells.
pub(super) fn full(cache_dir: &Path, said: String) -> ToolchainError {
    match Room::before_fetch(cache_dir) {
        Ok(room) => ToolchainError::Full {
            path: cache_dir.into(),
            room,
            said: Some(said),
            variable: CACHE,
        },
        Err(error) => error,
    }
}

/// The error for a disk that ran full while rustup installed, as `said` tells;
/// none if it was something else.
pub(super) fn full_of_rustups(home: Option<&Path>, said: &str) -> Option<ToolchainError> {
    let home = home.filter(|_| ran_out(said))?;
    Some(ToolchainError::Full {
        path: home.into(),
        room: Room::of(home, ESTIMATE).ok()?,
        said: Some(said.into()),
        variable: "RUSTUP_HOME",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interrupted_fetch_left_is_needed_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let empty = Room::of(dir.path(), ESTIMATE).unwrap();
        assert_eq!(empty.needed, ESTIMATE);
        let left = dir.path().join("unfinished-1/packages");
        std::fs::create_dir_all(&left).unwrap();
        std::fs::write(left.join("rustc.deb"), [0; 1000]).unwrap();
        let room = Room::before_fetch(dir.path()).unwrap();
        assert_eq!(room.needed, ESTIMATE - 1000);
    }
}
