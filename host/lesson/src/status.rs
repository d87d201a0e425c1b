//! The status of a finished case.

use serde::{Deserialize, Serialize};

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran, and everything about it is right.
    Passed,
    /// It ran, and something is wrong; or it could not run to its end.
    Failed,
    /// It did not get to run: it neither passed nor failed.
    NotRun,
}

impl Status {
    /// The status in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::NotRun => "not run",
        }
    }
}
