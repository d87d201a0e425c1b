//! The package files of one run.
//!
//! A file is the package whose hash it has, wherever it comes from and whatever
//! it is called. The hashes are those of the archive's signed list.

use super::leftovers;
use super::select::Package;
use super::stamp::sha256;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder that holds whole packages only.
pub(super) struct Store {
    dir: PathBuf,
}

impl Store {
    /// Makes the folder.
    pub fn new(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir(&dir)?;
        Ok(Self { dir })
    }

    /// Where the file of `package` is, if it is here.
    pub fn path(&self, package: &Package) -> PathBuf {
        self.dir.join(format!("{}.deb", package.name))
    }

    /// Those of `wanted` that are not here.
    pub fn missing<'a>(&self, wanted: &'a [Package]) -> Vec<&'a Package> {
        let is_missing = |package: &&Package| !self.path(package).exists();
        wanted.iter().filter(is_missing).collect()
    }

    /// Moves the files in `from` that are `wanted` here, and removes all others
    /// that look like packages. What cannot be read or moved stays missing.
    pub fn take(&self, wanted: &[Package], from: &Path) {
        for (path, size) in leftovers::packages(from) {
            let mut missing = self.missing(wanted);
            missing.retain(|package| package.size == size);
            let sum = (!missing.is_empty()).then(|| sha256(&path).ok()).flatten();
            let is_it = |package: &&Package| sum.as_ref() == Some(&package.sha256);
            let _ = match missing.into_iter().find(is_it) {
                Some(package) => fs::rename(&path, self.path(package)),
                None => leftovers::remove(&path),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_package_is_known_by_its_hash() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir(&from).unwrap();
        let store = Store::new(dir.path().join("store")).unwrap();
        let wanted = [Package {
            name: "abc".into(),
            version: "1".into(),
            size: 3,
            sha256: ABC.into(),
            unpacked: 0,
        }];
        for (name, text) in [("abc_1.deb", "abd"), ("cut.deb", "ab"), ("0.deb", "abc")] {
            fs::write(from.join(name), text).unwrap();
        }
        fs::write(from.join("lock"), "").unwrap();
        assert_eq!(store.missing(&wanted).len(), 1);
        store.take(&wanted, &from);
        assert!(store.missing(&wanted).is_empty());
        assert_eq!(fs::read(store.path(&wanted[0])).unwrap(), b"abc");
        let left: Vec<_> = fs::read_dir(&from).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
