//! Whether the program that was built last is still what the sources say.
//!
//! cargo builds the program again whenever a file of the kernels' crate changes. Of most
//! changes there, to the bodies of kernels, the program sees nothing: it loads their
//! PTX when it runs. So beside the program lies a record of what it was built from, and
//! cargo is only asked when something else changed ([`HostView`]).
//!
//! What counts: every file that cargo's own note (`lockstep.d`) names, the manifests
//! above them, the settings of cargo and rustup in the repository, the environment's
//! variables for them, and the program's own file.

use crate::host_view::HostView;
use crate::workspace;
use cuda_builder::{dep_info, nanoseconds, state};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the program was built from. Paths are relative to the repository where they can
/// be, so that a checkout that is moved or copied is still the same.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    inputs: BTreeMap<PathBuf, State>,
    /// The program.
    program: State,
    /// What the host sees of the kernels.
    view: u64,
    environment: u64,
}

/// A file's size in bytes and time of the last change in nanoseconds.
type State = Option<(u64, u128)>;

/// The folder whose changes [`HostView`] judges.
const KERNELS: &str = "gpu-kernels/src";

/// Settings of cargo and rustup.
const SETTINGS: [&str; 4] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
];

impl Record {
    /// Of a program that cargo built just now, starting at `started`; none if cargo left
    /// no note, or a source changed meanwhile.
    pub fn of(program: &Path, started: SystemTime) -> Option<Self> {
        let root = workspace::root();
        let note = std::fs::read_to_string(program.with_extension("d")).ok()?;
        let mut files = dep_info::sources(&note);
        let manifests: Vec<PathBuf> = files
            .iter()
            .flat_map(|file| file.ancestors())
            .filter(|dir| dir.starts_with(&root))
            .map(|dir| dir.join("Cargo.toml"))
            .filter(|manifest| manifest.is_file())
            .collect();
        files.extend(manifests);
        files.extend(SETTINGS.map(|file| root.join(file)));
        let inputs: BTreeMap<PathBuf, State> = files
            .iter()
            .map(|file| (relative(file, &root), state(file)))
            .collect();
        let started = nanoseconds(started);
        let is_older = |state: &State| state.is_none_or(|(_, changed)| changed < started);
        inputs.values().all(is_older).then_some(())?;
        Some(Self {
            inputs,
            program: state(program),
            view: view(&root)?,
            environment: environment(),
        })
    }

    /// Reads the record beside a program.
    pub fn read(program: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path(program)).ok()?).ok()
    }

    /// Writes the record beside a program. Without one, cargo is asked the next time.
    pub fn write(&self, program: &Path) {
        if let Ok(text) = serde_json::to_vec(self) {
            let _ = std::fs::write(path(program), text);
        }
    }

    /// Removes the record beside a program, which is about to be built.
    pub fn remove(program: &Path) {
        let _ = std::fs::remove_file(path(program));
    }

    /// Whether the program is what cargo would build. If only the device's side of
    /// kernels changed, that is noted in the record.
    pub fn holds(&mut self, program: &Path) -> bool {
        let root = workspace::root();
        if self.program.is_none()
            || self.program != state(program)
            || self.environment != environment()
        {
            return false;
        }
        let changed: Vec<(PathBuf, State)> = self
            .inputs
            .iter()
            .map(|(file, old)| (file, old, state(&root.join(file))))
            .filter(|(_, old, now)| *old != now)
            .map(|(file, _, now)| (file.clone(), now))
            .collect();
        if changed.is_empty() {
            return true;
        }
        let are_kernels = changed
            .iter()
            .all(|(file, now)| now.is_some() && file.starts_with(KERNELS));
        if !are_kernels || view(&root) != Some(self.view) {
            return false;
        }
        self.inputs.extend(changed);
        self.write(program);
        true
    }
}

fn path(program: &Path) -> PathBuf {
    program.with_extension("built.json")
}

fn view(root: &Path) -> Option<u64> {
    HostView::of(&root.join(KERNELS), &root.join("host/src"))
        .ok()
        .map(|view| view.0)
}

fn relative(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).into()
}

/// Beginnings of the variables by which cargo and rustc would build something else.
const SETTING_VARIABLES: [&str; 7] = [
    "CARGO_BUILD_",
    "CARGO_ENCODED_",
    "CARGO_INCREMENTAL",
    "CARGO_PROFILE_",
    "CARGO_TARGET",
    "RUSTC",
    "RUSTFLAGS",
];

/// Those of this process, as one number.
fn environment() -> u64 {
    let mut variables: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            SETTING_VARIABLES
                .iter()
                .any(|start| name.starts_with(start))
        })
        .collect();
    variables.sort();
    let mut hasher = DefaultHasher::new();
    variables.hash(&mut hasher);
    hasher.finish()
}
