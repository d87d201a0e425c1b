//! Every Rust file says first what it is.

use crate::repository::{rust_files, text};

/// Whether a file's text begins with documentation of the file.
fn has_head(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let included = first.starts_with("#![doc = include_str!(");
    included || (first.starts_with("//! ") && first.len() > "//! ".len())
}

#[test]
fn every_file_begins_with_what_it_is() {
    let files = rust_files();
    assert!(files.len() > 500, "only {} files", files.len());
    let headless: Vec<&String> = files.iter().filter(|file| !has_head(&text(file))).collect();
    assert!(headless.is_empty(), "no `//!` at the top: {headless:#?}");
}

#[test]
fn a_file_without_a_head_is_found() {
    assert!(has_head("//! A lesson.\n\nfn main() {}\n"));
    assert!(has_head("#![doc = include_str!(\"../README.md\")]\n"));
    for text in [
        "",
        "fn main() {}\n",
        "//!\n",
        "// A lesson.\n",
        "\n//! Late.\n",
    ] {
        assert!(!has_head(text), "{text}");
    }
}
