//! Heads of Rust files: each file has one, and it names the file's subject.

use crate::repository::{rust_files, text};

/// First words by which a header asks a question and does not name its subject.
const QUESTIONS: [&str; 9] = [
    "What", "How", "Whether", "Who", "Whose", "Where", "Which", "When", "Why",
];

/// Whether a file's text begins with documentation of the file.
fn has_head(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let included = first.starts_with("#![doc = include_str!(");
    included || (first.starts_with("//! ") && first.len() > "//! ".len())
}

/// The question word by which a file's header opens, if it does.
fn question(text: &str) -> Option<&'static str> {
    let head = text.lines().next()?.strip_prefix("//! ")?;
    let first = head.split(|c: char| !c.is_alphabetic()).next()?;
    QUESTIONS.into_iter().find(|&word| word == first)
}

#[test]
fn every_file_begins_with_what_it_is() {
    let files = rust_files();
    assert!(files.len() > 500, "only {} files", files.len());
    let headless: Vec<&String> = files.iter().filter(|file| !has_head(&text(file))).collect();
    assert!(headless.is_empty(), "no `//!` at the top: {headless:#?}");
}

#[test]
fn headers_name_their_subject() {
    let asked = |file: String| question(&text(&file)).map(|word| (file, word));
    let found: Vec<_> = rust_files().into_iter().filter_map(asked).collect();
    assert_eq!(found, [], "headers that open with a question");
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

#[test]
fn a_question_at_the_top_is_found() {
    assert_eq!(question("//! What a file has.\n"), Some("What"));
    assert_eq!(question("//! Where's the rest?\n"), Some("Where"));
    assert_eq!(question("//! Whatever.\n"), None);
    assert_eq!(question("//! A file.\n//! What it has.\n"), None);
}
