//! The shape of the source: what imports what, and how long functions are.

use std::path::Path;

/// Most lines of a function, from `fn` to its closing brace.
const MOST_LINES: usize = 80;

#[test]
fn no_files_import_each_other_in_a_circle() {
    structure::assert_no_circles(&structure::imports_of(Path::new("src"), (50, 200)));
}

#[test]
fn functions_fit_a_screen() {
    let mut too_long = Vec::new();
    let mut n_functions = 0;
    for source in structure::read(Path::new("src")) {
        for function in &source.functions {
            n_functions += 1;
            if function.n_lines() > MOST_LINES {
                let name = format!("{}: {}", source.file, function.name);
                too_long.push((name, function.n_lines()));
            }
        }
    }
    assert!(n_functions > 500, "only {n_functions} functions were found");
    assert!(
        too_long.is_empty(),
        "over {MOST_LINES} lines: {too_long:#?}"
    );
}
