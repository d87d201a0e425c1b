//! A crate's unit tests: built by cargo, then run as a program.

use crate::catalogue::Client;
use crate::fetch::{Home, cargo};
use crate::process;
use crate::run::Run;
use crate::runner::{self, Files, Ran, Test, Verdict};
use anyhow::{Context, bail};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The time limit of building.
const PATIENCE: Duration = Duration::from_secs(1800);

/// Builds the tests and runs them.
///
/// # Errors
/// They cannot be built or started.
pub fn run(client: Client, home: &Home, run: &Run) -> anyhow::Result<Ran> {
    if run.files.is_some() {
        bail!("its tests are one program: run it without --files");
    }
    let files = Files::new(home, client, "tests")?;
    let program = build(client, home, &files)?;
    let mut ran = Ran::default();
    let mut command = Command::new(program);
    command.args(client.tests(run.is_quick));
    command.current_dir(home.source());
    // A test's message ends with what it asserts.
    command.env("RUST_BACKTRACE", "0");
    runner::prepare(&mut command, client, home, run, &files);
    let started = Instant::now();
    let limit = Duration::from_secs(client.entry.limit);
    let end = process::run(&mut command, &files.log, limit)?;
    ran.seconds = started.elapsed().as_secs_f64();
    let said = std::fs::read(&files.log).context("the tests' log is gone")?;
    ran.tests = tests(&String::from_utf8_lossy(&said));
    // libtest's exit status when tests have failed.
    const FAILED: i32 = 101;
    if let Some(said) = end.complaint(&[0, FAILED], limit, &files.log) {
        ran.tests.push(Test::failed("the process", said));
    }
    ran.add_report(&files.report)?;
    Ok(ran)
}

/// Has cargo build the tests; returns the program.
fn build(client: Client, home: &Home, files: &Files) -> anyhow::Result<PathBuf> {
    let mut cargo = cargo();
    cargo
        .args(["test", "--lib", "--no-run", "--no-default-features"])
        .arg("--message-format=json")
        .args(["--features", &client.entry.features])
        .current_dir(home.source())
        .env("CARGO_TARGET_DIR", home.dir.join("target"));
    process::tool(&mut cargo, &files.log, PATIENCE).context("its tests cannot be built")?;
    let said = std::fs::read_to_string(&files.log).context("cargo's output cannot be read")?;
    let messages = said.lines().rev();
    let mut programs = messages.filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    programs.next().context("cargo did not build any tests")
}

/// The tests in libtest's output.
fn tests(output: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    for line in output.lines() {
        let Some((name, told)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        else {
            continue;
        };
        let verdict = match told {
            "ok" => Verdict::Passed,
            "FAILED" => Verdict::Failed(said(output, name).to_owned()),
            _ if told.starts_with("ignored") => Verdict::Skipped,
            _ => continue,
        };
        // A test that must panic has a note after its name.
        let name = name.split(" - ").next().unwrap_or(name).to_owned();
        tests.push(Test { name, verdict });
    }
    tests
}

/// The message of a failed test.
fn said<'o>(output: &'o str, name: &str) -> &'o str {
    let Some((_, rest)) = output.split_once(&format!("---- {name} stdout ----\n")) else {
        return "";
    };
    let end = [rest.find("\n---- "), rest.find("\nfailures:\n")];
    let end = end.into_iter().flatten().min().unwrap_or(rest.len());
    rest[..end].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtests_output_is_read() {
        let output = "\nrunning 3 tests\ntest a::one ... ok\ntest a::two ... FAILED\n\
            test a::three - should panic ... ok\ntest b::four ... ignored, no such device\n\n\
            failures:\n\n---- a::two stdout ----\n\nthread 'a::two' panicked at src/a.rs:1:2:\n\
            it is 2\n\n\nfailures:\n    a::two\n\ntest result: FAILED. 2 passed; 1 failed\n";
        let said = "thread 'a::two' panicked at src/a.rs:1:2:\nit is 2";
        let expected = [
            Test::new("a::one", Verdict::Passed),
            Test::failed("a::two", said),
            Test::new("a::three", Verdict::Passed),
            Test::new("b::four", Verdict::Skipped),
        ];
        assert_eq!(tests(output), expected);
    }
}
