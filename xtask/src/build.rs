//! Building the binary `lockstep`, with cargo's own progress on stderr.

use crate::fresh::Record;
use crate::{kernels, progress, workspace};
use anyhow::{Context, bail};
use cuda_builder::toolchain::Locator;
use serde_json::Value;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// The program, built if something that it is made of has changed.
///
/// The kernels' compiler is fetched here and not by the program, because here
/// progress can be shown.
pub fn lockstep() -> anyhow::Result<PathBuf> {
    let program = beside_this_program();
    if let Some(program) = &program
        && Record::read(program).is_some_and(|mut record| record.holds(program))
    {
        return Ok(program.clone());
    }
    fetch_compiler()?;
    let is_first = program.is_none_or(|program| {
        Record::remove(&program);
        !program.exists()
    });
    let started = SystemTime::now();
    // The first time there is everything to compile, and two cores to do it.
    let warm_up = is_first.then(kernels::warm_up);
    let built = cargo_build(false);
    if let Some(warm_up) = warm_up {
        warm_up.end();
    }
    let built = built?;
    if let Some(record) = Record::of(&built, started) {
        record.write(&built);
    }
    Ok(built)
}

/// The program, optimised for use elsewhere.
pub fn release() -> anyhow::Result<PathBuf> {
    fetch_compiler()?;
    cargo_build(true)
}

fn fetch_compiler() -> anyhow::Result<()> {
    Locator::from_env(&workspace::kernels())?.ensure(&*progress::on_stderr())?;
    Ok(())
}

/// Where cargo puts it if it is built as this program was.
fn beside_this_program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.with_file_name(format!("lockstep{}", std::env::consts::EXE_SUFFIX)))
}

fn cargo_build(release: bool) -> anyhow::Result<PathBuf> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        // Not `--package`: features are then those of the whole workspace, as for its
        // tests, and nothing is compiled twice.
        .args(["build", "--bin=lockstep"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(workspace::root())
        .stdout(Stdio::piped());
    if release {
        command.arg("--release");
    }
    // What cargo runs has no terminal to look at; we have.
    let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    if std::io::stderr().is_terminal() && unset("NO_COLOR") && unset("CARGO_TERM_COLOR") {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command.spawn().context("cannot run cargo")?;
    let mut binary = None;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            binary = executable(&line).or(binary);
        }
    }
    if !child.wait().context("cargo was lost")?.success() {
        bail!("`lockstep` could not be built (see above)");
    }
    binary.context("cargo built no binary `lockstep`")
}

/// The program's path, if a line of cargo's tells it.
fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_ours =
        message["reason"] == "compiler-artifact" && message["target"]["name"] == "lockstep";
    let path = message["executable"].as_str().filter(|_| is_ours)?;
    Some(Path::new(path).into())
}
