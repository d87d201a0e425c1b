//! Fetching the distribution's packages, and making a compiler of them.
//!
//! It may be cut at any point: nothing that counts as a compiler changes until
//! one that is whole, tried and on the disk is renamed into its place.

use super::apt::Apt;
use super::locator::is_on_path;
use super::progress::Progress;
use super::room;
use super::run::Run;
use super::search::{architecture, search};
use super::select::{Package, Selection};
use super::sources;
use super::space::{self, Room};
use super::stamp::Stamp;
use super::{Locator, Source, Toolchain, ToolchainError, cache, leftovers, unpack};
use std::fs;
use std::io;
use std::path::Path;

/// Why the packages gave no compiler.
pub(super) enum Failure {
    /// In words. Another way may help.
    Words(String),
    /// For a reason that has a cure of its own.
    Known(ToolchainError),
}

impl From<ToolchainError> for Failure {
    fn from(error: ToolchainError) -> Self {
        Self::Known(error)
    }
}

impl From<String> for Failure {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// Whether there is a package manager and an archive that could serve.
pub(super) fn is_usable(locator: &Locator) -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Err("this is no Linux, whose packages could be used".into());
    }
    for program in ["apt-get", "apt-cache", "dpkg", "dpkg-deb", "tar"] {
        if !is_on_path(locator, program) {
            return Err(format!("{program} is not on this system"));
        }
    }
    if sources::archives(&locator.apt_dir).is_empty() {
        return Err(format!(
            "{} names no Debian archive",
            locator.apt_dir.display()
        ));
    }
    may_hold_a_compiler(&locator.cache_dir)
}

/// The loader of shared libraries splits paths at some characters and expands
/// others; apt speaks with its helpers in lines; cargo speaks UTF-8.
fn may_hold_a_compiler(dir: &Path) -> Result<(), String> {
    let refuse = |what: &str| {
        Err(format!(
            "no compiler runs in {}, for there is {what} in this path; \
             set LOCKSTEP_CACHE to another folder",
            dir.display()
        ))
    };
    let Some(text) = dir.to_str() else {
        return refuse("something other than UTF-8");
    };
    match text.chars().find(|c| ":;$".contains(*c) || c.is_control()) {
        Some(c) if c.is_control() => refuse("a control character"),
        Some(c) => refuse(&format!("a `{c}`")),
        None => Ok(()),
    }
}

/// Fetches the packages and makes a compiler of them. The caller holds the lock.
///
/// # Errors
///
/// Why it cannot be done. What has arrived stays for the next attempt.
pub(super) fn fetch(locator: &Locator, progress: &dyn Progress) -> Result<Toolchain, Failure> {
    let dir = &locator.cache_dir;
    let run = Run::start(dir).map_err(|e| room::unusable(dir, dir, e))?;
    for (path, e) in &run.stubborn {
        progress.note(&format!(
            "an interrupted fetch left {}, which cannot be removed: {e}",
            path.display()
        ));
    }
    fetch_in(locator, &run, progress).map_err(|failure| {
        run.leave_packages();
        match failure {
            Failure::Words(said) if space::ran_out(&said) => Failure::Known(room::full(dir, said)),
            other => other,
        }
    })
}

fn fetch_in(locator: &Locator, run: &Run, progress: &dyn Progress) -> Result<Toolchain, Failure> {
    let dir = &locator.cache_dir;
    let architecture = architecture(locator)?;
    if let Some((path, damage)) = cache::damaged(locator, &architecture) {
        progress.note(&format!(
            "the compiler in {} is damaged ({damage}); fetching it again",
            path.display()
        ));
        if !Room::before_fetch(dir)?.is_enough() {
            // Removed now rather than when another takes its place.
            let _ = leftovers::remove(&path);
        }
    }
    Room::before_fetch(dir)?.demand(dir)?;
    let (apt, selection) = search(locator, run, &architecture)?;
    let packages = &selection.packages;
    run.store.take(packages, &run.path("found"));
    let missing: u64 = run.store.missing(packages).iter().map(|p| p.size).sum();
    Room::of(dir, missing + selection.unpacked_bytes())?.demand(dir)?;
    progress.step(&announcement(run, &selection));
    download(&apt, run, packages, progress)?;
    run.remove(|name| name.starts_with("apt-"));

    let release = selection.release;
    let entry = dir.join(format!("rustc-{release}-{architecture}"));
    progress.step(&format!(
        "unpacking rustc {release} into {}",
        entry.display()
    ));
    make(locator, run, &selection, progress)?;
    put_in_place(run, &entry)?;
    Ok(cache::check(&entry, cache::Verification::Quick)?)
}

