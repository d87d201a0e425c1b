//! `core` and the few packages that `cuda_std` needs, compiled once for each architecture and kept
//! next to the compiler.
//!
//! Compiling them takes longer than most kernel crates, and the result is the same for every
//! project. What cargo made for one target folder is put into the next before cargo looks: cargo
//! checks it like its own work, and recompiles what does not fit.
//!
//! ```text
//! CACHE/core/sm_80-290f96de/     settings as in `Nested::profile_name`
//!     nvptx64-nvidia-cuda/sm_80-290f96de/{deps,build,.fingerprint}/…
//!     sm_80-290f96de/{deps,build,.fingerprint}/…
//! ```
//!
//! Nothing here can fail a build: if the cache cannot be read or written, cargo compiles.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};

/// The packages that every kernel crate is compiled with, in addition to ours: those that come with
/// the compiler, and those of `cuda_std` and its macros. Packages with hyphens are listed under
/// both of their names.
const PACKAGES: [&str; 9] = [
    "core",
    "compiler_builtins",
    "libm",
    "proc-macro2",
    "proc_macro2",
    "quote",
    "syn",
    "unicode-ident",
    "unicode_ident",
];

/// Where a package's files are in one of cargo's folders. What makes the rest count comes last.
const KINDS: [&str; 3] = ["deps", "build", ".fingerprint"];

/// How many sets of settings are kept; the oldest is removed.
const MOST: usize = 4;

/// Prefix of a set's folder while it is being written.
const UNFINISHED: &str = "unfinished-";

/// The compiled `core` of one set of settings.
pub(crate) struct BuiltCore<'a> {
    /// The folder in the cache for all settings.
    pub cache: &'a Path,
    /// The folder that cargo builds in.
    pub target_dir: &'a Path,
    /// The settings, as a name.
    pub profile: &'a str,
    /// The target that rustc compiles kernels for.
    pub target: &'a str,
}

impl BuiltCore<'_> {
    /// Puts what is kept into the target folder, unless cargo has been there.
    pub fn lay_out(&self) {
        let is_new = !self.target_dir.join(self.for_device()).exists();
        let kept = self.cache.join(self.profile);
        if is_new && kept.is_dir() {
            // A partial copy has no fingerprint yet: to cargo it is not there.
            let _ = self.copy(&kept, self.target_dir);
        }
    }

    /// Keeps what cargo made, unless it is already kept.
    pub fn keep(&self) {
        let kept = self.cache.join(self.profile);
        if self
            .cores(self.target_dir)
            .any(|core| !kept.join(core).exists())
        {
            // If this fails, the next project's cargo compiles.
            let _ = self.store();
        }
    }

    /// The fingerprints of `core` in a target folder, whose names tell compilers apart.
    fn cores(&self, target_dir: &Path) -> impl Iterator<Item = PathBuf> {
        let folder = self.for_device().join(".fingerprint");
        let entries = fs::read_dir(target_dir.join(&folder));
        let names = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.file_name());
        let cores = names.filter(|name| name.to_string_lossy().starts_with("core-"));
        cores.map(move |name| folder.join(name))
    }

    fn for_device(&self) -> PathBuf {
        Path::new(self.target).join(self.profile)
    }

    fn store(&self) -> io::Result<()> {
        fs::create_dir_all(self.cache)?;
        let unfinished = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(self.cache)?;
        self.copy(self.target_dir, unfinished.path())?;
        let kept = self.cache.join(self.profile);
        if kept.exists() {
            fs::remove_dir_all(&kept)?;
        }
        fs::rename(unfinished.path(), &kept)?;
        self.remove_oldest()
    }

    /// Removes the oldest sets beyond [`MOST`].
    fn remove_oldest(&self) -> io::Result<()> {
        let mut sets = Vec::new();
        for entry in fs::read_dir(self.cache)? {
            let entry = entry?;
            sets.push((entry.metadata()?.modified()?, entry.path()));
        }
        sets.sort();
        for (_, path) in sets.iter().rev().skip(MOST) {
            fs::remove_dir_all(path)?;
        }
        Ok(())
    }

    /// Copies the packages' files between a target folder and the cache.
    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        for folder in [PathBuf::from(self.profile), self.for_device()] {
            for kind in KINDS {
                copy_packages(&from.join(&folder).join(kind), &to.join(&folder).join(kind))?;
            }
        }
        Ok(())
    }
}

/// Copies the entries of a folder that belong to the packages.
fn copy_packages(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_of_package(&name.to_string_lossy()) {
            fs::create_dir_all(to)?;
            copy_all(&entry.path(), &to.join(name))?;
        }
    }
    Ok(())
}

