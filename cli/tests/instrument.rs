//! The simulator as an instrument, from the command line: `check-counters` and
//! `profile`.

mod support;

use std::path::Path;
use std::process::Output;
use support::{command, edited, told, with_bad_load, without_xor};

const DATA: &str = "../simulator/ptx_sim/tests/data/h200-access-counters.csv";

fn lockstep(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program runs")
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
    for engine in ["--engine=gpu", "--engine=auto"] {
        let (status, out, error) = told(&lockstep(&["check-counters", "--fresh=1", engine]));
        assert_eq!((status, &*out), (Some(3), ""), "{error}");
        assert!(error.contains("no CUDA driver"), "{error}");
    }

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fresh.csv");
    let path = path.to_string_lossy();
    let (status, out, error) = told(&lockstep(&[
        "check-counters",
        "--fresh=1",
        "--each=2",
        "--engine=sim",
        "--write",
        &path,
    ]));
    assert_eq!(status, Some(0), "{out}{error}");
    assert!(out.contains("no hardware was measured"), "{out}");
    // What was written can be checked again.
    let (status, again, _) = told(&lockstep(&["check-counters", &path]));
    assert_eq!(status, Some(0), "{again}");
    assert!(out.starts_with(again.trim_end()), "{again}{out}");
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
        "gpu-kernels/src/03_transpose/01_tiles.rs",
        "let value = *tile.add(plain(x, y));",
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
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("32-way bank conflict"));
    // Nothing is loaded, and links stay in the page.
    assert!(!html.contains("src=") && !html.contains("url("));
    assert!(
        html.split("href=\"")
            .skip(1)
            .all(|link| link.starts_with('#'))
    );
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

/// Profiles a kernel of an edited module at 64×64, with files; gives what was told,
/// the JSON and the page.
fn profile_edited(
    kernel: &str,
    edit: impl Fn(&str) -> String,
) -> ((Option<i32>, String, String), serde_json::Value, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (json, html) = (path("profile.json"), path("profile.html"));
    let ptx = edited(folder.path(), kernel, edit);
    let ptx = ptx.to_string_lossy();
    let output = lockstep(&[
        "profile",
        kernel,
        "--shape=64x64",
        "--ptx",
        &ptx,
        "--json",
        &json,
        "--html",
        &html,
    ]);
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let json = serde_json::from_str(&read(&json)).unwrap_or_default();
    (told(&output), json, read(&html))
}

/// The counts are bad, so the profile is what one wants to see.
#[test]
fn a_kernel_without_its_swizzle_is_profiled_and_the_difference_named() {
    let ((status, out, error), json, html) =
        profile_edited("transpose_swizzled", |text| without_xor(text, 2));
    assert_eq!(status, Some(1), "{out}{error}");
    let difference = "differs from the catalogue: bank conflicts per shared load request: \
                      expected 0, counted 31, at 01_tiles.rs:";
    for words in [
        "32-way bank conflict (load from shared memory), 31 of 32",
        "let value = *tile.add(swizzled(x, y));",
        "ncu --csv",
        difference,
    ] {
        assert!(out.contains(words), "`{words}` is missing in:\n{out}");
    }
    // It is the last that is said, where a terminal ends up.
    let last = out.lines().last().unwrap_or_default();
    assert!(last.starts_with("differs from"), "{last}");
    assert!(!out.contains("the result is wrong"), "{out}");
    // The line with the conflicts is the line that differs.
    let (place, _) = out.split_once(": 32-way").expect("seen above");
    let place = place.lines().last().unwrap_or_default();
    assert!(last.ends_with(&format!("at {place}")), "{last}");

    assert_eq!(json["rows"][2]["ways"], 32);
    assert_eq!(json["trouble"], serde_json::Value::Null);
    assert_eq!(json["differences"][0]["counted"], 31.0);
    assert_eq!(json["differences"].as_array().map(Vec::len), Some(1));
    assert!(html.contains("32-way bank conflict"), "{html}");
    assert!(html.contains("differs from the catalogue"), "{html}");
}

#[test]
fn a_kernel_with_a_wrong_result_is_profiled_and_its_element_named() {
    let ((status, out, error), json, html) =
        profile_edited("transpose_swizzled", |text| without_xor(text, 1));
    assert_eq!(status, Some(1), "{out}{error}");
    assert!(out.contains("sectors 1,024 (ideal 1,024)"), "{out}");
    let last = out.lines().last().unwrap_or_default();
    assert!(
        last.starts_with(
            "the result is wrong: 3968 of 4096 elements are wrong; first at row 0, column 1:"
        ),
        "{last}"
    );
    let wrong = json["trouble"]["wrong_result"].as_str();
    assert!(wrong.is_some_and(|told| told.starts_with("3968")), "{json}");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(4));
    assert!(html.contains("the result is wrong"), "{html}");
}

