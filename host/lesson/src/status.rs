//! The status of a case that has ended.

use serde::{Deserialize, Serialize};

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran, and everything about it is right.
    Passed,
    /// It ran, and something is wrong; or it could not run to its end.
    Failed,
    /// It was given no chance to run; neither passed nor failed.
    NotRun,
}

impl Status {
    /// As people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::NotRun => "not run",
        }
    }
}
