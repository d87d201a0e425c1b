//! The exit of a command: normal, or early and for a reason.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Passed = 0,
    Failed = 1,
    Usage = 2,
    NothingRan = 3,
    NotAllRan = 4,
}

/// Why a command ended early.
pub(super) enum Stop {
    /// For this reason, which is printed.
    Because(Exit, String),
}

impl Stop {
    /// The command was wrong.
    pub fn usage(what: impl ToString) -> Self {
        Self::Because(Exit::Usage, what.to_string())
    }

    /// Something that was run failed, or could not be run.
    pub fn failed(is_not_run: bool, what: impl ToString) -> Self {
        let exit = if is_not_run {
            Exit::NothingRan
        } else {
            Exit::Failed
        };
        Self::Because(exit, what.to_string())
    }

    /// Nothing could be run.
    pub fn nothing_ran(what: impl ToString) -> Self {
        Self::Because(Exit::NothingRan, what.to_string())
    }
}
