//! Words: "is not a" for "is no", and one word for one thing.
//!
//! Left out: words that are right in one place and wrong in another ("apart", "aside"). They
//! are looked for only as names of files.

use crate::repository::{documents, files_below, rust_files, text};

/// This file, which has the words that it looks for.
const SELF: &str = "tests/structure/tests/tidy/words.rs";

/// Comparatives, which may follow "is no".
const COMPARED: [&str; 13] = [
    "longer", "more", "less", "later", "earlier", "older", "larger", "smaller", "wider",
    "narrower", "slower", "faster", "better",
];

/// Replaced words, and the words for them now.
const REPLACED: [(&str, &str); 7] = [
    ("twin", "baseline"),
    ("twins", "baselines"),
    ("sieve", "prefilter"),
    ("sieves", "prefilters"),
    ("mixup", "wrong_space"),
    ("mixups", "wrong_space"),
    ("dice", "choices"),
];

/// Old names of files, without their ending.
const OLD_FILES: [&str; 6] = ["twins", "aside", "visits", "apart", "mixups", "dice"];

/// The places that say "is no" or "are no" of something that is there.
fn denials(text: &str) -> Vec<String> {
    let markers = ["//", "///", "//!", "#", "*", "\\", ">"];
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| !markers.contains(word))
        .collect();
    let is_denial = |four: &&[&str]| {
        let is_there = four[0].to_lowercase().ends_with("there");
        let next = four[3].trim_matches(|c: char| !c.is_alphabetic());
        ["is", "are"].contains(&four[1])
            && four[2] == "no"
            && !is_there
            && !COMPARED.contains(&next)
    };
    let found = words.windows(4).filter(is_denial);
    found.map(|four| four.join(" ")).collect()
}

/// The parts of all names and words in a line, in lower case: `TwinSummary` has two.
fn parts(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    for c in line.chars() {
        let begins = c.is_uppercase() && part.ends_with(char::is_lowercase);
        if !c.is_alphabetic() || begins {
            parts.push(std::mem::take(&mut part).to_lowercase());
        }
        if c.is_alphabetic() {
            part.push(c);
        }
    }
    parts.push(part.to_lowercase());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The lines of a file with a replaced word, each with the word for it now. Code that reads old
/// results and flags may name them: `alias = "twins"`.
fn replaced(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.contains("alias = \"")) {
        let parts = parts(line);
        for (old, new) in &REPLACED {
            if parts.iter().any(|part| part == old) {
                found.push(format!("{path}: {}: say {new}", line.trim()));
            }
        }
    }
    found
}

/// Whether a path is, or is in, something with an old name.
fn has_old_name(path: &str) -> bool {
    path.split('/').any(|name| {
        let stem = name.strip_suffix(".rs");
        stem.is_some_and(|stem| OLD_FILES.contains(&stem)) || name == "sieve"
    })
}

fn texts() -> impl Iterator<Item = (String, String)> {
    let mut files = rust_files();
    files.extend(documents());
    let files = files.into_iter().filter(|file| file != SELF);
    files.map(|file| {
        let text = text(&file);
        (file, text)
    })
}

#[test]
fn nothing_is_no_something() {
    let of_file = |(file, text): (String, String)| {
        let found = denials(&text).into_iter();
        found.map(move |four| format!("{file}: {four}"))
    };
    let found: Vec<String> = texts().flat_map(of_file).collect();
    assert!(found.is_empty(), "say \"is not a\": {found:#?}");
}

#[test]
fn replaced_words_stay_away() {
    let found: Vec<String> = texts()
        .flat_map(|(file, text)| replaced(&file, &text))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    let mut files = files_below("");
    files.retain(|file| has_old_name(file));
    assert!(files.is_empty(), "old names: {files:#?}");
}

#[test]
fn a_denial_is_found() {
    assert_eq!(denials("but x is no line: it"), ["x is no line:"]);
    let wrapped = "/// these are\n    /// no numbers";
    assert_eq!(denials(wrapped), ["these are no numbers"]);
    let fine = "There is no line. There are\n// no lines. It is no longer one, and is no more.";
    assert_eq!(denials(fine), [""; 0]);
}

#[test]
fn a_replaced_word_is_found() {
    let found = replaced("a.rs", "let n_twins = TwinSummary::of(between);\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(replaced("a.rs", "#[serde(alias = \"twins\")]"), [""; 0]);
    let fine = "indices, spawn_choices, BrokenPipeError";
    assert_eq!(replaced("a.rs", fine), [""; 0]);
    assert!(has_old_name("simulator/ptx_sim/src/checks/sieve/mod.rs"));
    assert!(has_old_name("a/twins.rs") && !has_old_name("a/twin_peaks.rs"));
}
