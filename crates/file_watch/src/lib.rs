//! Change detection for sources, by polling.
//!
//! Files are checked a few times per second, by their times and sizes: that works for every
//! editor and file system, and for a few hundred files its cost is too small to measure.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often the sources are checked.
pub const INTERVAL: Duration = Duration::from_millis(150);

/// The state of some sources and manifests.
pub struct Snapshot {
    root: PathBuf,
    parts: Vec<PathBuf>,
    files: States,
}

/// By path from the root: the time of the last change, and the size.
type States = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

impl Snapshot {
    /// The state of `parts` below `root`: files, and folders with all their contents except
    /// build outputs (`target`).
    pub fn of(root: PathBuf, parts: Vec<PathBuf>) -> Self {
        let mut files = States::new();
        for part in &parts {
            let part = root.join(part);
            match part.is_dir() {
                true => add_sources(&part, &root, &mut files),
                false => add(&part, &root, &mut files),
            }
        }
        Self { root, parts, files }
    }

    /// The first file that has changed.
    pub fn changed(&self) -> Option<PathBuf> {
        let now = Self::of(self.root.clone(), self.parts.clone()).files;
        let is_other = |file: &&PathBuf| self.files.get(*file) != now.get(*file);
        self.files.keys().chain(now.keys()).find(is_other).cloned()
    }

    /// Waits until a file changes, and then until it stops changing: editors write in
    /// several steps.
    pub fn wait_for_change(&self) -> PathBuf {
        loop {
            std::thread::sleep(INTERVAL);
            if let Some(file) = self.settled_change() {
                return file;
            }
        }
    }

    /// The first file that has changed, after a moment for its editor to finish.
    pub fn settled_change(&self) -> Option<PathBuf> {
        let file = self.changed()?;
        std::thread::sleep(INTERVAL / 3);
        Some(file)
    }
}

/// The sources and manifests below `dir`, by their paths from `root`.
fn add_sources(dir: &Path, root: &Path, files: &mut States) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != "target" {
                add_sources(&path, root, files);
            }
            continue;
        }
        if path.extension().is_some_and(|e| e == "rs" || e == "toml") {
            add(&path, root, files);
        }
    }
}

/// Adds a file, if it exists.
fn add(path: &Path, root: &Path, files: &mut States) {
    let Ok(data) = path.metadata() else { return };
    let state = data.modified().ok().map(|time| (time, data.len()));
    files.insert(path.strip_prefix(root).unwrap_or(path).into(), state);
}

#[cfg(test)]
mod tests {
    use super::Snapshot;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn snapshot(root: &Path) -> Snapshot {
        let folders = ["gpu-kernels", "crates", "host", "one.txt"];
        Snapshot::of(root.into(), folders.map(PathBuf::from).into())
    }

    #[test]
    fn a_changed_a_new_and_a_removed_source_are_seen_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_path_buf();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("gpu-kernels/src/lib.rs", "one");
        write("crates/std/target/debug/lib.rs", "one");
        let seen = snapshot(&root);
        assert_eq!(seen.changed(), None);
        write("crates/std/target/debug/lib.rs", "another");
        write("gpu-kernels/notes.txt", "not a source");
        write("elsewhere/lib.rs", "not watched");
        assert_eq!(seen.changed(), None);

        write("gpu-kernels/src/lib.rs", "another");
        let changed = seen.changed().unwrap();
        assert_eq!(changed, std::path::Path::new("gpu-kernels/src/lib.rs"));
        let seen = snapshot(&root);
        write("host/src/new.rs", "");
        assert!(seen.changed().is_some());
        let seen = snapshot(&root);
        fs::remove_file(root.join("host/src/new.rs")).unwrap();
        assert!(seen.changed().is_some());
        // A file that is named explicitly counts, whatever its extension.
        let seen = snapshot(&root);
        write("one.txt", "new");
        assert_eq!(seen.changed().unwrap(), Path::new("one.txt"));
    }
}
