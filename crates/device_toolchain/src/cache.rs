//! Compilers made from packages, in a folder shared by all clones.
//!
//! ```text
//! CACHE/rustc-1.97.1-amd64/    a compiler: bin/rustc, usr/…
//! CACHE/unfinished-…/          a run's own folder, while it fetches
//! CACHE/lock                   held by the one process that fetches
//! ```
//!
//! A run may be killed at any point: nothing that counts as a compiler changes until
//! one that is complete, tried and on the disk is renamed into its place. Every run works in
//! its own folder: a program that a killed run started may still be writing in
//! another. Looking for a compiler writes nothing: a filled cache may be read-only.

use crate::apt::{self, Apt};
use crate::{Locator, Progress, Source, Toolchain, ToolchainError, process, room, unpack};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The prefix of a run's folder.
const UNFINISHED: &str = "unfinished-";

/// The file that is locked.
const LOCK: &str = "lock";

/// The best compiler in the cache: the pinned release, or else the newest.
pub(crate) fn find(locator: &Locator) -> Option<Toolchain> {
    entries(&locator.cache_dir, "rustc-")
        .filter_map(|dir| check(&dir).ok())
        .max_by_key(|found| {
            let is_pinned = found.release.to_string() == locator.channel;
            (is_pinned, found.release)
        })
}

/// The entries of a folder whose names begin with `start`.
fn entries(dir: &Path, start: &str) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter(move |entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
}

/// The compiler in `dir`, or the reason why there is none.
fn check(dir: &Path) -> Result<Toolchain, String> {
    Toolchain::probe(&dir.join("bin/rustc"), Source::Packages)
}

/// Removes an unusable compiler for this machine, to make room. The caller holds the lock.
pub(crate) fn remove_damaged(locator: &Locator, progress: &dyn Progress) {
    let Ok(architecture) = architecture(locator) else {
        return;
    };
    for path in entries(&locator.cache_dir, "rustc-") {
        if !path.to_string_lossy().ends_with(&architecture) {
            continue;
        }
        if let Err(damage) = check(&path) {
            progress.note(&format!(
                "the compiler in {} is damaged ({damage}); fetching it again",
                path.display()
            ));
            // If it cannot be removed, replacing it will report that.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
}

/// Debian's name of this machine's architecture.
fn architecture(locator: &Locator) -> Result<String, String> {
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--print-architecture").env("PATH", &locator.path);
    let said = process::run(&mut dpkg, Duration::from_secs(30), || {})?;
    Ok(said.trim().into())
}

/// Waits until no other process is fetching. Also returns whether another one was.
///
/// The lock is the kernel's, and ends with the process that holds it, however
/// that process ends; the file stays and means nothing.
pub(crate) fn lock(
    cache_dir: &Path,
    progress: &dyn Progress,
) -> Result<(File, bool), ToolchainError> {
    fs::create_dir_all(cache_dir).map_err(|e| room::unusable(cache_dir, e))?;
    let path = cache_dir.join(LOCK);
    let failed = |e| room::unusable(&path, e);
    let file = open_lock(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok((file, false)),
        Err(fs::TryLockError::WouldBlock) => {
            progress.note("another build is fetching the kernels' compiler; waiting for it");
            file.lock().map_err(failed)?;
            Ok((file, true))
        }
        Err(fs::TryLockError::Error(e)) => Err(failed(e)),
    }
}

/// In a shared folder the file may be another user's, so it is opened only for reading.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    let opened = options.open(path);
    opened.or_else(|error| File::open(path).map_err(|_| error))
}

/// Removes what killed runs left, unless another run is active or the cache is read-only.
pub(crate) fn tidy(cache_dir: &Path) {
    if entries(cache_dir, UNFINISHED).next().is_some()
        && let Ok(lock) = open_lock(&cache_dir.join(LOCK))
        && lock.try_lock().is_ok()
    {
        remove_unfinished(cache_dir);
    }
}

/// The caller holds the lock.
fn remove_unfinished(cache_dir: &Path) {
    for left in entries(cache_dir, UNFINISHED) {
        // If it fails, the next run removes it: nothing depends on it.
        let _ = fs::remove_dir_all(left);
    }
}

/// The archives that may have a compiler, if there is a package manager to ask.
pub(crate) fn archives(locator: &Locator) -> Result<Vec<String>, String> {
    if !cfg!(target_os = "linux") {
        return Err("packages can only be used on Linux".into());
    }
    for program in ["apt-get", "dpkg", "dpkg-deb", "tar"] {
        if !locator.has(program) {
            return Err(format!("{program} is not on this system"));
        }
    }
    may_hold_a_compiler(&locator.cache_dir)?;
    apt::archives(locator)
}

/// The loader of shared libraries splits paths at some characters and expands
/// others; apt talks to its helpers in lines; cargo expects UTF-8.
fn may_hold_a_compiler(dir: &Path) -> Result<(), String> {
    let what = match dir
        .to_str()
        .map(|text| text.chars().find(|c| ":;$".contains(*c) || c.is_control()))
    {
        Some(None) => return Ok(()),
        None => "something other than UTF-8".into(),
        Some(Some(c)) if c.is_control() => "a control character".into(),
        Some(Some(c)) => format!("a `{c}`"),
    };
    Err(format!(
        "no compiler can run in {}, because this path contains {what}; \
         set LOCKSTEP_CACHE to another folder",
        dir.display()
    ))
}

/// Fetches packages from one of `archives` and makes a compiler of them. The caller holds the lock.
///
/// # Errors
///
/// The reason why it cannot be done.
pub(crate) fn fetch(
    locator: &Locator,
    archives: &[String],
    progress: &dyn Progress,
) -> Result<Toolchain, String> {
    let dir = &locator.cache_dir;
    remove_unfinished(dir);
    let say = |e: io::Error| format!("{} cannot be written: {e}", dir.display());
    let run = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(dir)
        .map_err(say)?;
    let architecture = architecture(locator)?;
    let (apt, selection) = Apt::search(locator, archives, run.path(), &architecture)?;
    let (release, packages) = (selection.release, selection.packages);
    let bytes: u64 = packages.iter().map(|package| package.size).sum();
    progress.step(&format!(
        "fetching rustc {release}: {} packages, {} MB",
        packages.len(),
        bytes.div_ceil(1_000_000)
    ));
    apt.download(&packages, progress)?;

    let entry = dir.join(format!("rustc-{release}-{architecture}"));
    progress.step(&format!(
        "unpacking rustc {release} into {}",
        entry.display()
    ));
    let unpacked = run.path().join("unpacked");
    fs::create_dir(&unpacked).map_err(say)?;
    let files: Vec<_> = packages.iter().map(|package| apt.file(package)).collect();
    let rustc = unpack::unpack(locator, &files, &unpacked, progress)?;
    Toolchain::probe(&rustc, Source::Packages)?;
    sync(&unpacked).map_err(say)?;
    fs::rename(&unpacked, &entry).map_err(|e| {
        format!(
            "{} cannot be replaced: {e}; remove it, or set LOCKSTEP_CACHE to another folder",
            entry.display()
        )
    })?;
    check(&entry)
}

/// Returns when everything written to the disk of `dir` is there: a compiler in its place is then
/// complete even after a crash. Syncing thousands of files one by one would take much longer.
fn sync(dir: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(dir)?)?;
    let _ = dir;
    Ok(())
}
