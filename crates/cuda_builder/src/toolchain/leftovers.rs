//! What interrupted runs left in the cache folder.
//!
//! Every run works in a folder of its own, `unfinished-…`, and never where
//! another one wrote: a program that an interrupted run started may still be
//! writing there, the files may be cut, or belong to somebody else. Of what is
//! left only whole packages are of use, which their hashes tell; the rest is
//! removed.
//!
//! What it leaves out: it does not know whether a run is still going on. The
//! caller holds the lock, so none is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// How a run's folder is named.
pub(super) const PREFIX: &str = "unfinished-";

/// The folders that interrupted runs left in `cache_dir`.
pub(super) fn find(cache_dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = entries(cache_dir).filter(|path| is_left(path)).collect();
    found.sort();
    found
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Besides a run's folder: `rustc-….partial` and `fetch/sid`, as they were once
/// called. A folder that is only named `fetch` may be somebody else's.
fn is_left(path: &Path) -> bool {
    let name = name(path);
    let is_old_fetch = || {
        let is_suite = |path: PathBuf| ["sid", "testing"].contains(&&*self::name(&path));
        path.is_dir() && entries(path).all(is_suite)
    };
    name.starts_with(PREFIX)
        || (name.starts_with("rustc-") && name.ends_with(".partial"))
        || (name == "fetch" && is_old_fetch())
}

/// The packages somewhere in `root`, whole or not, with their sizes.
pub(super) fn packages(root: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() {
                todo.push(entry.path());
            } else if data.is_file() && name(&entry.path()).ends_with(".deb") {
                found.push((entry.path(), data.len()));
            }
        }
    }
    found.sort();
    found
}

/// Moves the packages of all `roots` into `dir` and removes the roots.
///
/// Returns what could not be removed, and why; nothing depends on it.
pub(super) fn take_over(roots: &[PathBuf], dir: &Path) -> Vec<(PathBuf, io::Error)> {
    let mut stubborn = Vec::new();
    let mut n_taken = 0;
    for root in roots {
        for (path, _) in packages(root) {
            if fs::rename(&path, dir.join(format!("{n_taken}.deb"))).is_ok() {
                n_taken += 1;
            }
        }
        if let Err(e) = remove(root) {
            stubborn.push((root.clone(), e));
        }
    }
    stubborn
}

/// Removes a file or a folder, also one with folders that are write-protected.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let attempt = || match path.symlink_metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    let mut outcome = attempt();
    if outcome.is_err() {
        unprotect(path);
        outcome = attempt();
    }
    // A program that outlived the run that started it may be writing there still.
    // Without its folder it ends; until then it puts in what we take out.
    for _ in 0..60 {
        match &outcome {
            Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => break,
        }
        thread::sleep(Duration::from_millis(50));
        outcome = attempt();
    }
    outcome
}

#[cfg(unix)]
fn unprotect(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        // What cannot be changed shows when it is removed.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        entries(path).for_each(|path| unprotect(&path));
    }
}

#[cfg(not(unix))]
fn unprotect(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn only_what_is_ours_is_left_over() {
        let cache = tempfile::tempdir().unwrap();
        for ours in [
            "unfinished-a",
            "rustc-1.97.1-amd64.partial",
            "fetch/sid/debs",
        ] {
            fs::create_dir_all(cache.path().join(ours)).unwrap();
        }
        fs::create_dir_all(cache.path().join("rustc-1.97.1-amd64")).unwrap();
        let names = |found: Vec<PathBuf>| -> Vec<_> {
            found.iter().map(|path| name(path).into_owned()).collect()
        };
        assert_eq!(
            names(find(cache.path())),
            ["fetch", "rustc-1.97.1-amd64.partial", "unfinished-a"]
        );
        fs::write(cache.path().join("fetch/notes.txt"), "somebody's").unwrap();
        assert_eq!(
            names(find(cache.path())),
            ["rustc-1.97.1-amd64.partial", "unfinished-a"]
        );
    }

    #[test]
    fn a_folder_that_others_write_to_is_removed_as_soon_as_they_end() {
        let cache = tempfile::tempdir().unwrap();
        let root = cache.path().join("unfinished-a");
        let until = Instant::now() + Duration::from_millis(300);
        // As tar does: it makes the folders that it misses.
        let write = &|writer: u32| {
            for number in 0.. {
                if Instant::now() > until {
                    return;
                }
                let dir = root.join(format!("{writer}/{}", number % 8));
                let _ = fs::create_dir_all(&dir);
                let _ = fs::write(dir.join(number.to_string()), "");
            }
        };
        thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || write(writer));
            }
            while Instant::now() < until {
                remove(&root).unwrap();
            }
        });
        remove(&root).unwrap();
        assert!(!root.exists());
    }

    #[cfg(unix)]
    #[test]
    fn packages_are_moved_and_the_rest_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        let deep = cache.path().join("fetch/sid/debs");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("a_1_amd64.deb"), "a").unwrap();
        fs::write(deep.join("lock"), "").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", deep.join("b.deb")).unwrap();
        let to = cache.path().join("to");
        fs::create_dir(&to).unwrap();
        let stubborn = take_over(&find(cache.path()), &to);
        assert!(stubborn.is_empty(), "{stubborn:?}");
        let moved: Vec<_> = packages(&to).into_iter().map(|(_, size)| size).collect();
        assert_eq!(moved, [1], "a link is no package");
        assert!(!cache.path().join("fetch").exists());
    }
}
