//! PTX for tests: the catalogue's by architecture, and that of the test's own crates.
//! All of it is compiled when a test first asks for it.

use cuda_builder::toolchain::Lines;
use cuda_builder::{Arch, KernelCrate};
use host::kernels;
use lockstep::engine::PtxModule;
use ptx_sim::ir::Module;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The repository's root, determined when a test runs: a checkout may have been moved.
pub fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let package = PathBuf::from(package);
    let root = package.parent().expect("the package is in a workspace");
    root.to_path_buf()
}

/// The PTX of the crate `broken-kernels`.
pub fn broken() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| of_crate("broken-kernels"))
}

/// The PTX of the crate `library-kernels`.
pub fn library() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| of_crate("library-kernels"))
}

fn of_crate(name: &str) -> String {
    let target = cuda_builder::target_dir_of(&root());
    let path = KernelCrate::open(root().join("tests").join(name), target)
        .and_then(|kernels| {
            let progress = Lines::new(std::io::stderr());
            kernels.ptx(None, &Arch::new("sm_80"), &progress)
        })
        .unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(path).expect("it was just made")
}

/// All modules of the catalogue, not yet compiled.
pub fn modules() -> Vec<PtxModule> {
    kernels::modules().unwrap_or_else(|error| panic!("{error}"))
}

/// The catalogue's modules for an architecture, parsed, with their names.
pub fn parsed(arch: &str) -> Vec<(String, Module)> {
    modules()
        .into_iter()
        .filter(|module| module.target_name() == Some(arch))
        .map(|module| {
            let text = module.text().unwrap_or_else(|error| panic!("{error}"));
            let parsed = ptx_sim::parse::parse(text);
            let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", module.name));
            (module.name, parsed)
        })
        .collect()
}

/// The functions of all those modules, as if in one. Numbers of source files remain those of
/// each module.
pub fn merged(arch: &str) -> Module {
    let mut modules = parsed(arch).into_iter().map(|(_, module)| module);
    let mut all = modules.next().expect("the catalogue has topics");
    for module in modules {
        all.functions.extend(module.functions);
    }
    all
}
