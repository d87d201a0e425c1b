//! The commands of other programs: the binary `lockstep`, and tools with dependencies of
//! their own, which would make this program slower to compile.

use crate::kernels::WarmUp;
use crate::{build, commands, workspace};
use anyhow::Context;
use clap::{Arg, ArgAction, Command};
use cuda_builder::toolchain::Locator;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Names of tools, which are those of their binaries, and what they do.
const TOOLS: [(&str, &str); 4] = [
    (
        "dap",
        "The debugger's adapter for editors, on standard input and output",
    ),
    (
        "debug",
        "Step through a kernel, forwards and backwards, on the simulator",
    ),
    (
        "sim-run",
        "Run any CUDA program on the simulator, and report what it finds",
    ),
    (
        "clients",
        "Run third-party programs on the simulator, with their own tests",
    ),
];

/// The commands of `lockstep`.
pub fn commands() -> impl Iterator<Item = Command> {
    commands::commands().into_iter().map(command_line)
}

/// The tools.
pub fn tools() -> impl Iterator<Item = Command> {
    TOOLS.into_iter().map(command_line)
}

/// It appears in our `--help`. Its arguments are left to the program, `--help` included.
fn command_line((name, about): (&'static str, &'static str)) -> Command {
    Command::new(name).about(about).disable_help_flag(true).arg(
        Arg::new("arguments")
            .action(ArgAction::Append)
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .value_parser(clap::value_parser!(OsString)),
    )
}

/// Builds the program for the command, and becomes it, unless kernels are still being compiled for it.
/// It gets the arguments as they were typed: clap would take away a `--`.
pub fn run(name: &str, typed: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let typed = typed.into_iter().skip_while(|word| *word != *name);
    let typed: Vec<OsString> = typed.skip(1).collect();
    let (mut command, warm_up) = match TOOLS.iter().find(|(tool, _)| *tool == name) {
        Some((tool, _)) => (self::tool(&build::tool(tool)?)?, None),
        None => {
            let (program, warm_up) = build::lockstep_early(&typed)?;
            let mut command = self::command(&program);
            command.arg(name);
            (command, warm_up)
        }
    };
    command.args(typed);
    let program = command.get_program().display().to_string();
    let ran = match warm_up.filter(WarmUp::goes_on) {
        Some(warm_up) => {
            let ran = run_beside(command);
            warm_up.end();
            ran
        }
        None => run_in_place(command),
    };
    ran.with_context(|| format!("cannot run {program}"))
}

/// A tool, with the paths of the repository, of the cache, and of the program that builds the
/// simulator's driver.
fn tool(program: &Path) -> anyhow::Result<std::process::Command> {
    let mut command = self::command(program);
    command
        .env("LOCKSTEP_CACHE", Locator::from_env()?.cache_dir)
        .env("LOCKSTEP_XTASK", std::env::current_exe()?);
    Ok(command)
}

/// The program, with the repository's path and the words that it is called by.
pub fn command(program: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command
        .env("LOCKSTEP_ROOT", workspace::root())
        .env("LOCKSTEP_COMMAND", "cargo xtask");
    command
}

/// Signals, a closed pipe and the exit status are then the command's own.
#[cfg(unix)]
fn run_in_place(mut command: std::process::Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
use run_beside as run_in_place;

/// Runs the command to its end.
fn run_beside(mut command: std::process::Command) -> std::io::Result<ExitCode> {
    let code = command
        .status()?
        .code()
        .and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
