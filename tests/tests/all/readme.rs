//! README shows code that is in the repository.

use lockstep_tests::ptx::root;

/// The texts of a document's blocks in a language.
fn blocks<'t>(document: &'t str, language: &str) -> Vec<&'t str> {
    let start = format!("\n```{language}\n");
    document
        .split(&start)
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap_or(rest))
        .collect()
}

/// The paragraphs of `code` that `source` does not have, letter by letter and in order.
fn missing<'c>(code: &'c str, source: &str) -> Vec<&'c str> {
    let mut rest = source;
    let mut missing = Vec::new();
    for paragraph in code.split("\n\n") {
        match rest.split_once(paragraph) {
            Some((_, after)) => rest = after,
            None => missing.push(paragraph),
        }
    }
    missing
}

#[test]
fn the_kernel_at_the_top_is_the_one_that_runs() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("it is there");
    let readme = read("README.md");
    let first = *blocks(&readme, "rust").first().expect("README shows code");
    assert!(first.contains("#[kernel"), "{first}");
    assert!(!first.contains("unsafe"), "{first}");
    let source = read("gpu-kernels/src/03_transpose/01_tiles.rs");
    assert_eq!(missing(first, &source), Vec::<&str>::new());
}

#[test]
fn code_that_differs_is_found() {
    let source = "fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n";
    assert!(missing("fn a() {\n    1\n}\n\nfn b() {\n    2\n}", source).is_empty());
    assert_eq!(missing("fn a() {\n    3\n}", source).len(), 1);
    // In another order.
    assert_eq!(
        missing("fn b() {\n    2\n}\n\nfn a() {", source),
        ["fn a() {"]
    );
}