/// What is about to be fetched, and how much of it is here already.
fn announcement(run: &Run, selection: &Selection) -> String {
    let Selection { release, packages } = selection;
    let missing = run.store.missing(packages);
    let (n_all, n_here) = (packages.len(), packages.len() - missing.len());
    let bytes: u64 = missing.iter().map(|package| package.size).sum();
    let megabytes = bytes.div_ceil(1_000_000);
    if n_here == n_all {
        format!("continuing an interrupted fetch of rustc {release}: all {n_all} packages are here")
    } else if n_here > 0 {
        format!(
            "continuing an interrupted fetch of rustc {release}: \
             {n_here} of {n_all} packages are here, {megabytes} MB to go"
        )
    } else if run.is_second {
        format!(
            "an interrupted fetch left no whole package; \
             fetching rustc {release} afresh: {n_all} packages, {megabytes} MB"
        )
    } else {
        format!("fetching rustc {release}: {n_all} packages, {megabytes} MB")
    }
}

/// Downloads what is missing. What arrives damaged is fetched a second time.
fn download(
    apt: &Apt<'_>,
    run: &Run,
    packages: &[Package],
    progress: &dyn Progress,
) -> Result<(), String> {
    let total = packages.iter().map(|package| package.size).sum();
    let size = |dir: &Path| -> u64 { leftovers::packages(dir).iter().map(|file| file.1).sum() };
    for _ in 0..2 {
        let missing = run.store.missing(packages);
        if missing.is_empty() {
            return Ok(());
        }
        let downloaded = apt.download(&missing, || {
            progress.bytes(size(&run.path("packages")) + size(apt.dir()), total);
        });
        run.store.take(packages, apt.dir());
        downloaded?;
        for package in run.store.missing(packages) {
            progress.note(&format!("{} arrived damaged", package.name));
        }
    }
    match run.store.missing(packages).first() {
        None => Ok(()),
        Some(package) => Err(format!(
            "{} {} arrived damaged twice: its SHA-256 is not the one in the archive's signed list",
            package.name, package.version
        )),
    }
}

/// Unpacks the packages, tries the compiler and records what it consists of.
fn make(
    locator: &Locator,
    run: &Run,
    selection: &Selection,
    progress: &dyn Progress,
) -> Result<(), String> {
    let dir = run.path("unpacked");
    let say = |e: io::Error| format!("{} cannot be written: {e}", dir.display());
    fs::create_dir(&dir).map_err(say)?;
    let files: Vec<_> = selection
        .packages
        .iter()
        .map(|package| (package.name.as_str(), run.store.path(package)))
        .collect();
    let rustc = unpack::unpack(locator, &files, &dir, progress)?;
    Toolchain::probe(&rustc, Source::Packages)?;
    let of_packages = selection
        .packages
        .iter()
        .map(|package| (package.name.clone(), package.version.clone()))
        .collect();
    Stamp::of(&dir, selection.release.to_string(), of_packages)
        .and_then(|stamp| stamp.write(&dir))
        .map_err(say)
}

/// Renames the compiler to `entry`, where a damaged one may lie.
fn put_in_place(run: &Run, entry: &Path) -> Result<(), String> {
    let say = |e: io::Error| {
        format!(
            "{} cannot be replaced: {e}; remove it, or set LOCKSTEP_CACHE to another folder",
            entry.display()
        )
    };
    if entry.symlink_metadata().is_ok() {
        fs::rename(entry, run.path("replaced"))
            .or_else(|_| leftovers::remove(entry))
            .map_err(say)?;
    }
    fs::rename(run.path("unpacked"), entry).map_err(say)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_the_loader_would_split_is_refused() {
        for good in ["/home/a b/ü", "/a\"b'c", "/100%/#,{}\\"] {
            may_hold_a_compiler(Path::new(good)).unwrap();
        }
        for (bad, what) in [
            ("/a:b", "a `:`"),
            ("/a;b", "a `;`"),
            ("/$ORIGIN", "a `$`"),
            ("/a\nb", "a control character"),
        ] {
            let reason = may_hold_a_compiler(Path::new(bad)).unwrap_err();
            assert!(reason.contains(what), "{reason}");
            assert!(reason.contains("LOCKSTEP_CACHE"), "{reason}");
        }
    }
}
