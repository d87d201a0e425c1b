//! Files of `bench/results`: code reads each of them.

use crate::repository::{files_below, rust_files, text};

/// Those of `files` that no code names: neither by the whole path nor, in quotes, by the
/// name. What a comment says does not count.
fn unused<'f>(files: &'f [String], sources: &[String]) -> Vec<&'f String> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let named = |file: &str| {
        let (_, name) = file.rsplit_once('/').unwrap_or(("", file));
        let quoted = format!("\"{name}\"");
        let names = |line: &str| line.contains(file) || line.contains(&quoted);
        let uses = |source: &String| source.lines().filter(is_code).any(names);
        sources.iter().any(uses)
    };
    files.iter().filter(|file| !named(file)).collect()
}

#[test]
fn every_result_is_used() {
    let files = files_below("bench/results");
    assert!(files.len() > 4, "only {files:?}");
    let own = |file: &String| file.starts_with("tests/structure/tests/tidy/");
    let sources: Vec<String> = rust_files()
        .iter()
        .filter(|file| !own(file))
        .map(|file| text(file))
        .collect();
    let unused = unused(&files, &sources);
    assert!(unused.is_empty(), "nothing reads {unused:#?}");
}

#[test]
fn a_result_that_nothing_uses_is_found() {
    let files = ["results/a/x.json", "results/a/y.json", "results/a/z.json"].map(str::to_owned);
    let sources = [
        "const X: &str = \"results/a/x.json\";".to_owned(),
        "let y = results(\"y.json\");\n    // results/a/z.json\n".to_owned(),
    ];
    assert_eq!(unused(&files, &sources), ["results/a/z.json"]);
    assert_eq!(unused(&files, &[]).len(), 3);
}