/// A wrong result does not hide that the counts are bad too.
#[test]
fn a_wrong_result_with_bad_counts_is_told_with_both() {
    let ((status, out, error), json, _) = profile_edited("transpose_swizzled", |text| {
        // Every block as if it were the first: right for that one alone.
        without_xor(text, 2).replace("%ctaid.x;", "%tid.z;")
    });
    assert_eq!(status, Some(1), "{error}");
    assert!(out.contains("the result is wrong: "), "{out}");
    assert!(
        out.contains("differs from the catalogue: bank conflicts"),
        "{out}"
    );
    assert!(json["trouble"]["wrong_result"].is_string(), "{json}");
}

/// What had run when a launch failed depends on the host's threads, so there is no
/// profile, but the lines at fault.
#[test]
fn a_fault_is_told_with_its_lines() {
    let ((status, out, error), json, html) =
        profile_edited("transpose_coalesced_read", with_bad_load);
    assert_eq!((status, &*out), (Some(1), ""), "{error}");
    assert!(json.is_null() && html.is_empty());
    for words in [
        "past the end of",
        "gpu-kernels/src/03_transpose/01_tiles.rs:",
        "\n>  ",
    ] {
        assert!(error.contains(words), "`{words}` is missing in: {error}");
    }
    let line = error.lines().find(|line| line.starts_with('>'));
    assert!(
        line.is_some_and(|line| line.contains("let value = *input.add(")),
        "{error}"
    );
}

/// `run-all` names the line as well, and what to type to see more.
#[test]
fn a_run_names_the_line_and_the_command_to_look_at_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |kernel: &str, edit: &dyn Fn(&str) -> String| {
        let ptx = edited(folder.path(), kernel, edit);
        let ptx = ptx.to_string_lossy().into_owned();
        let output = lockstep(&[
            "run-all",
            "--engine=sim",
            "--quick",
            "--filter",
            kernel,
            "--ptx",
            &ptx,
        ]);
        let (status, out, error) = told(&output);
        assert_eq!(status, Some(1), "{out}{error}");
        (out, ptx)
    };
    let (out, ptx) = run("transpose_swizzled", &|text| without_xor(text, 2));
    assert!(
        out.contains("expected 0, counted 31, at 01_tiles.rs:"),
        "{out}"
    );
    let look = format!(
        "to look at it: cargo xtask profile transpose_swizzled --shape=256x256 --ptx {ptx}\n"
    );
    assert!(out.contains(&look), "{out}");
    // What it says to type is right.
    let words = look.split_whitespace().skip(6).collect::<Vec<_>>();
    let (status, out, error) = told(&lockstep(&words));
    assert_eq!(status, Some(1), "{out}{error}");
    assert!(out.contains("32-way bank conflict"), "{out}");

    let (out, _) = run("transpose_coalesced_read", &with_bad_load);
    assert!(
        out.contains("at gpu-kernels/src/03_transpose/01_tiles.rs:"),
        "{out}"
    );
    assert!(
        out.contains("to look at it: cargo xtask profile transpose_coalesced_read"),
        "{out}"
    );
}

/// A lesson's name stands for its kernel if it has one only.
#[test]
fn a_lessons_name_lists_its_kernels() {
    for command in ["profile", "ptx"] {
        let (status, out, error) = told(&lockstep(&[command, "transpose"]));
        assert_eq!((status, &*out), (Some(2), ""), "{error}");
        for words in [
            "`transpose` is a lesson; name one of its kernels:",
            "transpose_padded               tile row padded by one element",
        ] {
            assert!(error.contains(words), "`{words}` is missing in: {error}");
        }
        assert!(!error.contains("near names"), "{error}");
        let (status, _, error) = told(&lockstep(&[command, "tranpose"]));
        assert_eq!(status, Some(2));
        assert!(error.contains("near names: `transpose`"), "{error}");
    }
    let (_, _, error) = told(&lockstep(&["ptx", "qqq"]));
    assert!(
        error.contains("`cargo xtask list` shows all names"),
        "{error}"
    );
}

#[test]
fn a_file_without_the_kernel_is_a_usage_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("none.ptx");
    std::fs::write(&path, ".version 8.0\n.target sm_80\n").expect("a file");
    let path = path.to_string_lossy();
    let (status, _, error) = told(&lockstep(&["profile", "copy", "--ptx", &path]));
    assert_eq!(status, Some(2), "{error}");
    assert!(error.contains("has no entry `copy`"), "{error}");
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
