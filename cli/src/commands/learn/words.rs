//! Phrases shared by all of `learn`.

use crate::commands::exit::{Exit, Stop};
use host::hints;
use learn::{Error, Verdict};

/// Stops because of a failure in the library.
pub(super) fn stopped(error: Error) -> Stop {
    let exit = match error {
        Error::NotNow(_) | Error::NoExercise(_) | Error::Format { .. } => Exit::Usage,
        Error::Reference { .. } => Exit::Failed,
        Error::Compiler(_) | Error::Io { .. } => Exit::NothingRan,
    };
    Stop::Because(exit, error.to_string())
}

/// The same, for a folder that the user named and that could not be opened or made.
pub(super) fn wrong_folder(error: Error) -> Stop {
    match error {
        Error::Io { .. } => Stop::usage(error),
        error => stopped(error),
    }
}

/// The exit status of a command that judges.
pub(super) fn exit_of(verdict: &Verdict) -> Exit {
    match verdict {
        Verdict::Passed(_) => Exit::Passed,
        Verdict::Failed(_) => Exit::Failed,
    }
}

/// `cargo xtask learn next`, as the user types it.
pub(super) fn command(words: &str) -> String {
    hints::command(&format!("learn {words}"))
}
