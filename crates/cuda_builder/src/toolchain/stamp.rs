//! The record of what a compiler in the cache consists of.
//!
//! Every file with its size and SHA-256, written last. A folder without the
//! record is not a compiler, and one that differs from it is a damaged one.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The record's file name.
const FILE: &str = "stamp.json";

/// What a compiler in the cache consists of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    /// Of the record's form.
    pub schema: u32,
    /// `1.97.1`
    pub release: String,
    /// The packages it was made of, with their versions.
    pub packages: Vec<(String, String)>,
    /// Every file, by its path within the folder.
    pub files: Vec<Entry>,
}

/// One file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub path: PathBuf,
    pub size: u64,
    pub sha256: String,
}

impl Stamp {
    const SCHEMA: u32 = 1;

    /// Records everything in `dir`.
    pub fn of(dir: &Path, release: String, packages: Vec<(String, String)>) -> io::Result<Self> {
        let mut files = Vec::new();
        let mut todo = vec![dir.to_path_buf()];
        while let Some(folder) = todo.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    todo.push(entry.path());
                } else if kind.is_file() && entry.file_name() != FILE {
                    let path = entry.path();
                    files.push(Entry {
                        size: entry.metadata()?.len(),
                        sha256: sha256(&path)?,
                        path: path.strip_prefix(dir).unwrap_or(&path).into(),
                    });
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self {
            schema: Self::SCHEMA,
            release,
            packages,
            files,
        })
    }

    /// Writes the record into `dir`, after all that it tells of: whatever
    /// becomes of the machine, a record on the disk has its files there.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        sync(dir)?;
        let mut record = File::create(dir.join(FILE))?;
        record.write_all(&serde_json::to_vec(self)?)?;
        record.sync_all()
    }

    /// Reads the record of `dir`.
    pub fn read(dir: &Path) -> Option<Self> {
        let stamp: Self = serde_json::from_slice(&std::fs::read(dir.join(FILE)).ok()?).ok()?;
        (stamp.schema == Self::SCHEMA).then_some(stamp)
    }

    /// Whether every file is there and has its size: a few milliseconds.
    ///
    /// # Errors
    ///
    /// The first file that differs.
    pub fn check_sizes(&self, dir: &Path) -> Result<(), String> {
        for entry in &self.files {
            let found = dir.join(&entry.path).metadata().map(|data| data.len());
            if !found.as_ref().is_ok_and(|size| *size == entry.size) {
                return Err(format!(
                    "{} should have {} bytes and {}",
                    entry.path.display(),
                    entry.size,
                    found.map_or_else(|e| format!("cannot be read: {e}"), |n| format!("has {n}")),
                ));
            }
        }
        Ok(())
    }

    /// Whether every byte is as recorded: about a second.
    ///
    /// # Errors
    ///
    /// The first file that differs.
    pub fn check_contents(&self, dir: &Path) -> Result<(), String> {
        self.check_sizes(dir)?;
        for entry in &self.files {
            if !sha256(&dir.join(&entry.path)).is_ok_and(|sum| sum == entry.sha256) {
                return Err(format!(
                    "{} is damaged (its SHA-256 differs)",
                    entry.path.display()
                ));
            }
        }
        Ok(())
    }
}

/// Returns when all that was written to the disk of `dir` is there. Thousands of
/// files one by one would take much longer.
#[cfg(target_os = "linux")]
fn sync(dir: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(dir)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The SHA-256 of a file, in hexadecimal.
pub(super) fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut sum = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n_bytes => sum.update(&buffer[..n_bytes]),
        }
    }
    Ok(sum
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamped() -> (tempfile::TempDir, Stamp) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("lib")).unwrap();
        std::fs::write(dir.path().join("lib/a.so"), b"abc").unwrap();
        std::fs::write(dir.path().join("rustc"), b"#!").unwrap();
        Stamp::of(dir.path(), "1.97.1".into(), vec![])
            .unwrap()
            .write(dir.path())
            .unwrap();
        let stamp = Stamp::read(dir.path()).unwrap();
        (dir, stamp)
    }

    #[test]
    fn what_was_recorded_is_accepted() {
        let (dir, stamp) = stamped();
        assert_eq!(stamp.files.len(), 2);
        assert_eq!(
            stamp.files[0].sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        stamp.check_contents(dir.path()).unwrap();
    }

    #[test]
    fn a_changed_byte_is_found_by_the_thorough_check_only() {
        let (dir, stamp) = stamped();
        std::fs::write(dir.path().join("lib/a.so"), b"abd").unwrap();
        stamp.check_sizes(dir.path()).unwrap();
        assert!(
            stamp
                .check_contents(dir.path())
                .unwrap_err()
                .contains("a.so is damaged")
        );
    }

    #[test]
    fn a_cut_or_missing_file_is_found_by_the_quick_check() {
        let (dir, stamp) = stamped();
        std::fs::write(dir.path().join("lib/a.so"), b"ab").unwrap();
        assert!(stamp.check_sizes(dir.path()).unwrap_err().contains("has 2"));
        std::fs::remove_file(dir.path().join("lib/a.so")).unwrap();
        assert!(
            stamp
                .check_sizes(dir.path())
                .unwrap_err()
                .contains("cannot be read")
        );
    }

    #[test]
    fn a_cut_record_is_no_record() {
        let (dir, _) = stamped();
        let path = dir.path().join(FILE);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        assert!(Stamp::read(dir.path()).is_none());
    }
}
