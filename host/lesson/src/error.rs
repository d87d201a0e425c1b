//! The reasons why a kernel did not pass on a shape.

use crate::differences::{self, Difference};
use crate::verify::Mismatch;
use lockstep::engine::EngineError;
use std::cell::Cell;

/// The reason why a case did not pass.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CaseError {
    /// It could not be run to its end.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It ran, and its result is wrong.
    #[error("{0}")]
    Wrong(String),
    /// Its result is right, but its cost is not.
    #[error("{at}{}", differences::told(.differences))]
    Counts {
        /// The size of a sweep at which it happened, or nothing.
        at: String,
        /// The differences from the catalogue.
        differences: Vec<Difference>,
    },
}

impl CaseError {
    /// Whether the kernel did not get to run: it neither passed nor failed.
    pub fn is_not_run(&self) -> bool {
        matches!(self, Self::Engine(error) if error.is_not_run())
    }

    /// Whether a profile of the same case shows more: its cost, or the
    /// lines at fault.
    pub fn can_be_profiled(&self) -> bool {
        matches!(
            self,
            Self::Wrong(_)
                | Self::Counts { .. }
                | Self::Engine(EngineError::Fault { .. } | EngineError::Unwritten(_))
        )
    }

    /// The same error, with the size of a sweep at which it happened.
    #[must_use]
    pub fn at(self, size: impl std::fmt::Display) -> Self {
        match self {
            Self::Wrong(what) => Self::Wrong(format!("size {size}: {what}")),
            Self::Counts { at, differences } => Self::Counts {
                at: format!("size {size}: {at}"),
                differences,
            },
            other => other,
        }
    }
}

thread_local! {
    static FIRST_WRONG: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The first wrong element that a lesson has last found on this thread, by its index in what it
/// had read.
pub fn first_wrong() -> Option<usize> {
    FIRST_WRONG.get()
}

impl From<Mismatch> for CaseError {
    fn from(mismatch: Mismatch) -> Self {
        FIRST_WRONG.set(Some(mismatch.index));
        Self::Wrong(mismatch.to_string())
    }
}
