//! Rust-CUDA's compile tests: files of kernels that compile, or that must not. One has passed if
//! our compiler does the same with it.
//!
//! Left out: the PTX and the messages that some expect, which are those of its own backend; and its
//! options for that backend.

use super::{PATIENCE, our_cuda_builder, our_cuda_std, sources, work, write_package};
use crate::catalogue::Client;
use crate::fetch::{Home, cargo};
use crate::process::{self, End};
use crate::run::Run;
use crate::runner::{Files, Ran, Test, Verdict};
use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The folder of the tests in the sources.
const FOLDER: &str = "tests/compiletests/ui";

/// The capability that they are compiled for, unless they name another.
const CAPABILITY: &str = "compute_75";

/// Compiles all of them.
///
/// # Errors
/// The sources are missing, or the program that compiles them cannot be built.
pub fn run(client: Client, home: &Home, run: &Run) -> anyhow::Result<Ran> {
    if run.files.is_some() {
        bail!("its tests take minutes: run it without --files");
    }
    let folder = sources(home)?.join(FOLDER);
    let files = Files::new(home, client, "tests")?;
    let compiler = build(home, &files)?;
    let mut ran = Ran::default();
    let started = Instant::now();
    for pattern in client.tests(run.is_quick) {
        let pattern = folder.join(pattern);
        for path in glob::glob(&pattern.to_string_lossy())? {
            let path = path?;
            let name = path.strip_prefix(&folder).unwrap_or(&path);
            let verdict = one(client, home, &compiler, &path, &files)?;
            let name = name.to_string_lossy().into_owned();
            ran.tests.push(Test { name, verdict });
        }
    }
    ensure!(!ran.tests.is_empty(), "there are no tests in {FOLDER}");
    ran.seconds = started.elapsed().as_secs_f64();
    Ok(ran)
}

/// Builds the program that compiles kernels.
fn build(home: &Home, files: &Files) -> anyhow::Result<PathBuf> {
    let folder = work(home, "build-kernels");
    let source = include_str!("../../rust-cuda/build_kernels.rs");
    let dependency = ("cuda_builder", our_cuda_builder());
    write_package(&folder, "main.rs", source, "build-kernels", dependency)?;
    let mut cargo = cargo();
    cargo.arg("build").current_dir(&folder);
    cargo.env("CARGO_TARGET_DIR", folder.join("target"));
    process::tool(&mut cargo, &files.log, PATIENCE).context("the compiler cannot be built")?;
    Ok(folder.join("target/debug/build-kernels"))
}

/// Compiles a test.
fn one(
    client: Client,
    home: &Home,
    compiler: &Path,
    path: &Path,
    files: &Files,
) -> anyhow::Result<Verdict> {
    let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    let wanted = Wanted::of(&text);
    if wanted.outcome == Outcome::BackendFails {
        return Ok(Verdict::Skipped);
    }
    let kernels = work(home, "compile-test");
    let dependency = ("cuda_std", our_cuda_std());
    write_package(&kernels, "lib.rs", &text, &wanted.name, dependency)?;
    let mut command = Command::new(compiler);
    command.arg(&kernels).arg(&wanted.capability);
    let limit = Duration::from_secs(client.entry.limit);
    let End::Own(status) = process::run(&mut command, &files.log, limit)? else {
        return Ok(Verdict::Failed("the compiler did not end".to_owned()));
    };
    let said = fs::read_to_string(&files.log).context("the compiler's log is gone")?;
    let expected = fs::read_to_string(path.with_extension("stderr")).unwrap_or_default();
    Ok(match (wanted.outcome, status.success()) {
        (Outcome::Compiles, true) => Verdict::Passed,
        (Outcome::Compiles, false) => Verdict::Failed(said),
        (_, true) => Verdict::Failed("it compiles, and should not".to_owned()),
        (_, false) if says_the_same(&expected, &said) => Verdict::Passed,
        (_, false) => Verdict::Failed(said),
    })
}

/// Whether a text has the first error of another, by rustc's code for it.
fn says_the_same(expected: &str, said: &str) -> bool {
    let mut lines = expected.lines();
    let first = lines.find(|line| line.starts_with("error"));
    let code = first.and_then(|line| line.split_once(':'));
    code.is_some_and(|(code, _)| said.contains(code))
}

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Compiles,
    Fails,
    /// It compiles, but not with the backend that the test is for.
    BackendFails,
}

/// The directives of a test, in comments.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    name: String,
    capability: String,
    outcome: Outcome,
}

impl Wanted {
    fn of(text: &str) -> Self {
        let mut wanted = Self {
            name: "compile-test".to_owned(),
            capability: CAPABILITY.to_owned(),
            outcome: Outcome::Fails,
        };
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("#![crate_name = \"") {
                wanted.name = name.trim_end_matches("\"]").to_owned();
            }
            match line.strip_prefix("//").map(str::trim) {
                Some("build-pass") => wanted.outcome = Outcome::Compiles,
                Some("build-fail") => wanted.outcome = Outcome::BackendFails,
                Some(directive) => {
                    if let Some(only) = directive.strip_prefix("only-") {
                        wanted.capability = only.to_owned();
                    }
                }
                None => {}
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read() {
        let wanted = |name: &str, capability: &str, outcome| Wanted {
            name: name.to_owned(),
            capability: capability.to_owned(),
            outcome,
        };
        assert_eq!(
            Wanted::of("// build-pass\n// only-compute_70\nfn f() {}\n"),
            wanted("compile-test", "compute_70", Outcome::Compiles)
        );
        assert_eq!(
            Wanted::of("#![crate_name = \"a\"]\n// It must not.\n"),
            wanted("a", CAPABILITY, Outcome::Fails)
        );
        assert_eq!(
            Wanted::of("// only-compute_120a\n// build-fail\n").outcome,
            Outcome::BackendFails
        );
    }

    #[test]
    fn an_error_is_the_same_by_its_code() {
        let expected = "error[E0433]: cannot find `std`\n  --> a.rs\n";
        assert!(says_the_same(
            expected,
            "\nerror[E0433]: failed to resolve\n"
        ));
        assert!(!says_the_same(
            expected,
            "error[E0425]: cannot find value\n"
        ));
        assert!(!says_the_same("", "error[E0425]: cannot find value\n"));
    }
}
