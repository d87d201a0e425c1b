//! Phrases shared by all of `learn`.

use crate::commands::exit::{Exit, Stop};
use host::hints;
use learn::{Error, Verdict};

/// What the library could not do.
pub(super) fn stopped(error: Error) -> Stop {
    let exit = match error {
        Error::NotNow(_) | Error::NoExercise(_) | Error::Format { .. } => Exit::Usage,
        Error::Reference { .. } => Exit::Failed,
        Error::Compiler(_) | Error::Io { .. } => Exit::NothingRan,
    };
    Stop::Because(exit, error.to_string())
}

/// The same while a folder is opened or made that the user names.
pub(super) fn wrong_folder(error: Error) -> Stop {
    match error {
        Error::Io { .. } => Stop::usage(error),
        error => stopped(error),
    }
}

/// How a command ends that judges.
pub(super) fn exit_of(verdict: &Verdict) -> Exit {
    match verdict {
        Verdict::Passed(_) => Exit::Passed,
        Verdict::Failed(_) => Exit::Failed,
    }
}

/// `cargo xtask learn next`, as one types it.
pub(super) fn command(words: &str) -> String {
    hints::command(&format!("learn {words}"))
}
