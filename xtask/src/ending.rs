//! The end of a command: what it prints, and which errors are the user's.

use anyhow::Context;
use std::fmt::{self, Display};
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// The exit status of a wrong command line, as in `lockstep` and clap.
pub const USAGE: u8 = 2;

/// An error of the command line.
#[derive(Debug)]
struct Usage(String);

impl Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The command was wrong.
pub fn usage(what: impl Display) -> anyhow::Error {
    Usage(what.to_string()).into()
}

/// The exit status of an error.
pub fn status(error: &anyhow::Error) -> ExitCode {
    match error.is::<Usage>() {
        true => USAGE.into(),
        false => ExitCode::FAILURE,
    }
}

/// Prints results. A closed pipe is not a failure.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context("the results could not be printed"),
    }
}
