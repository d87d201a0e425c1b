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
            let is_made = ["target", "bundle", "lockstep-bench", "shared"].contains(&&*name);
            if kind.is_dir() && !is_made && !name.starts_with('.') {
                waiting.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
