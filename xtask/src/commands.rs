//! What the binary `lockstep` can do, for `cargo xtask --help`.
//!
//! The binary is not built yet when that is asked, so the list is kept here;
//! `tests/tests/all/commands.rs` holds it against the binary's own.

/// Name and description, in the binary's order.
pub const COMMANDS: &[(&str, &str)] = &[
    (
        "run-all",
        "Run kernels and compare them with their references",
    ),
    (
        "bench",
        "Time kernels on a GPU, beside copies, CUDA C++, CUB and cuBLAS",
    ),
    (
        "sanitize",
        "Look for races, bad accesses and the like: the simulator's checks, and compute-sanitizer",
    ),
    ("list", "List lessons and kernels"),
    (
        "neighbors",
        "Build the neighbour list of atoms in a file, with the cell list's kernels",
    ),
    (
        "learn",
        "Solve exercises, judged on the simulator after every save",
    ),
    ("ptx", "Print a kernel's PTX, or what a GPU makes of it"),
    (
        "counters",
        "Compare the simulator's counts with a GPU's hardware counters",
    ),
    (
        "profile",
        "Show where a kernel's memory work is done, line by line",
    ),
    (
        "explain",
        "Show which banks and sectors memory accesses touch, and find layouts without conflicts",
    ),
    (
        "check-counters",
        "Check the counting rules against measured accesses",
    ),
    ("sim-bench", "Measure how fast the simulator is"),
    (
        "report",
        "Make a page of all lessons for a browser: counts, times, source with heat, PTX",
    ),
    ("readme", "Renew the generated parts of the documents"),
];
