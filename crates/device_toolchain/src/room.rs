//! The disk space for a compiler, and the error if there is too little.

use crate::ToolchainError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The space that a fetch takes at its peak: the packages of 1.97.1 (153 MB) and their unpacked
/// contents (576 MB), with a margin for growth.
const NEEDED: u64 = 800_000_000;

/// The free space, and the space that a fetch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes that may be written.
    pub free: u64,
    /// Bytes that a fetch would write.
    pub needed: u64,
}

impl Room {
    /// The space in `dir`, which need not exist yet.
    pub(crate) fn of(dir: &Path) -> Result<Self, ToolchainError> {
        let failed = |source| unusable(dir, source);
        let existing = nearest_folder(dir).map_err(failed)?;
        let free = match fs4::statvfs(&existing).map_err(failed)? {
            // The file system does not report it.
            stats if stats.total_space() == 0 => u64::MAX,
            stats => stats.available_space(),
        };
        Ok(Self {
            free,
            needed: NEEDED,
        })
    }

    /// Whether a fetch can succeed.
    pub fn is_enough(&self) -> bool {
        self.free >= self.needed
    }

    /// An error unless it is enough.
    pub(crate) fn demand(self, dir: &Path) -> Result<(), ToolchainError> {
        if self.is_enough() {
            return Ok(());
        }
        Err(ToolchainError::Full {
            path: dir.into(),
            room: self.to_string(),
        })
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needed = self.needed.div_ceil(1_000_000);
        write!(f, "{} MB free, {needed} MB needed", self.free / 1_000_000)
    }
}

/// `dir`, or the folder in which it would be created.
fn nearest_folder(dir: &Path) -> io::Result<PathBuf> {
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

/// An error unless `cache_dir` can be written to, or created.
pub(crate) fn try_to_write(cache_dir: &Path) -> Result<(), ToolchainError> {
    let attempt = nearest_folder(cache_dir).and_then(tempfile::tempfile_in);
    attempt.map(drop).map_err(|e| unusable(cache_dir, e))
}

/// The reason why `path`, the cache folder or something in it, cannot be used.
pub(crate) fn unusable(path: &Path, source: io::Error) -> ToolchainError {
    ToolchainError::Cache {
        path: path.into(),
        source,
    }
}

/// Whether a message of a program or the system says that the disk is full.
pub(crate) fn ran_out(said: &str) -> bool {
    [
        "No space left on device",
        "Disk quota exceeded",
        "enough free space",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// The error for a disk that ran full, with the message that said so.
pub(crate) fn full(cache_dir: &Path, said: &str) -> ToolchainError {
    let room = match Room::of(cache_dir) {
        Err(error) => return error,
        // Other things than bytes can run out.
        Ok(room) if room.is_enough() => {
            format!("{room}, but perhaps a quota or the inodes are used up\n{said}")
        }
        Ok(room) => format!("{room}\n{said}"),
    };
    ToolchainError::Full {
        path: cache_dir.into(),
        room,
    }
}
