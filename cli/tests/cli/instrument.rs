//! The simulator as an instrument, from the command line: `check-counters` and
//! `profile`.

use super::support::{
    edited, fails, json_of, passes, stderr, stdout, usage_errors, with_bad_load, without_xor, xtask,
};
use std::path::Path;
use std::process::Output;

const DATA: &str = "../simulator/ptx_sim/tests/data/h200-access-counters.csv";

fn check(folder: &Path, text: &str) -> Output {
    let path = folder.join("cases.csv");
    std::fs::write(&path, text).expect("a file");
    xtask(format!("check-counters {}", path.display()))
}

#[test]
fn all_cases_of_the_data_agree() {
    let out = passes(&xtask(format!("check-counters {DATA}")));
    assert_eq!(out, "230 of 230 cases agree\n");
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
    let output = check(folder.path(), &text);
    let words = [
        "line 3: shared_wavefronts: expected 3, got 2",
        "\n1 of 2 cases agree\n",
    ];
    fails(&output, 1, &words);
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
            "line 2: `mov.u32` is not an instruction that is counted",
        ),
    ] {
        let output = check(folder.path(), &text);
        fails(&output, 2, &[words]);
        assert!(output.stdout.is_empty());
    }
    fails(&xtask("check-counters /nonexistent.csv"), 2, &[]);
}

#[test]
fn fresh_cases_need_a_gpu_or_are_the_simulators() {
    for engine in ["--engine=gpu", "--engine=auto"] {
        let output = xtask(format!("check-counters --fresh=1 {engine}"));
        let words = [
            "fresh cases are measured on a GPU",
            "no CUDA driver",
            "Nothing was measured",
        ];
        fails(&output, 3, &words);
        assert!(output.stdout.is_empty());
    }

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fresh.csv");
    let path = path.display();
    let fresh = "check-counters --fresh=1 --each=2 --engine=sim";
    let output = xtask(format!("{fresh} --write {path}"));
    let words = "with the simulator's launches; no hardware was measured";
    fails(&output, 0, &[words]);
    let out = stdout(&output);
    // What was written can be checked again.
    let again = passes(&xtask(format!("check-counters {path}")));
    assert!(out.starts_with(again.trim_end()), "{again}{out}");
}

#[test]
fn a_profile_names_the_line_and_the_counters() {
    let folder = tempfile::tempdir().expect("a folder");
    let (output, json, html) = profile_to(folder.path(), "transpose_shared");
    let words = [
        "transpose_shared at 64×64",
        "32-way bank conflict",
        "gpu-kernels/src/04_transpose/01_tiles.rs",
        "let value = *tile.add(plain(x, y));",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "ncu --csv",
        "profile transpose_shared --launch-only --shape=64x64",
    ];
    fails(&output, 0, &words);
    let out = stdout(&output);
    // No terminal, no colours.
    assert!(!out.contains('\u{1b}'), "{out}");

    let rows = json["rows"].as_array().expect("rows");
    let ways: Vec<_> = rows
        .iter()
        .map(|row| row["ways"].as_u64().expect("a number"))
        .collect();
    assert_eq!(ways, [0, 1, 32, 0]);
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("32-way bank conflict"));
    // Nothing is loaded, and links stay in the page.
    assert!(!html.contains("src=") && !html.contains("url("));
    let mut links = html.split("href=\"").skip(1);
    assert!(links.all(|link| link.starts_with('#')));
}

#[test]
fn wrong_profiles_are_usage_errors() {
    usage_errors(
        "",
        "profile transpose_sharde              => near names
         profile transpose_shared --shape=64   => has sizes such as
         profile transpose_shared --arch=sm_10 => possible values",
    );
}

/// Profiles a kernel at 64×64 into files; returns the output, the JSON and the page.
fn profile_to(folder: &Path, kernel: &str) -> (Output, serde_json::Value, String) {
    let [json, html] = ["profile.json", "profile.html"].map(|name| folder.join(name));
    let files = format!("--json {} --html {}", json.display(), html.display());
    let output = xtask(format!("profile {kernel} --shape=64x64 {files}"));
    let json = match json.exists() {
        true => json_of(&json),
        false => serde_json::Value::Null,
    };
    (
        output,
        json,
        std::fs::read_to_string(html).unwrap_or_default(),
    )
}

/// The same with a kernel of an edited module.
fn profile_edited(
    kernel: &str,
    edit: impl Fn(&str) -> String,
) -> (Output, serde_json::Value, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = edited(folder.path(), kernel, edit);
    profile_to(folder.path(), &format!("{kernel} --ptx {}", ptx.display()))
}

