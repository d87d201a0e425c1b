//! Data behind the directives: the sources, the results, the kernels.

use super::items::{self, Item};
use crate::explain::default_shape;
use crate::report::bench::BenchReport;
use host::registry;
use lesson::Registered;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// The folder of the kernels.
const KERNELS: &str = "gpu-kernels/src";
/// Bench results; the first file that has a kernel counts.
const BENCHES: [&str; 2] = [
    "bench/results/h200/bench.json",
    "bench/results/h200/gemm.json",
];

/// Checks whether our program understands a command line; the error says why not.
pub type Understands = fn(&[String]) -> Result<(), String>;

/// The data that the book is made from.
pub struct Facts {
    root: PathBuf,
    has_simulator: bool,
    understands: Understands,
    /// The items of the kernels' crate.
    kernels: Vec<Item>,
    /// Files of bench results.
    benches: Vec<(&'static str, BenchReport)>,
    profiles: Mutex<BTreeMap<&'static str, crate::profile::Profile>>,
    playground: OnceLock<Result<String, String>>,
}

impl Facts {
    /// The data of the repository with this root; whether pages will have the simulator; and
    /// the check for our commands.
    ///
    /// # Errors
    ///
    /// One of its files cannot be read.
    pub fn open(
        root: &Path,
        has_simulator: bool,
        understands: Understands,
    ) -> Result<Self, String> {
        let read = |path: &'static str| Ok((path, BenchReport::read(&root.join(path))?));
        Ok(Self {
            root: root.to_owned(),
            has_simulator,
            understands,
            kernels: items::of_folder(root, KERNELS)?,
            benches: BENCHES
                .into_iter()
                .map(read)
                .collect::<Result<_, String>>()?,
            profiles: Mutex::default(),
            playground: OnceLock::new(),
        })
    }

    /// The repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether pages will have the simulator.
    pub fn has_simulator(&self) -> bool {
        self.has_simulator
    }

    /// Whether our program has such a command.
    ///
    /// # Errors
    ///
    /// It has none; the error is in the program's words.
    pub fn understands(&self, arguments: &[String]) -> Result<(), String> {
        (self.understands)(arguments)
    }

    /// Items of the kernels' crate.
    pub fn kernel_items(&self) -> &[Item] {
        &self.kernels
    }

    /// A file's text, by its path in the repository.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn text(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.root.join(path)).map_err(|error| format!("{path}: {error}"))
    }

    /// The reports that contain times, with their files.
    pub fn benches(&self) -> &[(&'static str, BenchReport)] {
        &self.benches
    }

    /// The simulator's profile of a kernel at its small shape.
    ///
    /// # Errors
    ///
    /// It does not compile, or does not run.
    pub fn with_profile<T>(
        &self,
        kernel: Registered,
        read: impl FnOnce(&crate::profile::Profile) -> T,
    ) -> Result<T, String> {
        let id = kernel.kernel.id;
        let mut profiles = self.profiles.lock().map_err(|error| error.to_string())?;
        if !profiles.contains_key(id) {
            let shape = default_shape(kernel).ok_or("its lesson has no single size")?;
            let module = host::kernels::module_with(id, None).map_err(|error| error.to_string())?;
            let profile = crate::profile::simulate(kernel, &shape, &module)
                .map_err(|error| format!("{id}: {error}"))?
                .ok_or_else(|| format!("{id} was not launched"))?;
            if let Some(trouble) = &profile.trouble {
                return Err(format!("{id}: {}: {}", trouble.label(), trouble.reason()));
            }
            profiles.insert(id, profile);
        }
        let profile = profiles.get(id).ok_or("it was just made")?;
        Ok(read(profile))
    }

    /// The PTX of the live pages' kernels.
    ///
    /// # Errors
    ///
    /// They do not compile.
    pub fn playground(&self) -> Result<&str, String> {
        let made = self.playground.get_or_init(|| {
            let target = cuda_builder::target_dir_of(&self.root);
            let progress = cuda_builder::toolchain::Lines::new(std::io::stderr());
            let path = cuda_builder::KernelCrate::open(self.root.join("book/playground"), target)
                .and_then(|kernels| kernels.ptx(None, &cuda_builder::Arch::new("sm_80"), &progress))
                .map_err(|error| error.to_string())?;
            std::fs::read_to_string(path).map_err(|error| error.to_string())
        });
        made.as_deref().map_err(Clone::clone)
    }
}

/// The kernels that a word names: one, or all of a lesson.
///
/// # Errors
///
/// It names nothing.
pub fn kernels(words: &[String]) -> Result<Vec<Registered>, String> {
    if words.is_empty() {
        return Err("name kernels, or a lesson".to_owned());
    }
    let mut found = Vec::new();
    for word in words {
        match registry::kernel(word) {
            Ok(registered) => found.push(registered),
            Err(registry::NotOne::Lesson { .. }) => {
                found.extend(registry::kernels().filter(|one| one.lesson.id == word));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(found)
}

/// One kernel.
///
/// # Errors
///
/// It names no kernel, or several.
pub fn kernel(word: &str) -> Result<Registered, String> {
    registry::kernel(word).map_err(|error| error.to_string())
}
