//! Hints that can be typed, and refusals of options that would be ignored.

use super::support::{command, fails, first_line, lockstep, stderr, stdout};
use std::process::Output;

fn lockstep_as(words: &str, arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    command
        .env("LOCKSTEP_COMMAND", words)
        .env("LOCKSTEP_LIBCUDA", "/nowhere/libcuda.so.1");
    command.output().expect("the program runs")
}

#[test]
fn hints_use_the_words_that_were_typed() {
    let words = "cargo xtask";
    for (arguments, status, hint) in [
        (&["ptx", "qqq"][..], 2, "`cargo xtask list` shows all names"),
        (&["ptx"], 2, "Usage: cargo xtask ptx <KERNEL>"),
        (&["bench", "copy"], 3, "`cargo xtask run-all` checks"),
        (
            &["bench", "--compare", "/dev/null"],
            2,
            "it is not a results file",
        ),
    ] {
        let output = lockstep_as(words, arguments);
        fails(&output, status, &[hint]);
        let told = stderr(&output);
        assert!(!told.contains("lockstep "), "{told}");
    }
    // Without the environment variable, under its own name.
    fails(&lockstep(&["ptx", "qqq"]), 2, &["lockstep list` shows"]);
}

#[test]
fn the_engine_is_told_in_one_short_line() {
    let quick = ["run-all", "--quick", "--filter", "transpose_padded"];
    let told = |arguments: &[&str]| {
        let output = lockstep_as("cargo xtask", arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        first_line(&output)
    };
    assert_eq!(
        told(&quick),
        "engine: simulator (no GPU here; cargo xtask doctor says why)"
    );
    assert_eq!(
        told(&[&quick[..], &["--check"]].concat()),
        "engine: simulator (only it has --check)"
    );
    assert_eq!(
        told(&[&quick[..], &["--engine", "sim"]].concat()),
        "engine: simulator"
    );
}

#[test]
fn a_command_for_ncu_starts_a_program_that_is_there() {
    let command = stdout(&lockstep(&["check-counters", "--fresh", "1", "--command"]));
    let program = command
        .split_whitespace()
        .find(|word| word.ends_with("lockstep"))
        .expect("the program");
    assert!(std::path::Path::new(program).is_file(), "{program}");
}

#[test]
fn options_without_effect_are_refused() {
    for (arguments, words) in [
        (
            &[
                "sanitize",
                "transpose_padded",
                "--with",
                "sim",
                "--tool",
                "memcheck",
            ][..],
            "--tool is for compute-sanitizer",
        ),
        (
            &[
                "sanitize",
                "transpose_padded",
                "--with",
                "sim",
                "--time-limit",
                "5",
            ],
            "--time-limit is for compute-sanitizer",
        ),
        (&["sanitize", "--time-limit", "0"], "--time-limit"),
        (
            &["run-all", "--engine", "gpu", "--check"],
            "--check is for the simulator",
        ),
        (
            &["run-all", "--engine", "gpu", "--fuel", "5"],
            "--fuel is for the simulator",
        ),
        (&["sim-bench", "--mode", "bare"], "--mode counted"),
        (
            &["counters", "--command", "--json", "x"],
            "cannot be used with",
        ),
    ] {
        fails(&lockstep(arguments), 2, &[words]);
    }
}

#[test]
fn a_remark_on_several_tools_is_told_once() {
    let output = command(&["sanitize", "transpose_padded", "--with", "gpu"])
        .env("PATH", "/nowhere")
        .env_remove("CUDA_HOME")
        .env_remove("CUDA_PATH")
        .env_remove("CUDA_ROOT")
        .env("LOCKSTEP_LIBCUDA", "/nowhere/libcuda.so.1")
        .output()
        .expect("the program runs");
    fails(
        &output,
        3,
        &["memcheck, racecheck, initcheck, synccheck: absent: "],
    );
    assert_eq!(
        stdout(&output).matches("absent: ").count(),
        1,
        "{}",
        stdout(&output)
    );
}

// ---------------------------------------------------------------------------
// Fuel
// ---------------------------------------------------------------------------

fn with_fuel(kernel: &str, fuel: &str) -> Output {
    let run = ["run-all", "--engine", "sim", "--quick", "--filter"];
    lockstep(&[&run[..], &[kernel, "--fuel", fuel]].concat())
}

#[test]
fn no_kernel_passes_on_no_fuel() {
    fails(&with_fuel("copy", "0"), 2, &["may execute nothing"]);
    fails(&with_fuel("copy", "all"), 2, &["warp instructions"]);
    // Less than a time slice, in which these kernels end.
    let output = with_fuel("copy", "1");
    fails(
        &output,
        1,
        &[
            "did not end within 1 warp instructions",
            "0 passed, 6 failed",
        ],
    );
    assert_eq!(with_fuel("copy", "100000").status.code(), Some(0));
}

// ---------------------------------------------------------------------------
// Input
// ---------------------------------------------------------------------------

#[test]
fn what_is_no_ptx_is_told_at_once() {
    let manifest = "Cargo.toml";
    for (path, words) in [
        (
            manifest,
            "is not PTX: PTX is text that starts with `.version`",
        ),
        ("/dev/zero", "more than 256 MiB"),
        ("/", "it is a folder"),
        ("/nowhere", "cannot be read"),
    ] {
        let output = lockstep(&["run-all", "--engine", "sim", "--ptx", path]);
        fails(&output, 2, &["--ptx", words]);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn ptx_comes_from_standard_input_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kernels.ptx");
    std::fs::write(&file, crate::support::module_of("transpose_padded")).expect("a file");
    let arguments = [
        "run-all",
        "--engine",
        "sim",
        "--quick",
        "--filter",
        "transpose_padded",
        "--ptx",
        "-",
    ];
    let output = command(&arguments)
        .stdin(std::fs::File::open(file).expect("it"))
        .output()
        .expect("the program runs");
    fails(&output, 0, &["2 passed"]);
}

// ---------------------------------------------------------------------------
// The simulator does not measure itself
// ---------------------------------------------------------------------------

#[test]
fn no_cases_do_not_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cases.csv");
    std::fs::write(&file, cli::accesses::file::COLUMNS.join(",") + "\n").expect("a file");
    let file = file.to_str().expect("UTF-8");
    let fresh = ["check-counters", "--fresh", "3", "--engine", "sim"];
    for (arguments, words) in [
        (&["check-counters", file][..], "there is no case in it"),
        (&["check-counters", "/dev/null"], "the columns must be"),
        (&[&fresh[..], &["--each", "0"]].concat(), "--each"),
        (
            &[&fresh[..], &["--only", "nothing"]].concat(),
            "no instruction's name contains that",
        ),
    ] {
        let output = lockstep(arguments);
        fails(&output, 2, &[words]);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn explain_says_what_is_wrong_with_a_question() {
    let tile = ["explain", "--rows", "32", "--cols", "32"];
    let with = |rest: &[&'static str]| lockstep(&[&tile[..], rest].concat());
    for (output, words) in [
        (
            lockstep(&["explain"]),
            "explain --rows 32 --cols 32 --access column",
        ),
        (lockstep(&["explain"]), "explain --fragment m16n8k16.a"),
        (
            with(&["--access", "row", "--layout", "swizzle:9,9,9"]),
            "none of them is in this tile",
        ),
        (
            lockstep(&["explain", "transpose_qqq"]),
            "no lesson or kernel matches",
        ),
        (
            lockstep(&["explain", "transpose_shared:x"]),
            "`x` is not a line: a number is expected, as in transpose_shared:120",
        ),
        (with(&[]), "as in --access column"),
        (with(&["--access", "rows"]), "`rows` is not an access"),
        (
            with(&["--access", "row", "--layout", "swirl"]),
            "`swirl` is not a layout",
        ),
        (
            with(&["--access", "row", "--type", "float"]),
            "`float` is not a type of elements",
        ),
        (with(&["--access", "ldmatrix"]), "16-bit elements"),
        (
            lockstep(&["explain", "--fragment", "m8"]),
            "`m8` is not a fragment",
        ),
    ] {
        fails(&output, 2, &[words]);
    }
}

#[test]
fn explain_finds_layouts_and_proves_them() {
    let found = lockstep(&[
        "explain",
        "--rows",
        "16",
        "--cols",
        "64",
        "--type",
        "f16",
        "--access",
        "ldmatrix.x4",
        "--access",
        "store:rowx8",
        "--search",
    ]);
    assert_eq!(found.status.code(), Some(0), "{}", stderr(&found));
    let text = stdout(&found);
    assert!(
        text.contains("make these accesses free of conflicts"),
        "{text}"
    );
    assert!(text.contains("ldmatrix.x4 0, store:rowx8 0"), "{text}");
    assert!(text.contains("ldmatrix.x4 112, store:rowx8 0"), "{text}");
}
