//! Compilation of kernels while cargo builds the host's side: of all, when neither is there yet, or
//! of those that a command names, when both have to be compiled again, as after an edit of an index
//! function.
//!
//! The first time, the compiler's own library takes most of that time, for each architecture. Modules
//! that are not compiled when the program is ready are compiled when the program needs them. So where
//! cargo has all processors to itself, only the one is compiled that the first lesson needs.

use crate::workspace;
use cuda_builder::toolchain::Quiet;
use cuda_builder::{Arch, KernelCrate};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The architectures that the host's program asks for: of all topics, and of those that have kernels
/// for it alone.
const ARCHES: [&str; 2] = ["sm_80", "sm_90a"];
/// What only such kernels' sources say.
const NEEDS_MORE: &str = "target_feature = \"sm_90";

/// Work in flight.
pub struct WarmUp {
    threads: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

/// Modules to compile one after another, each for its architecture.
type Modules = Vec<(String, &'static str)>;

impl WarmUp {
    /// Starts compiling all modules that there are processors for, one after another for each
    /// architecture. Errors are not reported: the program that needs the module will meet them again.
    pub fn of_all() -> Self {
        Self::start(|kernels| {
            let source = |module: &String| source(&workspace::kernels(), module);
            let needs_more =
                |module: &&String| source(module).is_some_and(|s| mentions(s, NEEDS_MORE));
            let mut all = kernels.modules().to_vec();
            all.sort_by_cached_key(source);
            if is_busy_with_cargo() {
                all.truncate(1);
                return vec![for_arch(ARCHES[0], all.iter())];
            }
            let more = for_arch(ARCHES[1], all.iter().filter(needs_more));
            vec![for_arch(ARCHES[0], all.iter()), more]
        })
    }

    /// The same of the modules that had kernels of these names when they were compiled last.
    pub fn of_kernels(names: &[OsString]) -> Self {
        Self::start(|kernels| {
            let names = names.iter().filter_map(|name| name.to_str());
            vec![names.filter_map(|name| module_of(kernels, name)).collect()]
        })
    }

    /// Starts compiling what is chosen: lists of modules at the same time.
    fn start(choose: impl FnOnce(&KernelCrate) -> Vec<Modules>) -> Self {
        let target = cuda_builder::target_dir_of(&workspace::root());
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        if let Ok(kernels) = KernelCrate::open(workspace::kernels(), target).map(Arc::new) {
            for modules in choose(&kernels) {
                let (kernels, is_over) = (kernels.clone(), is_over.clone());
                threads.push(std::thread::spawn(move || {
                    for (module, arch) in modules {
                        let compiled = kernels.ptx(Some(&module), &Arch::new(arch), &Quiet);
                        if compiled.is_err() || is_over.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                }));
            }
        }
        Self { threads, is_over }
    }

    /// Lets what has begun go on, and starts nothing more.
    pub fn start_nothing_more(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether something that has begun goes on.
    pub fn goes_on(&self) -> bool {
        self.threads.iter().any(|thread| !thread.is_finished())
    }

    /// Starts nothing more, and waits for what has begun.
    pub fn end(self) {
        self.start_nothing_more();
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// Whether compiling the program alone keeps the processors busy.
fn is_busy_with_cargo() -> bool {
    std::thread::available_parallelism().is_ok_and(|n| n.get() <= 2)
}

fn for_arch<'a>(arch: &'static str, modules: impl Iterator<Item = &'a String>) -> Modules {
    modules.map(|module| (module.clone(), arch)).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// The source of a topic, numbered as its lesson: `src/10_tensor` or `src/01_copy.rs`.
fn source(kernels: &Path, topic: &str) -> Option<PathBuf> {
    entries(&kernels.join("src")).find(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        name.split_once('_').is_some_and(|(_, name)| name == topic)
    })
}

/// Whether a source file, or one in a folder, contains a text.
fn mentions(source: PathBuf, text: &str) -> bool {
    let mut todo = vec![source];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(entries(&path));
        } else if fs::read_to_string(&path).is_ok_and(|source| source.contains(text)) {
            return true;
        }
    }
    false
}

/// The module that has an entry of this name, and for which architecture.
fn module_of(kernels: &KernelCrate, name: &str) -> Option<(String, &'static str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let entry = format!(".entry {name}(");
    let mut all = ARCHES
        .iter()
        .flat_map(|&arch| kernels.modules().iter().map(move |module| (module, arch)));
    let (module, arch) = all.find(|(module, arch)| {
        let place = kernels.place(Some(module), &Arch::new(arch));
        fs::read_to_string(place).is_ok_and(|text| text.contains(&entry))
    })?;
    Some((module.clone(), arch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_known_that_need_more_than_the_first_architecture() {
        let source = |topic| source(&workspace::kernels(), topic);
        let needs_more = |topic| mentions(source(topic).expect("its source"), NEEDS_MORE);
        assert!(needs_more("tensor") && needs_more("sgemm") && needs_more("gemm"));
        assert!(!needs_more("copy") && !needs_more("transpose"));
        assert!(source("no_such").is_none() && source("copy") < source("atomics"));
    }

    #[test]
    fn a_kernels_module_is_the_one_that_had_it_last() {
        let target = tempfile::tempdir().expect("a folder");
        let kernels = KernelCrate::open(workspace::kernels(), target.path()).expect("the kernels");
        let place = kernels.place(Some("transpose"), &Arch::new("sm_90a"));
        fs::create_dir_all(place.parent().expect("a folder")).expect("it is made");
        fs::write(place, ".visible .entry transpose_swizzled(\n").expect("it is written");
        let found = Some(("transpose".to_owned(), "sm_90a"));
        assert_eq!(module_of(&kernels, "transpose_swizzled"), found);
        for name in ["transpose", "swizzled", "--json", ""] {
            assert_eq!(module_of(&kernels, name), None, "{name}");
        }
    }
}
