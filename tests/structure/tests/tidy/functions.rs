//! Functions fit a screen. Those that do not are listed, and the list may only shrink.

use crate::repository::{rust_files, text};
use structure::Source;

/// Most lines of a function, from `fn` to its closing brace.
const MOST_LINES: usize = 80;

/// A function that is longer: its file, its name, and how long it may be.
struct Exception {
    file: &'static str,
    function: &'static str,
    lines: usize,
}

const fn exception(file: &'static str, function: &'static str, lines: usize) -> Exception {
    Exception {
        file,
        function,
        lines,
    }
}

/// Nothing is added here, and no number raised: a function that gets too long is split.
const EXCEPTIONS: [Exception; 7] = [
    exception(
        "crates/cuda_std_macros/src/format_string.rs",
        "placeholder",
        98,
    ),
    exception("compat/sim_driver/tests/driver/random.rs", "make", 156),
    exception(
        "gpu-kernels/src/04_transpose/03_shifted.rs",
        "transpose_shifted",
        86,
    ),
    exception(
        "gpu-kernels/src/06_local_memory/02_running_mean.rs",
        "running_mean_shared",
        114,
    ),
    exception(
        "gpu-kernels/src/09_neighbor/03_cells/03_build.rs",
        "neighbor_cells_build",
        130,
    ),
    exception("host/src/lessons/tensor_instructions.rs", "run_mma", 117),
    exception("host/src/lessons/neighbor/device.rs", "launches", 82),
];

/// A function of the repository.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    file: String,
    function: String,
    lines: usize,
}

/// The functions of a file's text, those of its tests left out.
fn measured(file: &str, text: &str) -> Vec<Measured> {
    let source = Source::of(file, Vec::new(), text);
    let functions = source.functions.iter();
    functions
        .map(|function| Measured {
            file: file.to_owned(),
            function: function.name.clone(),
            lines: function.n_lines(),
        })
        .collect()
}

/// What is wrong with functions and exceptions: a function is too long, or an exception
/// is no longer needed.
fn wrong(functions: &[Measured], exceptions: &[Exception]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut is_used = vec![false; exceptions.len()];
    for function in functions.iter().filter(|one| one.lines > MOST_LINES) {
        let Measured {
            file,
            function,
            lines,
        } = function;
        let of_it = |one: &Exception| one.file == file && one.function == function;
        let most = match exceptions.iter().position(of_it) {
            Some(index) => {
                is_used[index] = true;
                exceptions[index].lines
            }
            None => MOST_LINES,
        };
        if *lines > most {
            wrong.push(format!(
                "{file}: {function} has {lines} lines, {most} at most"
            ));
        }
    }
    let unused = exceptions.iter().zip(is_used).filter(|(_, used)| !used);
    wrong.extend(unused.map(|(one, _)| {
        let Exception { file, function, .. } = one;
        format!("{file}: {function} no longer needs an exception")
    }));
    wrong
}

#[test]
fn functions_fit_a_screen() {
    let files = rust_files();
    let functions: Vec<Measured> = files
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
    assert_eq!(long(81)[0].lines, 81);
    let exceptions = [exception("a.rs", "long", 90)];
    assert_eq!(wrong(&long(80), &[]), [""; 0]);
    assert_eq!(
        wrong(&long(81), &[]),
        ["a.rs: long has 81 lines, 80 at most"]
    );
    assert_eq!(wrong(&long(90), &exceptions), [""; 0]);
    assert_eq!(
        wrong(&long(91), &exceptions),
        ["a.rs: long has 91 lines, 90 at most"]
    );
    for functions in [long(80), Vec::new()] {
        assert_eq!(
            wrong(&functions, &exceptions),
            ["a.rs: long no longer needs an exception"]
        );
    }
}
