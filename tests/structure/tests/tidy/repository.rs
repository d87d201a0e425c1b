//! The repository's files.

use std::path::{Path, PathBuf};

/// Its root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file's text.
pub fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The folders at the root that git ignores, and those that builds leave anywhere.
fn is_made(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ignored = text(".gitignore");
    let is_ignored = ignored
        .lines()
        .any(|line| line.strip_prefix('/') == Some(path));
    is_ignored || ["target", "node_modules"].contains(&name) || path == "shared"
}

/// All files of a folder, as paths from the root, in order; without what git ignores and
/// without the insides of hidden folders.
pub fn files_below(folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries = std::fs::read_dir(root().join(&folder)).expect("the folder is there");
        for entry in entries {
            let entry = entry.expect("it can be listed");
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = match folder.is_empty() {
                true => name.clone(),
                false => format!("{folder}/{name}"),
            };
            let kind = entry.file_type().expect("it is of a kind");
            if kind.is_dir() && !name.starts_with('.') && !is_made(&path) {
                waiting.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// All Rust files.
pub fn rust_files() -> Vec<String> {
    let mut files = files_below("");
    files.retain(|file| file.ends_with(".rs"));
    files
}

/// All documents.
pub fn documents() -> Vec<String> {
    let mut files = files_below("");
    files.retain(|file| file.ends_with(".md"));
    files
}
