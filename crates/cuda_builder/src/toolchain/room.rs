//! Room on the disk for a compiler.

use super::{ToolchainError, leftovers};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What a fetch takes at its peak, as far as is known before the archive is
/// asked: the packages of 1.97.1 (153 MB) beside what is unpacked of them
/// (576 MB), and something for growth.
const ESTIMATE: u64 = 800_000_000;

/// The variable that names the cache folder.
const CACHE: &str = "LOCKSTEP_CACHE";

/// How much room there is, and how much a fetch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes that may be written.
    pub free: u64,
    /// Bytes that a fetch would write.
    pub needed: u64,
}

impl Room {
    /// Whether a fetch can go well.
    pub fn is_enough(&self) -> bool {
        self.free >= self.needed
    }

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

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needed = self.needed.div_ceil(1_000_000);
        write!(f, "{} MB free, {needed} MB needed", self.free / 1_000_000)
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

/// `dir`, or the folder in which it would be created.
pub(super) fn nearest_folder(dir: &Path) -> io::Result<PathBuf> {
    for ancestor in dir.ancestors() {
        match ancestor.metadata() {
            Ok(data) if data.is_dir() => return Ok(ancestor.into()),
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Whether a program or the system says that the disk is full.
pub(super) fn ran_out(said: &str) -> bool {
    [
        "No space left on device",
        "Disk quota exceeded",
        "enough free space",
    ]
    .iter()
    .any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_a_folder_to_come_is_that_of_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(nearest_folder(&dir.path().join("a/b")).unwrap(), dir.path());
        std::fs::write(dir.path().join("file"), "").unwrap();
        nearest_folder(&dir.path().join("file/b")).unwrap_err();
    }

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

    #[test]
    fn free_is_never_flattered_and_needed_never_played_down() {
        let room = Room {
            free: 1_999_999,
            needed: 1_000_001,
        };
        assert_eq!(room.to_string(), "1 MB free, 2 MB needed");
        assert!(room.is_enough());
    }
}