/// The counts are bad, so the profile is of interest.
#[test]
fn a_kernel_without_its_swizzle_is_profiled_and_the_difference_named() {
    let (output, json, html) = profile_edited("transpose_swizzled", |text| without_xor(text, 2));
    let difference = "differs from the catalogue: bank conflicts per shared load request: \
                      expected 0, counted 31, at 01_tiles.rs:";
    let words = [
        "32-way bank conflict (load from shared memory), 31 of 32",
        "let value = *tile.add(swizzled(x, y));",
        "ncu --csv",
        difference,
    ];
    fails(&output, 1, &words);
    let out = stdout(&output);
    // It comes last, at the end of a terminal's screen.
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
    let (output, json, html) = profile_edited("transpose_swizzled", |text| without_xor(text, 1));
    fails(&output, 1, &["sectors 1,024 (ideal 1,024)"]);
    let out = stdout(&output);
    let last = out.lines().last().unwrap_or_default();
    let wrong = "the result is wrong: 3968 of 4096 elements are wrong; first at row 0, column 1:";
    assert!(last.starts_with(wrong), "{last}");
    let wrong = json["trouble"]["wrong_result"].as_str();
    assert!(wrong.is_some_and(|told| told.starts_with("3968")), "{json}");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(4));
    assert!(html.contains("the result is wrong"), "{html}");
}

/// A wrong result does not hide that the counts are bad too.
#[test]
fn a_wrong_result_with_bad_counts_is_told_with_both() {
    let (output, json, _) = profile_edited("transpose_swizzled", |text| {
        // Every block as if it were the first: right for that one only.
        without_xor(text, 2).replace("%ctaid.x;", "%tid.z;")
    });
    let differs = "differs from the catalogue: bank conflicts";
    fails(&output, 1, &["the result is wrong: ", differs]);
    assert!(json["trouble"]["wrong_result"].is_string(), "{json}");
}

/// Which blocks had run when a launch failed depends on the host's threads, so there is no
/// profile, only the lines at fault.
#[test]
fn a_fault_is_told_with_its_lines() {
    let (output, json, html) = profile_edited("transpose_coalesced_read", with_bad_load);
    let place = "gpu-kernels/src/04_transpose/01_tiles.rs:";
    fails(&output, 1, &["past the end of", place, "\n>  "]);
    assert!(output.stdout.is_empty() && json.is_null() && html.is_empty());
    let error = stderr(&output);
    let line = error.lines().find(|line| line.starts_with('>'));
    assert!(
        line.is_some_and(|line| line.contains("let value = *input.add(")),
        "{error}"
    );
}

/// `run-all` names the line as well, and the command that shows more.
#[test]
fn a_run_names_the_line_and_the_command_to_look_at_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |kernel: &str, edit: &dyn Fn(&str) -> String| {
        let ptx = edited(folder.path(), kernel, edit).display().to_string();
        let quick = format!("run-all --engine=sim --quick --filter {kernel} --ptx {ptx}");
        (xtask(quick), ptx)
    };
    let (output, ptx) = run("transpose_swizzled", &|text| without_xor(text, 2));
    let look = format!(
        "to look at it: cargo xtask profile transpose_swizzled --shape=256x256 --ptx {ptx}\n"
    );
    let counts = "expected 0, counted 31, at 01_tiles.rs:";
    fails(&output, 1, &[counts, &look]);
    // The command that it suggests works.
    let (_, suggested) = look.split_once("xtask ").expect("a command");
    fails(&xtask(suggested), 1, &["32-way bank conflict"]);

    let (output, _) = run("transpose_coalesced_read", &with_bad_load);
    let place = "at gpu-kernels/src/04_transpose/01_tiles.rs:";
    let look = "to look at it: cargo xtask profile transpose_coalesced_read";
    fails(&output, 1, &[place, look]);
}

/// A lesson's name stands for its kernel if it has only one.
#[test]
fn a_lessons_name_lists_its_kernels() {
    for command in ["profile", "ptx"] {
        let output = xtask(format!("{command} transpose"));
        let words = [
            "`transpose` is a lesson; name one of its kernels:",
            "transpose_padded               tile row padded by one element",
        ];
        fails(&output, 2, &words);
        assert!(output.stdout.is_empty() && !stderr(&output).contains("near names"));
    }
    usage_errors(
        "",
        "profile tranpose => near names: `transpose`
         ptx tranpose     => near names: `transpose`",
    );
}

#[test]
fn a_file_without_the_kernel_is_a_usage_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("none.ptx");
    std::fs::write(&path, ".version 8.0\n.target sm_80\n").expect("a file");
    let output = xtask(format!("profile copy --ptx {}", path.display()));
    fails(&output, 2, &["has no entry `copy`"]);
}

/// Without a GPU the prediction is printed, with a remark that nothing was measured.
#[test]
fn measuring_without_a_gpu_is_not_run() {
    let output = xtask("profile transpose_swizzled --shape=64x64 --measure");
    fails(
        &output,
        3,
        &["not measured: no CUDA driver", "Nothing wasted"],
    );
}
