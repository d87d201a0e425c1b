//! Building the binary `lockstep`, with cargo's own progress on stderr.

use crate::kernels::WarmUp;
use crate::{fresh, progress, workspace};
use anyhow::{Context, bail};
use cuda_builder::toolchain::Locator;
use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program for commands that need kernels.
const LOCKSTEP: &str = "lockstep";

/// The program, built by cargo if its inputs have changed, for a command of these words.
pub fn lockstep(words: &[OsString]) -> anyhow::Result<PathBuf> {
    let (program, warm_up) = lockstep_early(words)?;
    if let Some(warm_up) = warm_up {
        warm_up.end();
    }
    Ok(program)
}

/// The same; the first time, a kernel may still be in the compiler's hands.
///
/// The kernels' compiler is fetched here and not by the program, because here
/// progress can be shown.
pub fn lockstep_early(words: &[OsString]) -> anyhow::Result<(PathBuf, Option<WarmUp>)> {
    let program = beside_this_program();
    if let Some(program) = &program
        && fresh::only_bodies_changed(program)
    {
        return Ok((program.clone(), None));
    }
    fetch_compiler()?;
    let is_first = program.is_none_or(|program| !program.exists());
    if is_first {
        // Otherwise a new user sees a list of crates, and does not know why.
        let style = anstyle::Style::new().dimmed();
        anstream::eprintln!(
            "{style}building the program; the first time this takes minutes (to read meanwhile: \
             book/src/words.md or exercises/01_index/exercise.rs){style:#}"
        );
    }
    let view = fresh::view();
    // Kernels can be compiled alongside.
    let warm_up = match is_first {
        true => WarmUp::of_all(),
        false => WarmUp::of_kernels(words),
    };
    let built = binary(LOCKSTEP, &[]);
    warm_up.start_nothing_more();
    let rest = match is_first && built.is_ok() {
        true => Some(warm_up),
        false => {
            warm_up.end();
            None
        }
    };
    let built = built?;
    fresh::record(&built, view.as_deref());
    Ok((built, rest))
}

/// The program, optimised for use elsewhere.
pub fn release() -> anyhow::Result<PathBuf> {
    fetch_compiler()?;
    binary(LOCKSTEP, &["--release"])
}

fn fetch_compiler() -> anyhow::Result<()> {
    Locator::from_env()?.ensure(&*progress::on_stderr())?;
    Ok(())
}

/// Where cargo puts it, if it is built like this program.
fn beside_this_program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.with_file_name(format!("lockstep{}", std::env::consts::EXE_SUFFIX)))
}

/// A tool of the repository, by its binary's name.
pub fn tool(name: &str) -> anyhow::Result<PathBuf> {
    binary(name, &[])
}

/// The driver on the simulator, the runtime's two versions, and NCCL: shared libraries.
pub struct Libraries {
    /// `libcuda.so.1`
    pub driver: PathBuf,
    /// `libcudart.so.12`
    pub runtime_12: PathBuf,
    /// `libcudart.so.13`
    pub runtime_13: PathBuf,
    /// `libnccl.so.2`
    pub nccl: PathBuf,
}

/// Builds the libraries, all at once.
pub fn libraries() -> anyhow::Result<Libraries> {
    // This program has no library. It is named so that shared dependencies get the features of the
    // whole workspace, and the simulator is not compiled again.
    let packages = [
        "--lib",
        "--package=sim_driver_library",
        "--package=sim_runtime_library_12",
        "--package=sim_runtime_library_13",
        "--package=sim_nccl",
        "--package=xtask",
    ];
    let built = cargo_build("the simulator's driver", &packages)?;
    Ok(Libraries {
        driver: of(&built, "cuda")?,
        runtime_12: of(&built, "cudart12")?,
        runtime_13: of(&built, "cudart13")?,
        nccl: of(&built, "sim_nccl")?,
    })
}

/// The file of an artifact among cargo's messages.
fn of(messages: &[String], artifact: &str) -> anyhow::Result<PathBuf> {
    let files = messages.iter().rev();
    let mut files = files.filter_map(|line| built_file(line, artifact));
    files
        .next()
        .with_context(|| format!("cargo built no {artifact}"))
}

/// Without `--package`, features are those of the whole workspace, as for its tests, and nothing is
/// compiled twice.
fn binary(name: &str, further: &[&str]) -> anyhow::Result<PathBuf> {
    let chosen = format!("--bin={name}");
    let arguments = [&[chosen.as_str()], further].concat();
    of(&cargo_build(name, &arguments)?, name)
}

/// Runs `cargo build`; returns its messages.
fn cargo_build(name: &str, arguments: &[&str]) -> anyhow::Result<Vec<String>> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .arg("build")
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(workspace::root())
        .stdout(Stdio::piped());
    // Piped, cargo's programs would not use colours, but their messages go to our terminal.
    let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    if std::io::stderr().is_terminal() && unset("NO_COLOR") && unset("CARGO_TERM_COLOR") {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command.spawn().context("cannot run cargo")?;
    let stdout = child.stdout.take().context("cargo has no output")?;
    let messages = BufReader::new(stdout)
        .lines()
        .map_while(Result::ok)
        .collect();
    if !child.wait().context("cannot wait for cargo")?.success() {
        bail!("{name} could not be built (see above)");
    }
    Ok(messages)
}

/// The path of a program or library, if a line of cargo's output gives it.
fn built_file(line: &str, artifact: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_ours = message["reason"] == "compiler-artifact" && message["target"]["name"] == artifact;
    let mut files = message["filenames"].as_array()?.iter();
    let only = |path: &Value| path.as_str().map(PathBuf::from);
    let path = message["executable"].as_str().map(PathBuf::from);
    path.or_else(|| files.find_map(only)).filter(|_| is_ours)
}
