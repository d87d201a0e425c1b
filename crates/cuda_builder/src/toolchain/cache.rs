//! Compilers made of packages, in a folder shared by all clones.
//!
//! ```text
//! CACHE/rustc-1.97.1-amd64/    a compiler: bin/rustc, usr/…, stamp.json
//! CACHE/unfinished-…/          a run's own folder, while it fetches
//! CACHE/lock                   held by the one process that fetches
//! ```
//!
//! Looking for a compiler writes nothing: a filled cache may be read-only.

use super::progress::Progress;
use super::stamp::Stamp;
use super::{Locator, Source, Toolchain, ToolchainError, leftovers, room};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How closely a compiler in the cache is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// Every file is there with its size.
    Quick,
    /// Every byte is as recorded.
    Thorough,
}

/// The best compiler in the cache: the pinned release, or else the newest.
pub(super) fn find(locator: &Locator, verification: Verification) -> Option<Toolchain> {
    let mut found: Vec<Toolchain> = entries(locator)
        .filter_map(|path| check(&path, verification).ok())
        .collect();
    let is_pinned = |toolchain: &Toolchain| toolchain.release.to_string() == locator.pin.channel;
    found.sort_by_key(|toolchain| (is_pinned(toolchain), toolchain.release));
    found.pop()
}

/// A compiler for this machine that is there and does not serve, and why.
pub(super) fn damaged(locator: &Locator, architecture: &str) -> Option<(PathBuf, String)> {
    entries(locator)
        .filter(|path| {
            path.to_string_lossy()
                .ends_with(&format!("-{architecture}"))
        })
        .find_map(|path| {
            let damage = check(&path, Verification::Quick).err()?;
            Some((path, damage))
        })
}

fn entries(locator: &Locator) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(&locator.cache_dir).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("rustc-") && !name.ends_with(".partial")
    })
}

/// The compiler in `dir`, or what is wrong with it.
pub(super) fn check(dir: &Path, verification: Verification) -> Result<Toolchain, String> {
    let stamp = Stamp::read(dir).ok_or("there is no whole record of its files")?;
    match verification {
        Verification::Quick => stamp.check_sizes(dir)?,
        Verification::Thorough => stamp.check_contents(dir)?,
    }
    Toolchain::probe(&dir.join("bin/rustc"), Source::Packages)
}

/// Checks every byte; a damaged compiler is thrown away, so that the next
/// [`Locator::ensure`] fetches it again.
pub(super) fn verify(locator: &Locator, toolchain: &Toolchain) -> Result<(), String> {
    let dir = toolchain.rustc.parent().and_then(Path::parent);
    let Some(dir) = dir.filter(|dir| dir.starts_with(&locator.cache_dir)) else {
        return Ok(());
    };
    check(dir, Verification::Thorough)
        .map(drop)
        .map_err(|damage| match discard(dir) {
            Ok(()) => format!("{damage}; it has been removed"),
            Err(e) => format!("{damage}; {} cannot be removed: {e}", dir.display()),
        })
}

/// Takes a compiler out of use in one step, then removes it.
fn discard(dir: &Path) -> io::Result<()> {
    let parent = dir.parent().unwrap_or(dir);
    let out_of_use = tempfile::Builder::new()
        .prefix(leftovers::PREFIX)
        .tempdir_in(parent)?;
    fs::rename(dir, out_of_use.path().join("replaced"))
}

/// Waits until no other process fetches. Also returns whether another one did.
///
/// The lock is the kernel's, and ends with the process that holds it, however
/// that ends; the file stays and means nothing.
pub(super) fn lock(
    locator: &Locator,
    progress: &dyn Progress,
) -> Result<(File, bool), ToolchainError> {
    let failed = |path: &Path, source| room::unusable(&locator.cache_dir, path, source);
    fs::create_dir_all(&locator.cache_dir).map_err(|e| failed(&locator.cache_dir, e))?;
    let path = locator.cache_dir.join("lock");
    let file = open_lock(&path).map_err(|e| failed(&path, e))?;
    match file.try_lock() {
        Ok(()) => Ok((file, false)),
        Err(fs::TryLockError::WouldBlock) => {
            progress.note("another build is fetching the kernels' compiler; waiting for it");
            file.lock().map_err(|e| failed(&path, e))?;
            Ok((file, true))
        }
        Err(fs::TryLockError::Error(e)) => Err(failed(&path, e)),
    }
}

/// Removes what a run left that was killed when the compiler was in its place
/// already; unless another run is going on, or the cache is read-only.
pub(super) fn tidy(locator: &Locator) {
    let left = leftovers::find(&locator.cache_dir);
    if left.is_empty() {
        return;
    }
    let Ok(lock) = open_lock(&locator.cache_dir.join("lock")) else {
        return;
    };
    if lock.try_lock().is_ok() {
        for root in left {
            // Next time, if not now: nothing depends on it.
            let _ = leftovers::remove(&root);
        }
    }
}

/// In a folder for all, the file may be another user's: reading is enough.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    options
        .open(path)
        .or_else(|error| File::open(path).map_err(|_| error))
}
