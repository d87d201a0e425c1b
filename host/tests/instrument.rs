//! The simulator as an instrument, from the command line: `check-counters` and
//! `profile`.

use std::path::Path;
use std::process::{Command, Output};

const DATA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/ptx_sim/tests/data/h200-access-counters.csv"
);

/// The program without a driver, whatever the machine has.
fn lockstep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .args(arguments)
        .env("LOCKSTEP_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the program runs")
}

/// Status, stdout and stderr.
fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn check(folder: &Path, text: &str) -> (Option<i32>, String, String) {
    let path = folder.join("cases.csv");
    std::fs::write(&path, text).expect("a file");
    told(&lockstep(&["check-counters", &path.to_string_lossy()]))
}

#[test]
fn all_cases_of_the_data_agree() {
    let (status, out, _) = told(&lockstep(&["check-counters", DATA]));
    assert_eq!((status, &*out), (Some(0), "230 of 230 cases agree\n"));
}

#[test]
fn a_case_that_differs_is_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = std::fs::read_to_string(DATA).expect("the data");
    let lines: Vec<&str> = data.lines().collect();
    // Line 5 says that seven bytes between lanes make two wavefronts.
    let wrong = lines[4].replace(",2,1,,", ",3,1,,");
    assert_ne!(lines[4], wrong);
    let text = [lines[0], lines[3], &wrong].join("\n");
    let (status, out, _) = check(folder.path(), &text);
    assert_eq!(status, Some(1), "{out}");
    assert!(out.contains("line 3: shared_wavefronts: expected 3, got 2"));
    assert!(out.ends_with("1 of 2 cases agree\n"), "{out}");
}

#[test]
fn a_malformed_file_is_a_usage_error_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = std::fs::read_to_string(DATA).expect("the data");
    let header = data.lines().next().expect("a header");
    let offsets = "0 ".repeat(32);
    for (text, words) in [
        (String::new(), "line 1: the columns must be `instruction,"),
        (header.to_owned(), "there is no case in it"),
        (
            format!("{header}\nld.shared.u32,4,ff,{offsets},1,0\n"),
            "line 2: it has 6 fields",
        ),
        (
            format!("{header}\nmov.u32,4,ff,{offsets},1,0,,\n"),
            "line 2: `mov.u32` is no instruction that is counted",
        ),
    ] {
        let (status, out, error) = check(folder.path(), &text);
        assert_eq!((status, &*out), (Some(2), ""), "{error}");
        assert!(error.contains(words), "{error}");
    }
    let (status, _, error) = told(&lockstep(&["check-counters", "/nonexistent.csv"]));
    assert_eq!(status, Some(2), "{error}");
}

#[test]
fn fresh_cases_need_a_gpu_or_are_the_simulators() {
    let (status, _, error) = told(&lockstep(&["check-counters", "--fresh=1", "--engine=gpu"]));
    assert_eq!(status, Some(3), "{error}");
    assert!(error.contains("no CUDA driver"), "{error}");

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fresh.csv");
    let path = path.to_string_lossy();
    let (status, out, error) = told(&lockstep(&[
        "check-counters",
        "--fresh=1",
        "--each=2",
        "--write",
        &path,
    ]));
    assert_eq!(status, Some(0), "{out}{error}");
    assert!(error.contains("simulator, since no GPU answers"), "{error}");
    // What was written can be checked again.
    let again = told(&lockstep(&["check-counters", &path]));
    assert_eq!(again, (Some(0), out, String::new()));
}

#[test]
fn a_profile_names_the_line_and_the_counters() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (json, html) = (path("profile.json"), path("profile.html"));
    let (status, out, error) = told(&lockstep(&[
        "profile",
        "transpose_shared",
        "--shape=64x64",
        "--json",
        &json,
        "--html",
        &html,
    ]));
    assert_eq!(status, Some(0), "{error}");
    for words in [
        "transpose_shared at 64×64",
        "32-way bank conflict",
        "gpu-kernels/src/transpose.rs",
        "*tile.add(layout(x, y) as usize)",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "ncu --csv",
        "profile transpose_shared --launch-only --shape=64x64",
    ] {
        assert!(out.contains(words), "`{words}` is missing in:\n{out}");
    }
    // No terminal, no colours.
    assert!(!out.contains('\u{1b}'), "{out}");

    let json = std::fs::read_to_string(json).expect("it was written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let ways: Vec<_> = json["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["ways"].as_u64().expect("a number"))
        .collect();
    assert_eq!(ways, [0, 1, 32, 0]);
    let html = std::fs::read_to_string(html).expect("it was written");
    assert!(html.starts_with("<!doctype html>") && html.contains("32-way bank conflict"));
    assert!(!html.contains("src=") && !html.contains("href="));
}

#[test]
fn wrong_profiles_are_usage_errors() {
    for (arguments, words) in [
        (&["profile", "transpose_sharde"][..], "near names"),
        (
            &["profile", "transpose_shared", "--shape=64"],
            "has sizes such as",
        ),
        (
            &["profile", "transpose_shared", "--arch=sm_10"],
            "possible values",
        ),
    ] {
        let (status, _, error) = told(&lockstep(arguments));
        assert_eq!(status, Some(2), "{error}");
        assert!(error.contains(words), "{error}");
    }
}

/// Without a GPU the prediction is printed, and that nothing was measured is said.
#[test]
fn measuring_without_a_gpu_is_not_run() {
    let (status, out, error) = told(&lockstep(&[
        "profile",
        "transpose_swizzled",
        "--shape=64x64",
        "--measure",
    ]));
    assert_eq!(status, Some(3), "{error}");
    assert!(error.contains("not measured: no CUDA driver"), "{error}");
    assert!(out.contains("Nothing wasted"), "{out}");
}
