//! Compilers made of packages, in a folder shared by all clones.
//!
//! ```text
//! CACHE/rustc-1.97.1-amd64/    a compiler: bin/rustc, usr/…, stamp.json
//! CACHE/rustc-….partial/       one being unpacked; renamed when it is whole
//! CACHE/fetch/                 apt's state and the packages, until they are unpacked
//! CACHE/lock                   held by the one process that fetches
//! ```

use super::apt::{Apt, Selection};
use super::progress::Progress;
use super::stamp::Stamp;
use super::{Locator, Source, Toolchain, ToolchainError, is_on_path, process, sources, unpack};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How closely a compiler in the cache is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// Every file is there with its size.
    Quick,
    /// Every byte is as recorded.
    Thorough,
}

/// Where the compilers are looked for: the suites of Debian that have a new one.
const SUITES: [&str; 2] = ["sid", "testing"];

/// The best compiler in the cache: the pinned release, or else the newest.
pub(super) fn find(locator: &Locator, verification: Verification) -> Option<Toolchain> {
    let mut found: Vec<Toolchain> = fs::read_dir(&locator.cache_dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_entry(path))
        .filter_map(|path| check(&path, verification).ok())
        .collect();
    let is_pinned = |toolchain: &Toolchain| toolchain.release.to_string() == locator.pin.channel;
    found.sort_by_key(|toolchain| (is_pinned(toolchain), toolchain.release));
    found.pop()
}

fn is_entry(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rustc-") && !name.ends_with(".partial")
}

fn check(dir: &Path, verification: Verification) -> Result<Toolchain, String> {
    let stamp = Stamp::read(dir).ok_or("it has no record of its files")?;
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
        .inspect_err(|_| {
            let _ = fs::remove_dir_all(dir);
        })
}

/// Waits until no other process fetches.
pub(super) fn lock(locator: &Locator, progress: &dyn Progress) -> Result<File, ToolchainError> {
    let failed = |path: &Path, source| ToolchainError::Cache {
        path: path.into(),
        source,
    };
    fs::create_dir_all(&locator.cache_dir).map_err(|e| failed(&locator.cache_dir, e))?;
    let path = locator.cache_dir.join("lock");
    let file = File::create(&path).map_err(|e| failed(&path, e))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            progress.step("another build is fetching the kernels' compiler; waiting for it");
            file.lock().map_err(|e| failed(&path, e))?;
        }
        Err(fs::TryLockError::Error(e)) => return Err(failed(&path, e)),
    }
    Ok(file)
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
    Ok(())
}

/// Fetches the packages and makes a compiler of them. The caller holds the lock.
///
/// # Errors
///
/// Why it cannot be done, in words.
pub(super) fn fill(locator: &Locator, progress: &dyn Progress) -> Result<Toolchain, String> {
    is_usable(locator)?;
    let architecture = architecture(locator)?;
    let archives = sources::archives(&locator.apt_dir);
    let fetch = locator.cache_dir.join("fetch");
    progress.step("looking for the kernels' compiler in the distribution's packages");
    let mut offers: Vec<(Apt<'_>, Selection)> = Vec::new();
    let mut reasons = Vec::new();
    // The pinned release wherever it is; otherwise the first that serves.
    'search: for archive in &archives {
        for suite in SUITES {
            let apt = Apt::new(locator, &fetch, archive, suite, &architecture)?;
            match apt.update().and_then(|()| apt.select()) {
                Ok(selection) => {
                    let is_pinned = selection.release.to_string() == locator.pin.channel;
                    offers.insert(if is_pinned { 0 } else { offers.len() }, (apt, selection));
                    if is_pinned {
                        break 'search;
                    }
                }
                Err(reason) => reasons.push(format!("{suite}: {reason}")),
            }
        }
        if !offers.is_empty() {
            break;
        }
    }
    let Some((apt, selection)) = offers.first() else {
        reasons.dedup();
        return Err(reasons.join("\n  "));
    };

    let n_packages = selection.packages.len();
    progress.step(&format!(
        "fetching rustc {} ({n_packages} packages)",
        selection.release
    ));
    let files = apt.download(&selection.packages, progress)?;

    let release = selection.release;
    let entry = locator
        .cache_dir
        .join(format!("rustc-{release}-{architecture}"));
    let partial = locator
        .cache_dir
        .join(format!("rustc-{release}-{architecture}.partial"));
    progress.step(&format!(
        "unpacking rustc {release} into {}",
        entry.display()
    ));
    let say = |what: &'static str, path: &Path| {
        let path: PathBuf = path.into();
        move |e: io::Error| {
            format!(
                "{} cannot be {what}: {e} (LOCKSTEP_CACHE names another folder)",
                path.display()
            )
        }
    };
    remove(&partial).map_err(say("removed", &partial))?;
    fs::create_dir_all(&partial).map_err(say("created", &partial))?;
    let made = unpack::unpack(locator, &files, &partial, progress)
        .and_then(|rustc| Toolchain::probe(&rustc, Source::Packages))
        .and_then(|_| {
            let packages = selection
                .packages
                .iter()
                .map(|p| (p.name.clone(), p.version.clone()));
            Stamp::of(&partial, release.to_string(), packages.collect())
                .and_then(|stamp| stamp.write(&partial))
                .map_err(say("recorded", &partial))
        });
    if let Err(reason) = made {
        // The files were whole, so what is wrong is here; a disk that is full
        // should not stay full because of us.
        let _ = remove(&partial);
        return Err(reason);
    }
    remove(&entry).map_err(say("removed", &entry))?;
    fs::rename(&partial, &entry).map_err(say("renamed", &partial))?;
    let _ = remove(&fetch);
    check(&entry, Verification::Quick)
}

fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Debian's name of this machine's architecture.
fn architecture(locator: &Locator) -> Result<String, String> {
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--print-architecture").env("PATH", &locator.path);
    let patience = process::Patience {
        total: Duration::from_secs(30),
        silence: None,
    };
    Ok(process::run_well(&mut dpkg, &patience, || {})?
        .trim()
        .to_string())
}
