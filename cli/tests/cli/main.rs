//! The program as people run it: what it prints, where, and how it ends.
//!
//! This file has what all commands share; written files are in [`outputs`],
//! verdicts that no one reads in [`pipes`], orders other than the usual one in
//! [`schedules`], exercises in [`learn`], shapes that do not fit in [`sizes`], hints and refusals
//! in [`words`], the user's own atoms in [`neighbors`], the simulator as an instrument in
//! [`instrument`], the page of lessons in [`report`], tables at several widths in [`widths`], README's
//! first change in [`change_it`].

mod change_it;
mod instrument;
mod learn;
#[cfg(unix)]
mod lost_gpu;
mod neighbors;
mod outputs;
mod pipes;
mod report;
mod schedules;
mod sizes;
mod support;
mod widths;
mod words;

use std::path::Path;
use support::{
    command, fails, first_line, json_of, lockstep, module_of, passes, run_edited, stderr, stdout,
    usage_errors, with_bad_load, without, without_tools,
};

#[test]
fn a_run_that_passes_ends_with_zero() {
    let output = lockstep("run-all --engine sim --quick --filter transpose");
    let table = passes(&output);
    assert!(stderr(&output).contains("engine: simulator"));
    assert!(table.contains("0 failed, 0 not run"), "{table}");
    assert!(!table.contains('\u{1b}'), "no colours for a pipe: {table}");
    // Progress goes only to stderr.
    assert!(!table.contains("[1/"), "{table}");
    // Counts are the same everywhere; the time it took is not.
    let (table, _) = table.rsplit_once(" in ").expect("a summary");
    insta::assert_snapshot!("transpose_quick", table);
}

#[test]
fn colours_are_forced_and_refused() {
    let list = |variable: &str| {
        let output = command("list")
            .env(variable, "1")
            .output()
            .expect("the program runs");
        stdout(&output)
    };
    assert!(list("CLICOLOR_FORCE").contains('\u{1b}'));
    assert!(!list("NO_COLOR").contains('\u{1b}'));
}

#[test]
fn list_names_every_kernel() {
    let text = stdout(&lockstep("list"));
    let json: serde_json::Value =
        serde_json::from_slice(&lockstep("list --json").stdout).expect("JSON");
    for registered in host::registry::kernels() {
        assert!(text.contains(registered.kernel.id));
        assert!(json.to_string().contains(registered.kernel.id));
    }
}

#[test]
fn ptx_of_one_kernel() {
    let text = stdout(&lockstep("ptx transpose_swizzled"));
    assert!(
        text.contains(".version") && text.contains(".entry transpose_swizzled("),
        "{text}"
    );
    assert!(!text.contains(".entry transpose_padded("), "{text}");
}

#[test]
fn unknown_names_are_usage_errors_with_suggestions() {
    usage_errors(
        "",
        "run-all --filter transpose_swizled => transpose_swizled
         run-all --filter transpose_swizled => near names: `transpose_swizzled`
         ptx transpose_padde                => `transpose_padded`
         run-all --frobnicate               => --frobnicate
         run-all --quick --full             => cannot be used with",
    );
}

#[test]
fn a_missing_driver_is_told_with_its_cure() {
    let run = |engine: &str| {
        command(format!(
            "run-all --quick --filter transpose_padded --engine {engine}"
        ))
        .env("LOCKSTEP_LIBCUDA", "/nowhere/libcuda.so.1")
        .output()
        .expect("the program runs")
    };
    let words = [
        "no CUDA driver",
        "/nowhere/libcuda.so.1",
        "LOCKSTEP_LIBCUDA",
    ];
    fails(&run("gpu"), 3, &words);
    // If the choice is free, it runs on the simulator and says so in one line.
    let chosen = run("auto");
    passes(&chosen);
    let told = "engine: simulator (no GPU here; --engine gpu says why)";
    assert_eq!(first_line(&chosen), told);
}

#[test]
fn a_removed_barrier_is_found() {
    let output = run_edited("transpose_shared", |text| {
        without(&without(text, "bar.sync"), "barrier.sync")
    });
    fails(&output, 1, &["FAILED: transpose_shared"]);
}

#[test]
fn a_read_past_the_input_is_found() {
    let output = run_edited("transpose_coalesced_read", with_bad_load);
    let words = [
        "transpose_coalesced_read",
        "past the end of",
        "01_tiles.rs:",
        "PTX line",
    ];
    fails(&output, 1, &words);
}

#[test]
fn a_kernel_that_never_ends_is_stopped() {
    let output = run_edited("transpose_padded", |text| {
        let load = text
            .lines()
            .find(|line| line.trim_start().starts_with("ld.param"))
            .expect("it has parameters");
        text.replace(
            load,
            &format!("$L__forever:\n\tbra.uni $L__forever;\n{load}"),
        )
    });
    fails(&output, 1, &["transpose_padded", "did not end within"]);
}

