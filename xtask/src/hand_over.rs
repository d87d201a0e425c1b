//! The commands that the binary `lockstep` does.

use crate::commands::COMMANDS;
use crate::{build, workspace};
use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// They show in our `--help`. Their arguments are `lockstep`'s affair,
/// `--help` included.
pub fn commands() -> impl Iterator<Item = Command> {
    COMMANDS.iter().map(|&(name, about)| {
        Command::new(name).about(about).disable_help_flag(true).arg(
            Arg::new("arguments")
                .action(ArgAction::Append)
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString)),
        )
    })
}

/// Builds `lockstep` and becomes it.
pub fn run(name: &str, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let program = build::lockstep()?;
    let mut command = self::command(&program);
    command.arg(name).args(
        matches
            .get_many::<OsString>("arguments")
            .into_iter()
            .flatten(),
    );
    run_in_place(command).with_context(|| format!("cannot run {}", program.display()))
}

/// The program, told where the repository is and by which words it is called.
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
fn run_in_place(mut command: std::process::Command) -> std::io::Result<ExitCode> {
    let code = command
        .status()?
        .code()
        .and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
