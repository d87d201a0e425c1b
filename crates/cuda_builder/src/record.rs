//! A record of a PTX file's inputs, so that it is remade only when they have changed.
//!
//! A record names every input with its size and time, as they were when the PTX was made. Paths are
//! relative to the kernel crate, so that a folder that is moved, or copied with its times, needs no
//! recompilation.
//!
//! Left out: packages from a registry. `Cargo.lock` is an input, and names them.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What shapes the PTX besides inputs and settings: the text of this crate.
const MAKERS: [&str; 6] = [
    include_str!("cargo.rs"),
    include_str!("debug_info.rs"),
    include_str!("inlining.rs"),
    include_str!("nested.rs"),
    include_str!("record.rs"),
    include_str!("requests.rs"),
];

/// The inputs of a PTX file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Everything except files that the PTX depends on, in one text.
    settings: String,
    inputs: Vec<Input>,
}

/// A file, as it was.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Input {
    /// Relative to the kernel crate if they have a folder in common.
    path: PathBuf,
    /// Size in bytes and time of the last change in nanoseconds; `None` if the file changed while
    /// the PTX was made.
    state: Option<(u64, u128)>,
}

/// `settings` with what this crate adds to them.
pub(crate) fn settings(settings: &str) -> String {
    let makers = MAKERS.iter().flat_map(|text| text.bytes());
    // FNV-1a is the same in every build; the standard library's hashers need not be.
    let hash = makers.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{settings}, by {hash:016x}")
}

impl Record {
    /// Records the inputs of PTX that was begun at `started`.
    pub fn of(
        settings: String,
        crate_dir: &Path,
        inputs: impl IntoIterator<Item = PathBuf>,
        started: SystemTime,
    ) -> Self {
        let mut inputs: Vec<PathBuf> = inputs.into_iter().collect();
        inputs.sort();
        inputs.dedup();
        let inputs = inputs
            .iter()
            .map(|path| Input {
                path: relative(path, crate_dir),
                state: state(path).filter(|&(_, changed)| changed < nanoseconds(started)),
            })
            .collect();
        Self { settings, inputs }
    }

    /// Reads the record in `path`; `None` if it cannot be read.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Writes the record to `path`.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_vec(self)?)
    }

    /// Whether nothing has changed.
    pub fn holds(&self, settings: &str, crate_dir: &Path) -> bool {
        let is_unchanged = |input: &Input| {
            input.state.is_some() && input.state == state(&crate_dir.join(&input.path))
        };
        self.settings == settings && self.inputs.iter().all(is_unchanged)
    }
}

/// A file's size in bytes and the time of its last change in nanoseconds.
fn state(path: &Path) -> Option<(u64, u128)> {
    let data = fs::metadata(path).ok()?;
    Some((data.len(), nanoseconds(data.modified().ok()?)))
}

/// A time in the form of [`state`].
fn nanoseconds(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos())
}

/// `path` relative to the folder `from`, both absolute; unchanged if they have nothing in common
/// but the root.
pub(crate) fn relative(path: &Path, from: &Path) -> PathBuf {
    let common = path
        .components()
        .zip(from.components())
        .take_while(|(a, b)| a == b)
        .count();
    let is_apart = path
        .components()
        .take(common)
        .all(|part| matches!(part, Component::RootDir | Component::Prefix(_)));
    if is_apart {
        return path.to_path_buf();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Record, relative};
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    /// A crate with one source, and its record.
    fn recorded(started: SystemTime) -> (tempfile::TempDir, PathBuf, Record) {
        let dir = tempfile::tempdir().unwrap();
        let crate_dir = dir.path().join("kernels");
        fs::create_dir_all(crate_dir.join("src")).unwrap();
        let source = crate_dir.join("src/lib.rs");
        fs::write(&source, "one").unwrap();
        let record = Record::of("sm_80".into(), &crate_dir, [source.clone()], started);
        (dir, source, record)
    }

    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_secs(1)
    }

    #[test]
    fn it_holds_until_something_changes() {
        let (dir, source, record) = recorded(later());
        let crate_dir = dir.path().join("kernels");
        assert!(record.holds("sm_80", &crate_dir));
        assert!(!record.holds("sm_90", &crate_dir));
        fs::write(&source, "other").unwrap();
        assert!(!record.holds("sm_80", &crate_dir), "another size");
        fs::remove_file(&source).unwrap();
        assert!(!record.holds("sm_80", &crate_dir), "gone");
    }

    #[test]
    fn the_same_size_at_another_time_is_a_change() {
        let (dir, source, record) = recorded(later());
        fs::write(&source, "two").unwrap();
        let file = fs::File::options().write(true).open(&source).unwrap();
        file.set_modified(later()).unwrap();
        assert!(!record.holds("sm_80", &dir.path().join("kernels")));
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_trusted() {
        let (dir, _, record) = recorded(SystemTime::now() - Duration::from_secs(60));
        assert!(!record.holds("sm_80", &dir.path().join("kernels")));
    }

    #[test]
    fn a_folder_that_was_moved_is_the_same() {
        let (dir, _, record) = recorded(later());
        let moved = dir.path().join("moved");
        fs::rename(dir.path().join("kernels"), &moved).unwrap();
        let file = dir.path().join("record.json");
        record.write(&file).unwrap();
        assert!(Record::read(&file).unwrap().holds("sm_80", &moved));
        fs::write(&file, "{").unwrap();
        assert_eq!(Record::read(&file), None);
    }

    #[test]
    fn paths_are_seen_from_the_crate() {
        let from = Path::new("/w/kernels");
        for (path, expected) in [
            ("/w/kernels/src/lib.rs", "src/lib.rs"),
            ("/w/crates/std/src/lib.rs", "../crates/std/src/lib.rs"),
            ("/elsewhere/lib.rs", "/elsewhere/lib.rs"),
        ] {
            assert_eq!(relative(Path::new(path), from), Path::new(expected));
        }
    }
}
