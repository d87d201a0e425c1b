//! The end of a command: it writes the files, prints the results and keeps the verdict, even if
//! one of the two fails.

use super::exit::{Exit, Stop};
use super::progress::say_error;
use crate::output::OutputFile;
use crate::report::json;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// The output files of a command, opened before its work.
#[derive(Default)]
pub(super) struct Outputs {
    files: Vec<(&'static str, OutputFile)>,
}

impl Outputs {
    /// Opens the files of those options that were given. None may be the
    /// same as another, or as one of the `inputs`.
    pub fn open(
        options: &[(&'static str, Option<&Path>)],
        inputs: &[Option<&Path>],
    ) -> Result<Self, Stop> {
        let usage = |what: String| Stop::Because(Exit::Usage, what);
        let mut files: Vec<(&'static str, OutputFile)> = Vec::new();
        for &(option, path) in options {
            let Some(path) = path else { continue };
            let file =
                OutputFile::open(path).map_err(|error| usage(format!("{option}: {error}")))?;
            if let Some((other, _)) = files.iter().find(|(_, other)| other.collides_with(&file)) {
                let what = format!("{other} and {option} name the same file");
                return Err(usage(what));
            }
            if inputs
                .iter()
                .flatten()
                .any(|input| file.would_replace(input))
            {
                let what = format!("{option} {} is also the input file", path.display());
                return Err(usage(what));
            }
            files.push((option, file));
        }
        Ok(Self { files })
    }

    /// The work is done, with this verdict.
    pub fn end(self, verdict: Exit) -> Ending {
        Ending {
            prints_to_stderr: self.files.iter().any(|(_, file)| file.is_stdout()),
            files: self.files,
            verdict,
            failures: Vec::new(),
        }
    }
}

/// A command whose work is done.
pub(super) struct Ending {
    files: Vec<(&'static str, OutputFile)>,
    verdict: Exit,
    prints_to_stderr: bool,
    failures: Vec<String>,
}

impl Ending {
    /// Writes the file of an option, if that was given.
    pub fn file(&mut self, option: &'static str, content: impl FnOnce() -> io::Result<Vec<u8>>) {
        let Some(at) = self.files.iter().position(|(other, _)| *other == option) else {
            return;
        };
        let (_, file) = self.files.remove(at);
        let to_stdout = file.is_stdout();
        let content = match content() {
            Ok(content) => content,
            Err(error) => return self.failures.push(format!("{option}: {error}")),
        };
        match file.write(&content) {
            // As with printed results, a closed pipe is not a failure.
            Err(error) if to_stdout && error.is_unread() => {}
            Err(error) => self.failures.push(format!("{option}: {error}")),
            Ok(()) => {}
        }
    }

    /// Writes the file of an option as JSON, if that was given.
    pub fn json(&mut self, option: &'static str, value: &impl Serialize) {
        self.file(option, || json::text(value));
    }

    /// Prints results to stdout; to stderr, if one of the files goes to stdout. It is not a
    /// failure if no one reads them.
    pub fn print(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let printed = if self.prints_to_stderr {
            write_to(anstream::stderr().lock(), write)
        } else {
            write_to(anstream::stdout().lock(), write)
        };
        if let Err(error) = printed {
            self.failures.push(unprinted(&error));
        }
    }

    /// The exit status: the verdict, unless something could not be written.
    pub fn exit(self) -> Exit {
        for failure in &self.failures {
            say_error(failure);
        }
        if self.failures.is_empty() {
            self.verdict
        } else {
            Exit::Failed
        }
    }
}

fn write_to(
    mut out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let written = write(&mut out).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Prints the results of a command that writes no files, and keeps its verdict.
pub(super) fn print(
    verdict: Exit,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Exit, Stop> {
    let mut ending = Outputs::default().end(verdict);
    ending.print(write);
    Ok(ending.exit())
}

/// Prints a part of a command's results; the command ends if that fails.
pub(super) fn tell(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
    write_to(anstream::stdout().lock(), write)
        .map_err(|error| Stop::Because(Exit::Failed, unprinted(&error)))
}

fn unprinted(error: &io::Error) -> String {
    format!("the results could not be printed: {error}")
}
