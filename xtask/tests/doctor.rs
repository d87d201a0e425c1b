//! `cargo xtask doctor` as a user meets it. Nothing here goes to the network.

use serde_json::Value;
use std::process::{Command, Output};

/// Runs it with nothing of this machine's own settings in the way.
fn doctor(configure: impl FnOnce(&mut Command)) -> (Output, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(["doctor", "--json"])
        .env_remove("LOCKSTEP_RUSTC");
    configure(&mut command);
    let output = command.output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    (output, report)
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no check {name}"))
}

#[test]
fn a_compiler_that_does_not_serve_is_named_with_the_cure() {
    let cache = tempfile::tempdir().unwrap();
    let (output, report) = doctor(|command| {
        command
            .env("LOCKSTEP_RUSTC", "/no/such/rustc")
            .env("LOCKSTEP_CACHE", cache.path());
    });
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report["ok"], false);
    let compiler = check(&report, "device compiler");
    assert_eq!(compiler["status"], "missing");
    assert!(
        compiler["detail"]
            .as_str()
            .unwrap()
            .contains("/no/such/rustc")
    );
    assert!(
        compiler["cure"]
            .as_str()
            .unwrap()
            .contains("LOCKSTEP_RUSTC")
    );
}

#[test]
fn a_cache_that_cannot_be_used_is_named_with_the_cure() {
    let (output, report) = doctor(|command| {
        // A file where the folder should be: not even root can use it.
        command.env(
            "LOCKSTEP_CACHE",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        );
    });
    assert_eq!(output.status.code(), Some(1));
    let cache = check(&report, "cache folder");
    assert_eq!(cache["status"], "missing");
    assert!(cache["cure"].as_str().unwrap().contains("LOCKSTEP_CACHE"));
}

#[test]
fn without_any_way_to_a_compiler_both_commands_are_given() {
    let cache = tempfile::tempdir().unwrap();
    let (output, report) = doctor(|command| {
        command
            .env("LOCKSTEP_CACHE", cache.path())
            .env("RUSTUP_HOME", cache.path().join("no-rustup"))
            .env("PATH", cache.path());
    });
    assert_eq!(output.status.code(), Some(1));
    let compiler = check(&report, "device compiler");
    assert_eq!(compiler["status"], "missing");
    let cure = compiler["cure"].as_str().unwrap();
    assert!(cure.contains("rustup toolchain install") && cure.contains("LOCKSTEP_RUSTC"));
}

#[test]
fn a_machine_without_a_gpu_is_no_sick_machine() {
    let (_, report) = doctor(|command| {
        command.env("LOCKSTEP_LIBCUDA", "/no/such/driver.so");
    });
    assert_eq!(check(&report, "CUDA driver")["status"], "absent");
}
