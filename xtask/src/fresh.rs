//! A check whether the last built program still serves although sources have changed since.
//!
//! cargo rebuilds the program whenever a file of the kernels' crate changes. Most changes there are
//! to the bodies of kernels, which the program does not see: it loads their PTX when it runs. So
//! what it saw of them ([`host_view`]) is kept next to the program, and cargo is not asked if
//! nothing else has changed since the program was linked.
//!
//! Its inputs are every file that cargo's dependency file (`lockstep.d`) names, the manifests above
//! them, cargo's settings in the repository, and this program, which cargo rebuilds for other
//! environment variables.

use crate::host_view::host_view;
use crate::workspace;
use cuda_builder::dep_info;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder whose changes [`host_view`] judges.
const KERNELS: &str = "gpu-kernels/src";

/// The view of the kernels of a program that is about to be built.
pub fn view() -> Option<String> {
    let view = host_view(&workspace::root().join(KERNELS)).ok()?;
    Some(view.to_string())
}

/// Notes what the built program saw. Without a note, cargo is asked the next time.
pub fn record(program: &Path, view: Option<&str>) {
    let note = note(program);
    let _ = match view {
        Some(view) => fs::write(note, view),
        None => fs::remove_file(note),
    };
}

/// Whether only bodies of kernels have changed since the program was linked.
pub fn only_bodies_changed(program: &Path) -> bool {
    let kernels = workspace::root().join(KERNELS);
    let is_a_kernels = |file: &PathBuf| file.starts_with(&kernels) && file.exists();
    changed_since_linked(program)
        .is_some_and(|changed| !changed.is_empty() && changed.iter().all(is_a_kernels))
        // An older note is about another program.
        && changed_at(&note(program)) >= changed_at(program)
        && fs::read_to_string(note(program)).ok() == view()
}

fn note(program: &Path) -> PathBuf {
    program.with_extension("view")
}

/// Inputs of the program that are newer than it, or gone.
fn changed_since_linked(program: &Path) -> Option<Vec<PathBuf>> {
    let linked = changed_at(program)?;
    let root = workspace::root();
    let mut files = dep_info::sources(&fs::read_to_string(program.with_extension("d")).ok()?);
    let mut folders: Vec<&Path> = files
        .iter()
        .flat_map(|file| file.ancestors().skip(1))
        .filter(|dir| dir.starts_with(&root))
        .collect();
    folders.sort();
    folders.dedup();
    let manifests: Vec<PathBuf> = folders
        .iter()
        .map(|dir| dir.join("Cargo.toml"))
        .filter(|manifest| manifest.exists())
        .collect();
    files.extend(manifests);
    let settings = ["Cargo.lock", "rust-toolchain.toml", ".cargo/config.toml"];
    files.extend(settings.map(|file| root.join(file)));
    files.extend(std::env::current_exe());
    files.retain(|file| changed_at(file).is_none_or(|changed| changed > linked));
    Some(files)
}

fn changed_at(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|data| data.modified()).ok()
}
