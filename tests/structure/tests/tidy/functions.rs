//! Functions fit a screen. Those that do not are listed, and the list may only shrink.

use crate::repository::{rust_files, text};
use structure::Source;

/// Most lines of a function, from `fn` to its closing brace.
const MOST_LINES: usize = 80;

/// Functions that are longer, and how long they may be. Nothing is added here, and no number raised: a
/// function that gets too long is split.
const EXCEPTIONS: [(&str, usize); 6] = [
    (
        "crates/cuda_std_macros/src/format_string.rs: placeholder",
        98,
    ),
    ("compat/sim_driver/tests/driver/random.rs: make", 156),
    (
        "gpu-kernels/src/04_transpose/03_shifted.rs: transpose_shifted",
        86,
    ),
    (
        "gpu-kernels/src/06_local_memory/02_running_mean.rs: running_mean_shared",
        114,
    ),
    (
        "gpu-kernels/src/09_neighbor/03_cells/03_build.rs: neighbor_cells_build",
        130,
    ),
    ("host/src/lessons/neighbor/device.rs: launches", 82),
];

/// The functions of a file's text, those of its tests left out, each with its lines.
fn measured(file: &str, text: &str) -> Vec<(String, usize)> {
    let source = Source::of(file, Vec::new(), text);
    let functions = source.functions.iter();
    functions
        .map(|function| (format!("{file}: {}", function.name), function.n_lines()))
        .collect()
}

/// What is wrong with functions and exceptions: a function is too long, or an exception
/// is no longer needed.
fn wrong(functions: &[(String, usize)], exceptions: &[(&str, usize)]) -> Vec<String> {
    let mut unused = exceptions.to_vec();
    let mut wrong = Vec::new();
    for (function, lines) in functions.iter().filter(|(_, lines)| *lines > MOST_LINES) {
        let exception = exceptions.iter().find(|(name, _)| name == function);
        let most = exception.map_or(MOST_LINES, |(_, most)| *most);
        unused.retain(|(name, _)| name != function);
        if *lines > most {
            wrong.push(format!("{function} has {lines} lines, {most} at most"));
        }
    }
    wrong.extend(
        unused
            .iter()
            .map(|(name, _)| format!("{name} no longer needs an exception")),
    );
    wrong
}

#[test]
fn functions_fit_a_screen() {
    let files = rust_files();
    let functions: Vec<_> = files
        .iter()
        .flat_map(|file| measured(file, &text(file)))
        .collect();
    assert!(functions.len() > 5000, "only {}", functions.len());
    let wrong = wrong(&functions, &EXCEPTIONS);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn long_functions_and_needless_exceptions_are_found() {
    let long = |lines: usize| {
        let body = "    f();\n".repeat(lines - 2);
        measured("a.rs", &format!("fn long() {{\n{body}}}\n"))
    };
    assert_eq!(long(81), [("a.rs: long".to_owned(), 81)]);
    let excepted = |functions: &[_]| wrong(functions, &[("a.rs: long", 90)]);
    assert_eq!(wrong(&long(80), &[]), [""; 0]);
    assert_eq!(
        wrong(&long(81), &[]),
        ["a.rs: long has 81 lines, 80 at most"]
    );
    assert_eq!(excepted(&long(90)), [""; 0]);
    assert_eq!(excepted(&long(91)), ["a.rs: long has 91 lines, 90 at most"]);
    for functions in [long(80), Vec::new()] {
        assert_eq!(
            excepted(&functions),
            ["a.rs: long no longer needs an exception"]
        );
    }
}
