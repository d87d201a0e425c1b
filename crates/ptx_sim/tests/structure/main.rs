//! The shape of the source: what imports what, and how long functions are.
//!
//! - [`source`] reads files, by tokens, so that comments and strings do not count
//!   and the inside of macros does;
//! - [`imports`] makes a graph of them and looks for circles.
//!
//! What counts as an import is said there.

mod imports;
mod source;

use imports::{circles, imports};
use source::{Source, read};

/// Most lines of a function, from `fn` to its closing brace.
const MOST_LINES: usize = 80;

fn the_source() -> Vec<Source> {
    read(std::path::Path::new("src"))
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = the_source();
    assert!(
        sources.len() > 50,
        "only {} files were found",
        sources.len()
    );
    let graph = imports(&sources);
    let n_edges: usize = graph.values().map(|targets| targets.len()).sum();
    assert!(n_edges > 200, "only {n_edges} imports were found");
    let circles = circles(&graph);
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn functions_fit_a_screen() {
    let mut too_long = Vec::new();
    let mut n_functions = 0;
    for source in the_source() {
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
