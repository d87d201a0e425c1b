//! `cargo xtask …`: the commands people type.
//!
//! Some are carried out here, because they are about the repository and the machine: [`doctor`],
//! [`book`], [`bundle`], [`watch`], [`new`](mod@new), and [`sim_driver`], which puts the
//! simulator under other programs. For all others, [`hand_over`] builds another program and becomes
//! it: most need kernels, and are commands of the binary `lockstep` of package `cli`. What is *not*
//! here: any fact about a kernel.

mod book;
mod build;
mod bundle;
mod commands;
mod doctor;
mod ending;
mod folder;
mod fresh;
mod hand_over;
mod host_view;
mod kernels;
mod new;
mod progress;
mod sim_driver;
mod watch;
mod workspace;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed = typed();
    match run(&command().get_matches_from(&typed), typed) {
        Ok(code) => code,
        Err(error) => {
            let style = anstyle::AnsiColor::Red.on_default().bold();
            anstream::eprintln!("{style}error{style:#}: {error:#}");
            ending::status(&error)
        }
    }
}

fn command() -> Command {
    Command::new("cargo xtask")
        .bin_name("cargo xtask")
        .about("Lockstep: CUDA kernels in Rust, run on a GPU or on a simulator")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(hand_over::commands())
        .subcommand(doctor::Options::augment_args(Command::new("doctor").about(
            "Check this machine, and suggest a remedy for what is missing",
        )))
        .subcommand(book::Options::augment_args(Command::new("book").about(
            "Make the book's pages: the lessons, with parts to change and run",
        )))
        .subcommand(bundle::Options::augment_args(
            Command::new("bundle").about("Make a folder that runs on a GPU machine without Rust"),
        ))
        .subcommand(new::Options::augment_args(Command::new("new").about(
            "Make a project with a kernel, a program and a test, outside this repository",
        )))
        .subcommand(watch::Options::augment_args(
            Command::new("watch").about("Profile or check a kernel again after every save"),
        ))
        .subcommand(sim_driver::Options::augment_args(
            Command::new("sim-driver").about("Put a CUDA driver that needs no GPU into a folder"),
        ))
        .subcommands(hand_over::tools())
}

/// The command line; `help NAME …` is `NAME … --help`, which the programs that we hand over to know, too.
fn typed() -> Vec<OsString> {
    let mut typed: Vec<OsString> = std::env::args_os().collect();
    if typed.len() > 2 && typed[1] == "help" {
        typed.remove(1);
        typed.push("--help".into());
    }
    typed
}

fn run(matches: &ArgMatches, typed: Vec<OsString>) -> anyhow::Result<ExitCode> {
    match matches.subcommand() {
        Some(("doctor", options)) => doctor::run(&doctor::Options::from_arg_matches(options)?),
        Some(("book", options)) => book::run(&book::Options::from_arg_matches(options)?),
        Some(("bundle", options)) => bundle::run(&bundle::Options::from_arg_matches(options)?),
        Some(("new", options)) => new::run(&new::Options::from_arg_matches(options)?),
        Some(("watch", options)) => watch::run(&watch::Options::from_arg_matches(options)?),
        Some(("sim-driver", options)) => {
            sim_driver::run(&sim_driver::Options::from_arg_matches(options)?)
        }
        Some((name, _)) => hand_over::run(name, typed),
        None => Ok(ExitCode::FAILURE),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