#[test]
fn truncated_ptx_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("half.ptx");
    let text = module_of("transpose_padded");
    let half = text
        .find("transpose_padded_param_1")
        .expect("it is in the first kernels");
    std::fs::write(&path, &text[..half]).expect("a file");
    let path = path.display();
    let output = lockstep(format!("run-all --engine sim --quick --ptx {path}"));
    fails(&output, 1, &["half.ptx", "line"]);
}

#[test]
fn an_unknown_instruction_is_named_and_not_run() {
    let output = run_edited("transpose_shared", |text| {
        text.replace("bar.sync", "frobnicate.sync")
            .replace("barrier.sync", "frobnicate.sync")
    });
    // Not the kernel's fault, so it has not failed; but nothing has passed either.
    fails(
        &output,
        3,
        &["not run: transpose_shared", "frobnicate.sync", "PTX line"],
    );
}

#[test]
fn too_many_threads_are_refused() {
    let output = run_edited("transpose_shared", |text| {
        text.replace(".maxntid 1024", ".maxntid 64")
    });
    fails(
        &output,
        1,
        &["transpose_shared", "not launched", "32×32×1 threads", "64"],
    );
}

#[test]
fn a_kernel_that_is_missing_is_named() {
    let output = run_edited("transpose_shared", |text| {
        text.replace(".entry transpose_shared(", ".entry something_else(")
    });
    fails(
        &output,
        1,
        &["no kernel `transpose_shared`", "transpose_shared.ptx"],
    );
}

#[test]
fn results_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.json");
    let run = "run-all --engine sim --quick --filter transpose_shared --json";
    passes(&lockstep(format!("{run} {}", path.display())));
    let json = json_of(&path);
    assert_eq!(json["schema"], 1);
    assert_eq!(json["engine"], "sim");
    assert!(json["device"].is_string() && json["commit"].is_string());
    let results = json["results"].as_array().expect("a list");
    let mut shapes = results.iter();
    let one = shapes
        .find(|result| result["shape"] == "256x256")
        .expect("its shape");
    assert_eq!(one["lesson"], "transpose");
    assert_eq!(one["kernel"], "transpose_shared");
    assert_eq!(one["status"], "passed");
    assert_eq!(one["max_abs_error"], 0.0);
    assert!(
        one["time_ms_median"].is_null(),
        "simulated time means nothing"
    );
    assert_eq!(one["bytes"], 2 * 4 * 256 * 256);
    // A warp reads a column of 32 rows: 31 conflicts each.
    assert_eq!(one["counts"]["shared_load_conflicts"], 31 * 256 * 256 / 32);
    assert_eq!(one["counts"]["shared_store_conflicts"], 0);
    assert_eq!(one["counts"]["global_load_sectors"], 4 * 256 * 256 / 32);
    for count in [
        "shared_load_wavefronts",
        "shared_store_wavefronts",
        "ldmatrix_conflicts",
        "global_load_requests",
        "global_store_requests",
        "global_store_sectors",
        "local_load_sectors",
        "local_store_sectors",
        "thread_instructions",
    ] {
        assert!(one["counts"][count].is_u64(), "{count}");
    }
    // Counts of a sweep mean nothing, so they are null, but present.
    let mut shapes = results.iter();
    let sweep = shapes
        .find(|result| result["shape"] != "256x256")
        .expect("the sweep");
    assert!(sweep["counts"]["thread_instructions"].is_null());
    let files = std::fs::read_dir(folder.path()).expect("a folder");
    assert_eq!(files.count(), 1, "nothing temporary stays");
}

#[test]
fn sass_without_tools_says_how_to_get_them() {
    let output = without_tools("ptx transpose_padded --sass");
    // A toolkit in its usual folder is found without any of these.
    if !Path::new("/usr/local/cuda/bin/ptxas").exists() {
        fails(&output, 3, &["ptxas", "pip install nvidia-cuda-nvcc"]);
    }
}

/// Without a GPU nothing is measured, which is not a success.
#[test]
fn bench_needs_a_gpu_and_says_so() {
    let output = without_tools("bench copy");
    fails(&output, 3, &["GPU", "Nothing was"]);
    assert!(output.stdout.is_empty());
}

/// Errors in the command are found before a GPU is looked for.
#[test]
fn bench_refuses_what_it_cannot_do() {
    usage_errors(
        "",
        "bench transpose --sizes 64    => is not a shape for
         bench --samples 3             => 30
         bench --compare nothing-saved => --save nothing-saved
         bench transpose_swizled       => transpose_swizzled",
    );
}
