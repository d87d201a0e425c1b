//! Libraries that cargo does not test, because a program without tests takes seconds to link: they
//! have no tests.

use crate::repository::{files_below, root, text};

/// The simulator's unit tests belong to a package of their own, which compiles them unoptimised.
const TESTED_ELSEWHERE: [&str; 1] = ["simulator/ptx_sim"];

/// Whether a manifest's part on the library has this line.
fn says(manifest: &str, line: &str) -> bool {
    let part = manifest.split("\n[").find(|part| part.starts_with("lib]"));
    part.is_some_and(|part| part.lines().any(|other| other == line))
}

fn has_unit_test(source: &str) -> bool {
    let is_test = |line: &str| ["#[test]", "#[cfg(test)]"].contains(&line.trim());
    source.lines().any(is_test)
}

/// Whether a file's documentation has code that rustdoc would run, or is another file's text.
fn has_doctest(source: &str) -> bool {
    let mut is_block = false;
    source.lines().map(str::trim).any(|line| {
        let doc = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let Some(language) = doc.and_then(|doc| doc.trim().strip_prefix("```")) else {
            return line.contains("doc = include_str!");
        };
        is_block = !is_block;
        const OF_RUST: [&str; 5] = ["", "rust", "no_run", "should_panic", "compile_fail"];
        let mut words = language.split(',').map(str::trim);
        is_block && words.all(|word| OF_RUST.contains(&word))
    })
}

#[test]
fn libraries_that_are_not_tested_have_no_tests() {
    let mut n_untested = 0;
    let mut manifests = files_below("");
    manifests.retain(|file| file.ends_with("/Cargo.toml") && !file.contains("/fuzz/"));
    for manifest in manifests {
        let package = manifest.trim_end_matches("/Cargo.toml");
        let (text_of, source) = (text(&manifest), format!("{package}/src"));
        let is_tested = !says(&text_of, "test = false") || TESTED_ELSEWHERE.contains(&package);
        let is_doctested = !says(&text_of, "doctest = false");
        if is_tested && is_doctested || !root().join(&source).is_dir() {
            continue;
        }
        n_untested += 1;
        for file in files_below(&source) {
            let source = text(&file);
            assert!(is_tested || !has_unit_test(&source), "{file} has a test");
            assert!(
                is_doctested || !has_doctest(&source),
                "{file} has a doctest"
            );
        }
    }
    assert!(n_untested > 10, "only {n_untested} libraries");
}

#[test]
fn a_test_in_such_a_library_is_found() {
    let manifest = "[package]\nname = \"a\"\n\n[lib]\ntest = false\n\n[lints]\ndoctest = false\n";
    assert!(says(manifest, "test = false") && !says(manifest, "doctest = false"));
    assert!(has_unit_test("fn f() {}\n\n    #[test]\n    fn g() {}\n"));
    assert!(!has_unit_test("/// As `#[test]` does.\nfn f() {}\n"));
    for language in ["", "rust", "no_run", "rust,should_panic"] {
        assert!(has_doctest(&format!(
            "    /// ```{language}\n    /// f();\n    /// ```\n"
        )));
    }
    assert!(has_doctest("#![doc = include_str!(\"../README.md\")]\n"));
    assert!(!has_doctest("/// ```text\n/// f\n/// ```\nfn f() {}\n"));
}
