//! Compilation of kernels while cargo builds the host's side: of all, when neither is there yet, or
//! of those that a command names, when both have to be compiled again, as after an edit of an index
//! function.
//!
//! The first time, the compiler's own library takes most of that time, for each architecture. Modules
//! that are not compiled when the program is ready are compiled when the program needs them.

use crate::workspace;
use cuda_builder::toolchain::Quiet;
use cuda_builder::{Arch, KernelCrate};
use std::ffi::OsString;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The architectures that the host's program asks for.
const ARCHES: [&str; 2] = ["sm_80", "sm_90a"];

/// Work in flight.
pub struct WarmUp {
    threads: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

/// Says which modules to compile one after another, each for its architecture.
type Choose = Box<dyn FnOnce(&KernelCrate) -> Vec<(String, &'static str)> + Send>;

impl WarmUp {
    /// Starts compiling all modules, one after another for each architecture. Errors are not
    /// reported: the program that needs the module will meet them again.
    pub fn of_all() -> Self {
        let all = |arch| -> Choose {
            Box::new(move |kernels| {
                let modules = kernels.modules().iter();
                modules.map(|module| (module.clone(), arch)).collect()
            })
        };
        Self::start(ARCHES.map(all).into())
    }

    /// The same of the modules that had kernels of these names when they were compiled last.
    pub fn of_kernels(names: &[OsString]) -> Self {
        let names = names.to_vec();
        let named = move |kernels: &KernelCrate| {
            let names = names.iter().filter_map(|name| name.to_str());
            names.filter_map(|name| module_of(kernels, name)).collect()
        };
        Self::start(vec![Box::new(named)])
    }

    /// Starts compiling what is chosen, at the same time.
    fn start(choices: Vec<Choose>) -> Self {
        let target = cuda_builder::target_dir_of(&workspace::root());
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        if let Ok(kernels) = KernelCrate::open(workspace::kernels(), target).map(Arc::new) {
            for choose in choices {
                let (kernels, is_over) = (kernels.clone(), is_over.clone());
                threads.push(std::thread::spawn(move || {
                    for (module, arch) in choose(&kernels) {
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

    /// Starts nothing more, and waits for what has begun.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            let _ = thread.join();
        }
    }
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
