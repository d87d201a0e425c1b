//! Hints that can be typed, and refusals of options that would be ignored.

use super::support::{
    command, fails, first_line, has, lockstep, passes, stderr, stdout, usage_errors, without_tools,
    xtask,
};
use std::process::Output;

#[test]
fn hints_use_the_words_that_were_typed() {
    for (words, status, hint) in [
        ("ptx qqq", 2, "`cargo xtask list` shows all names"),
        ("ptx", 2, "Usage: cargo xtask ptx <KERNEL>"),
        ("bench copy", 3, "`cargo xtask run-all` checks"),
        ("bench --compare /dev/null", 2, "it is not a results file"),
    ] {
        let output = xtask(words);
        fails(&output, status, &[hint]);
        let told = stderr(&output);
        assert!(!told.contains("lockstep "), "{told}");
    }
    // Without the environment variable, under its own name.
    fails(&lockstep("ptx qqq"), 2, &["lockstep list` shows"]);
}

#[test]
fn the_engine_is_told_in_one_short_line() {
    for (option, told) in [
        (
            "",
            "engine: simulator (no GPU here; cargo xtask doctor says why)",
        ),
        ("--check", "engine: simulator (only it has --check)"),
        ("--engine sim", "engine: simulator"),
    ] {
        let output = xtask(format!(
            "run-all --quick --filter transpose_padded {option}"
        ));
        passes(&output);
        assert_eq!(first_line(&output), told);
    }
}

#[test]
fn a_command_for_ncu_starts_a_program_that_is_there() {
    let command = stdout(&lockstep("check-counters --fresh 1 --command"));
    let program = command
        .split_whitespace()
        .find(|word| word.ends_with("lockstep"))
        .expect("the program");
    assert!(std::path::Path::new(program).is_file(), "{program}");
}

#[test]
fn options_without_effect_are_refused() {
    usage_errors(
        "",
        "sanitize transpose_padded --with sim --tool memcheck => --tool is for compute-sanitizer
         sanitize transpose_padded --with sim --time-limit 5  => --time-limit is for compute-sanitizer
         sanitize --time-limit 0                              => --time-limit
         run-all --engine gpu --check                         => --check is for the simulator
         run-all --engine gpu --fuel 5                        => --fuel is for the simulator
         sim-bench --mode bare                                => --mode counted
         counters --command --json x                          => cannot be used with",
    );
}

#[test]
fn a_remark_on_several_tools_is_told_once() {
    let output = without_tools("sanitize transpose_padded --with gpu");
    fails(
        &output,
        3,
        &["memcheck, racecheck, initcheck, synccheck: absent: "],
    );
    let told = stdout(&output);
    assert_eq!(told.matches("absent: ").count(), 1, "{told}");
}

// ---------------------------------------------------------------------------
// Fuel
// ---------------------------------------------------------------------------

fn with_fuel(kernel: &str, fuel: &str) -> Output {
    lockstep(format!(
        "run-all --engine sim --quick --filter {kernel} --fuel {fuel}"
    ))
}

#[test]
fn no_kernel_passes_on_no_fuel() {
    fails(&with_fuel("copy", "0"), 2, &["may execute nothing"]);
    fails(&with_fuel("copy", "all"), 2, &["warp instructions"]);
    // Less than a time slice, in which these kernels end.
    let output = with_fuel("copy", "1");
    let words = [
        "did not end within 1 warp instructions",
        "0 passed, 6 failed",
        "debug copy --shape=",
        "--fuel=1 --finding",
    ];
    fails(&output, 1, &words);
    passes(&with_fuel("copy", "100000"));
}

// ---------------------------------------------------------------------------
// Input
// ---------------------------------------------------------------------------

#[test]
fn what_is_no_ptx_is_told_at_once() {
    usage_errors(
        "run-all --engine sim --ptx",
        "Cargo.toml => --ptx: Cargo.toml is not PTX: PTX is text that starts with `.version`
         /dev/zero  => more than 256 MiB
         /          => it is a folder
         /nowhere   => cannot be read",
    );
}

#[test]
fn ptx_comes_from_standard_input_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kernels.ptx");
    std::fs::write(&file, crate::support::module_of("transpose_padded")).expect("a file");
    let output = command("run-all --engine sim --quick --filter transpose_padded --ptx -")
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
    let fresh = "check-counters --engine sim --fresh 3";
    let table = format!(
        "check-counters {}        => there is no case in it
         check-counters /dev/null => the columns must be
         {fresh} --each 0         => --each
         {fresh} --only nothing   => no instruction's name contains that",
        file.display()
    );
    usage_errors("", &table);
}

#[test]
fn explain_says_what_is_wrong_with_a_question() {
    usage_errors(
        "",
        "explain                    => explain --rows 32 --cols 32 --access column
         explain                    => explain --fragment m16n8k16.a
         explain transpose_qqq      => no lesson or kernel matches
         explain transpose_shared:x => `x` is not a line: a number is expected, as in transpose_shared:120
         explain --fragment m8      => `m8` is not a fragment",
    );
    usage_errors(
        "explain --rows 32 --cols 32",
        "                                    => as in --access column
         --access rows                       => `rows` is not an access
         --access ldmatrix                   => 16-bit elements
         --access row --layout swirl         => `swirl` is not a layout
         --access row --layout swizzle:9,9,9 => none of them is in this tile
         --access row --type float           => `float` is not a type of elements",
    );
}

#[test]
fn explain_finds_layouts_and_proves_them() {
    let tile = "explain --rows 16 --cols 64 --type f16";
    let found = lockstep(format!(
        "{tile} --access ldmatrix.x4 --access store:rowx8 --search"
    ));
    let words = [
        "make these accesses free of conflicts",
        "ldmatrix.x4 0, store:rowx8 0",
        "ldmatrix.x4 112, store:rowx8 0",
    ];
    has(&passes(&found), &words);
}

/// The words of a line, without lines of PTX, which a change of the library moves.
fn words_of(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_of_source = words.first().is_some_and(|word| word.contains(".rs:"));
    let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
    if is_of_source && words.get(1).is_some_and(is_number) {
        words.remove(1);
    }
    if let Some(at) = words.windows(2).position(|two| two == ["(PTX", "line"]) {
        words.drain(at..(at + 3).min(words.len()));
    }
    words
}

/// What docs/tools.md shows of commands that are quick; `…` stands for more.
#[test]
fn the_documents_show_what_is_printed() {
    let path = "../docs/tools.md";
    let text = std::fs::read_to_string(path).expect("the document");
    let blocks = text.split("\n```console\n").skip(1);
    let mut n_compared = 0;
    for block in blocks.map(|block| block.split("\n```").next().expect("it begins")) {
        let (line, shown) = block.split_once('\n').unwrap_or((block, ""));
        let words = line.strip_prefix("$ cargo xtask ").expect("a command");
        let is_quick = ["profile ", "explain "]
            .iter()
            .any(|of| words.starts_with(of));
        if !is_quick || shown.starts_with("$ ") {
            continue;
        }
        let printed = passes(&lockstep(words));
        let printed: Vec<_> = printed.lines().map(words_of).collect();
        for line in shown
            .lines()
            .filter(|line| !line.is_empty() && *line != "…")
        {
            assert!(
                printed.contains(&words_of(line)),
                "`{line}` of `{words}` in {path}:\n{printed:#?}"
            );
            n_compared += 1;
        }
    }
    assert!(n_compared > 30, "{n_compared}");
}
