//! Space on a disk, in numbers and as programs say that it has run out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needed = self.needed.div_ceil(1_000_000);
        write!(f, "{} MB free, {needed} MB needed", self.free / 1_000_000)
    }
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
    fn free_is_never_flattered_and_needed_never_played_down() {
        let room = Room {
            free: 1_999_999,
            needed: 1_000_001,
        };
        assert_eq!(room.to_string(), "1 MB free, 2 MB needed");
        assert!(room.is_enough());
    }
}