/// Whether an entry is a package's: `libcore-f821e4f0029c0068.rlib`, `core-f821e4f0029c0068`.
fn is_of_package(entry: &str) -> bool {
    let stem = entry.split('.').next().unwrap_or(entry);
    stem.rsplit_once('-').is_some_and(|(name, hash)| {
        let library = name.strip_prefix("lib").unwrap_or(name);
        hash.len() == 16 && (PACKAGES.contains(&name) || PACKAGES.contains(&library))
    })
}

/// Copies a file, or a folder with everything in it, with its modification times, which cargo
/// judges by. Libraries, which make up nearly all of it and which rustc replaces and never changes,
/// are shared where the file system can do that.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::metadata(from)?;
    if metadata.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    let is_library = from
        .extension()
        .is_some_and(|e| e == "rlib" || e == "rmeta");
    if is_library && to.exists() {
        // It may be shared already: written to, it would change in the cache, too.
        fs::remove_file(to)?;
    }
    if !(is_library && fs::hard_link(from, to).is_ok()) {
        fs::copy(from, to)?;
    }
    let copy = File::options().write(true).open(to)?;
    copy.set_times(FileTimes::new().set_modified(metadata.modified()?))?;
    // Its name alone marks it as complete, even after a power failure.
    copy.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "f821e4f0029c0068";

    #[test]
    fn only_what_all_kernels_need_is_kept() {
        let is_kept = |name: &str| is_of_package(&name.replace('#', HASH));
        assert!(is_kept("libcore-#.rlib") && is_kept("libcore-#.rmeta") && is_kept("core-#.d"));
        assert!(is_kept("compiler_builtins-#") && is_kept("libcompiler_builtins-#.rlib"));
        assert!(is_kept("libm-#") && is_kept("liblibm-#.rlib") && is_kept("proc-macro2-#"));
        for name in [
            "libkernels-#.rlib",
            "my-core-#",
            "core-graphics-#",
            "core.d",
            "core-1.2",
        ] {
            assert!(!is_kept(name), "{name}");
        }
    }

    #[test]
    fn a_new_target_folder_gets_what_another_one_had() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (root.path().join("first"), root.path().join("second"));
        let cache = root.path().join("cache");
        let core = |target_dir| BuiltCore {
            cache: &cache,
            target_dir,
            profile: "sm_80-00c0ffee",
            target: "nvptx64-nvidia-cuda",
        };
        let write = |path: PathBuf| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "made").unwrap();
        };
        let folder = Path::new("nvptx64-nvidia-cuda/sm_80-00c0ffee");
        let library = folder.join(format!("deps/libcore-{HASH}.rlib"));
        let fingerprint = folder.join(format!(".fingerprint/core-{HASH}/lib-core"));
        let script = format!("sm_80-00c0ffee/build/compiler_builtins-{HASH}/build-script-build");
        let kernels = folder.join(format!("deps/libkernels-{HASH}.rlib"));

        for path in [&library, &fingerprint, Path::new(&script), &kernels] {
            write(first.join(path));
        }
        core(&first).keep();
        core(&second).lay_out();
        for path in [&library, &fingerprint, Path::new(&script)] {
            let changed = |dir: &Path| fs::metadata(dir.join(path)).unwrap().modified().unwrap();
            assert_eq!(changed(&second), changed(&first), "{}", path.display());
        }
        assert!(!second.join(&kernels).exists());

        // Laid out once more over a part of it, nothing is lost.
        let host = Path::new("sm_80-00c0ffee/deps").join(format!("libsyn-{HASH}.rlib"));
        write(cache.join("sm_80-00c0ffee").join(&host));
        for _ in 0..2 {
            fs::remove_dir_all(second.join("nvptx64-nvidia-cuda")).unwrap();
            core(&second).lay_out();
        }
        for root in [&cache.join("sm_80-00c0ffee"), &second] {
            for path in [&host, &library] {
                assert_eq!(fs::read(root.join(path)).unwrap(), b"made");
            }
        }

        // Another compiler's has another name.
        let newer = fingerprint
            .to_string_lossy()
            .replace(HASH, "0123456789abcdef");
        write(second.join(&newer));
        core(&second).keep();
        assert!(cache.join("sm_80-00c0ffee").join(newer).exists());
    }

    #[test]
    fn the_oldest_settings_go() {
        let root = tempfile::tempdir().unwrap();
        let (target_dir, cache) = (root.path().join("target"), root.path().join("cache"));
        for i in 0..MOST + 2 {
            let profile = format!("sm_{i}");
            let core = BuiltCore {
                cache: &cache,
                target_dir: &target_dir,
                profile: &profile,
                target: "nvptx64-nvidia-cuda",
            };
            core.store().unwrap();
            let made = cache.join(&profile);
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(i as u64);
            File::open(made).unwrap().set_modified(time).unwrap();
        }
        assert_eq!(fs::read_dir(&cache).unwrap().count(), MOST);
        assert!(!cache.join("sm_0").exists());
    }
}
