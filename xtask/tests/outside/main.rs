//! Projects outside the repository, as users have them: made by `cargo xtask new`, and
//! `examples/outside`. They are built offline, in this repository's target folder, with an
//! unoptimised simulator, which compiles fastest: their kernels are small.
#![cfg(unix)]

mod errors;
mod mistakes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is in the repository")
}

/// What cargo prints in a project, and whether it succeeds.
fn cargo(project: &Path, arguments: &[&str]) -> (bool, String) {
    let (succeeds, out, err) = cargo_apart(project, arguments);
    (succeeds, out + &err)
}

/// The same, with what it prints to its standard output and to its standard error.
fn cargo_apart(project: &Path, arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO"))
        .args(["--config", "profile.dev.package.ptx_sim.opt-level=0"])
        .args(["--config", "profile.dev.package.\"*\".debug=false"])
        .args(arguments)
        .arg("--offline")
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target())
        .env("RUST_BACKTRACE", "0")
        // Nothing of it is compiled a second time.
        .env("CARGO_INCREMENTAL", "0")
        // Always the simulator, even with a GPU.
        .env("LOCKSTEP_LIBCUDA", "none")
        .env_remove("RUSTC_BOOTSTRAP")
        .output()
        .expect("cargo is there");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// This repository's target folder.
fn target() -> &'static Path {
    let inside = Path::new(env!("CARGO_TARGET_TMPDIR"));
    inside.parent().expect("it is in the target folder")
}

/// Whether a package's build script was compiled together with its kernels.
fn has_build_script_for_the_device(package: &str) -> bool {
    let entries = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten();
    entries(target().join("lockstep-kernels"))
        .flat_map(|profile| entries(profile.path().join(".fingerprint")))
        .filter(|unit| unit.file_name().to_string_lossy().starts_with(package))
        .flat_map(|unit| entries(unit.path()))
        .any(|file| {
            file.file_name()
                .to_string_lossy()
                .starts_with("build-script")
        })
}

/// A folder outside the repository, with the versions that the repository was tested with.
fn outside() -> TempDir {
    tempfile::tempdir().expect("there is room")
}

fn lock(project: &Path) {
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).expect("it is copied");
}

/// Changes a file of a project.
fn edit(file: PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(&file).expect("it is there");
    assert!(text.contains(from), "{} has no `{from}`", file.display());
    fs::write(file, text.replace(from, to)).expect("it is written");
}

/// A project made by `cargo xtask new`.
fn new_project(outside: &TempDir, name: &str) -> PathBuf {
    let project = outside.path().join(name);
    let made = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("new")
        .arg(&project)
        .output()
        .expect("xtask runs");
    let said = String::from_utf8_lossy(&made.stdout);
    assert!(
        made.status.success() && said.contains("cargo test"),
        "{said}"
    );
    project
}

/// Copies a project's sources.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("there is room");
    for entry in fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it is there");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("it has one").is_dir() {
            true if entry.file_name() == "target" => {}
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).expect("it is copied")),
        }
    }
}

/// A copy of `examples/outside`.
fn example(outside: &TempDir) {
    let example = root().join("examples/outside");
    copy(&example, outside.path());
    let crates = root().join("crates");
    let manifest = outside.path().join("Cargo.toml");
    edit(
        manifest,
        "../../crates",
        crates.to_str().expect("a path in UTF-8"),
    );
    lock(outside.path());
}

#[test]
fn a_new_project_runs_and_a_planted_conflict_fails_its_test() {
    let outside = outside();
    let project = new_project(&outside, "my-own");

    let (ran, text) = cargo(&project, &["run"]);
    assert!(ran && text.contains("output[7][0] is 7\n"), "{text}");
    assert!(text.contains("simulator: "), "{text}");
    assert!(!has_build_script_for_the_device("my-own"));
    let (passed, text) = cargo(&project, &["test"]);
    assert!(passed && text.contains("2 passed"), "{text}");

    // Rows without the extra element that spreads a column over the banks.
    edit(project.join("src/kernels.rs"), "TILE + 1;", "TILE;");
    let (passed, text) = cargo(&project, &["test"]);
    assert!(!passed, "{text}");
    let message = "\
kernel `transpose`, launched with 4×2×1 blocks of 32×32×1 threads: expected 0 bank conflicts, counted 7936
  src/kernels.rs:41  let value = *tile.add(place(x, y));
      7936 conflicts in 256 requests, 32-way at worst
";
    assert!(text.contains(message), "{text}");
}

#[test]
fn a_new_project_overwrites_nothing() {
    let outside = outside();
    fs::write(outside.path().join("mine"), "mine").expect("it is written");
    let refused = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("new")
        .arg(outside.path())
        .output()
        .expect("xtask runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert_eq!(
        fs::read_dir(outside.path()).expect("it is there").count(),
        1
    );
}

#[test]
fn the_example_outside_passes_and_its_tests_see_defects() {
    let outside = outside();
    example(&outside);

    let (passed, text) = cargo(outside.path(), &["test"]);
    assert!(passed && text.contains("2 passed"), "{text}");
    for test in [
        "the_page_has_both_kernels_with_their_lines_and_maps",
        "safety_costs_next_to_nothing",
    ] {
        assert!(text.contains(&format!("{test} ... ok")), "{text}");
    }

    // No barrier between the stores and the loads of others.
    let kernels = || outside.path().join("kernels/src/lib.rs");
    edit(kernels(), "    thread::sync_threads();\n", "");
    let (passed, text) = cargo(outside.path(), &["test", "--test", "sums"]);
    assert!(
        !passed && text.contains("row_sums_shared") && text.contains("race"),
        "{text}"
    );
}
