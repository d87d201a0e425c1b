//! From package files to a compiler that can run.

use crate::{Locator, Progress, process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Time limit for unpacking a package.
const PATIENCE: Duration = Duration::from_secs(600);

/// Parts of the packages that a compiler does not need.
const NOT_NEEDED: &[&str] = &["etc", "usr/share", "usr/libexec", "usr/bin/rustdoc", "var"];

/// Unpacks the package files `files` into `dir` and makes `dir/bin/rustc`.
pub(crate) fn unpack(
    locator: &Locator,
    files: &[PathBuf],
    dir: &Path,
    progress: &dyn Progress,
) -> Result<PathBuf, String> {
    let size = |file: &PathBuf| file.metadata().map_or(0, |data| data.len());
    let total = files.iter().map(size).sum();
    let mut done = 0;
    for file in files {
        // Of the sources (450 MB) only the standard library (80 MB) is needed.
        let is_sources = file
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("rust-src_"));
        let script = if is_sources {
            "dpkg-deb --fsys-tarfile \"$1\" | tar -x -C \"$2\" --wildcards './usr/src/rustc-*/library/*'"
        } else {
            "exec dpkg -x \"$1\" \"$2\""
        };
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script, "sh"])
            .args([file, dir])
            .env("PATH", &locator.path)
            .env("LC_ALL", "C");
        process::run(&mut shell, PATIENCE, || {})?;
        done += size(file);
        progress.bytes(done, total);
    }
    for part in NOT_NEEDED {
        let path = dir.join(part);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
    link_library(dir)?;
    write_launcher(dir)
}

/// Puts the library where rustc and cargo look for it.
fn link_library(dir: &Path) -> Result<(), String> {
    let sources = only_entry(&dir.join("usr/src"), "rustc-")
        .ok_or("the package rust-src holds no usr/src/rustc-*")?;
    let parent = dir.join("usr/lib/rustlib/src");
    let link = parent.join("rust");
    let say = |e: std::io::Error| format!("{} cannot be made: {e}", link.display());
    fs::create_dir_all(&parent).map_err(say)?;
    if link.is_symlink() {
        fs::remove_file(&link).map_err(say)?;
    }
    // Moved, not linked: paths in messages then need no resolving.
    fs::rename(&sources, &link).map_err(say)?;
    let _ = fs::remove_dir_all(dir.join("usr/src"));
    Ok(())
}

/// The only entry of a folder whose name begins with `start`.
fn only_entry(dir: &Path, start: &str) -> Option<PathBuf> {
    let mut entries = fs::read_dir(dir).ok()?.flatten();
    entries
        .find(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
}

/// A script that starts rustc with the loader from its packages: its C library
/// may be newer than the system's.
fn write_launcher(dir: &Path) -> Result<PathBuf, String> {
    let libraries = fs::read_dir(dir.join("usr/lib"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| only_entry(path, "ld-linux").is_some())
        .ok_or("the package libc6 holds no loader (usr/lib/*/ld-linux*)")?;
    let loader = only_entry(&libraries, "ld-linux").ok_or("the loader is gone")?;
    let relative = |path: &Path| path.strip_prefix(dir).unwrap_or(path).display().to_string();
    let script = format!(
        "#!/bin/sh\n\
         # rustc, started by the loader and the libraries that it was built with.\n\
         here=$(cd \"${{0%/*}}/..\" && pwd -P) || exit 1\n\
         exec \"$here/{}\" --library-path \"$here/{}\" \"$here/usr/bin/rustc\" --sysroot \"$here/usr\" \"$@\"\n",
        relative(&loader),
        relative(&libraries),
    );
    let launcher = dir.join("bin/rustc");
    let say = |e: std::io::Error| format!("{} cannot be written: {e}", launcher.display());
    // `bin` may exist already, as a link to usr/bin.
    if dir.join("bin").is_symlink() {
        fs::remove_file(dir.join("bin")).map_err(say)?;
    }
    fs::create_dir_all(dir.join("bin")).map_err(say)?;
    fs::write(&launcher, script).map_err(say)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).map_err(say)?;
    }
    Ok(launcher)
}
