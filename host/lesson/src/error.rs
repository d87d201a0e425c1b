//! The reasons why a kernel did not pass on a shape.

use crate::differences::{self, Difference};
use crate::shape::Shape;
use crate::verify::Mismatch;
use lockstep::engine::EngineError;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// The reason why a case did not pass.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CaseError {
    /// It could not be run to its end.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It ran, and its result is wrong.
    #[error("{what}")]
    Wrong {
        /// What is wrong, and where.
        what: String,
        /// The first wrong element, by its index in what the lesson has last read, if it is known.
        index: Option<usize>,
    },
    /// Its result is right, but its cost is not.
    #[error("{at}{}", differences::told(.differences))]
    Counts {
        /// Where it happened, or nothing.
        at: String,
        /// The differences from the catalogue.
        differences: Vec<Difference>,
    },
    /// One size of a sweep did not pass.
    #[error("size {shape}: {error}")]
    OfSize {
        /// The size.
        shape: Shape,
        /// Why.
        error: Box<Self>,
    },
}

/// Where the debugger shows what has failed on the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lead {
    /// At the first wrong element.
    WrongElement,
    /// At what the simulator has found.
    Finding,
}

impl CaseError {
    /// A wrong result, in words.
    pub fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong {
            what: what.into(),
            index: None,
        }
    }

    /// The same wrong result, of which this element of what was read last is the first wrong one.
    #[must_use]
    pub fn of_element(mut self, element: usize) -> Self {
        if let Self::Wrong { index, .. } = &mut self {
            *index = Some(element);
        }
        self
    }

    /// The same of an element of a matrix, whose rows are `pitch` apart in what was read last.
    #[must_use]
    pub fn in_matrix(self, [row, column]: [usize; 2], pitch: usize) -> Self {
        let error = self.at(format_args!("row {row}, column {column}"));
        error.of_element(row * pitch + column)
    }

    /// Whether the kernel did not get to run: it neither passed nor failed.
    pub fn is_not_run(&self) -> bool {
        matches!(self.itself(), Self::Engine(error) if error.is_not_run())
    }

    /// Whether a profile of the same case shows more: its cost, or the
    /// lines at fault.
    pub fn can_be_profiled(&self) -> bool {
        matches!(
            self.itself(),
            Self::Wrong { .. }
                | Self::Counts { .. }
                | Self::Engine(EngineError::Fault { .. } | EngineError::Unwritten(_))
        )
    }

    /// Where the debugger shows it; nowhere if only the cost is wrong, or no place is known.
    pub fn lead(&self) -> Option<Lead> {
        match self.itself() {
            Self::Wrong { index, .. } => index.map(|_| Lead::WrongElement),
            Self::Engine(
                EngineError::Fault { report, .. } | EngineError::NeverEnds { report, .. },
            ) => report.contains("  in kernel `").then_some(Lead::Finding),
            Self::Engine(_) | Self::Counts { .. } | Self::OfSize { .. } => None,
        }
    }

    /// It, without the size that it is of.
    fn itself(&self) -> &Self {
        match self {
            Self::OfSize { error, .. } => error,
            other => other,
        }
    }

    /// The size that did not pass, of a sweep.
    pub fn size(&self) -> Option<&Shape> {
        match self {
            Self::OfSize { shape, .. } => Some(shape),
            _ => None,
        }
    }

    /// The same error, of this size of a sweep.
    #[must_use]
    pub fn of_size(self, dims: &[u32]) -> Self {
        Self::OfSize {
            shape: Shape::of(dims),
            error: Box::new(self),
        }
    }

    /// The same error, with the place at which it happened, such as a row of a matrix.
    #[must_use]
    pub fn at(mut self, place: impl Display) -> Self {
        if let Self::Wrong { what: at, .. } | Self::Counts { at, .. } = &mut self {
            *at = format!("{place}: {at}");
        }
        self
    }
}

impl From<Mismatch> for CaseError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Wrong {
            what: mismatch.to_string(),
            index: Some(mismatch.n_before + mismatch.index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CaseError, Lead};
    use crate::shape::Shape;
    use crate::verify::{Tolerance, compare};
    use lockstep::engine::EngineError;

    #[test]
    fn wrong_elements_and_reports_lead_to_their_places() {
        let mismatch = compare(&[1.0, 2.0], |_| 1.0, Tolerance::Exact).expect_err("the second");
        let wrong = CaseError::from(mismatch).of_size(&[2]);
        assert!(wrong.to_string().starts_with("size 2: 1 of 2 elements"));
        assert_eq!(wrong.lead(), Some(Lead::WrongElement));
        assert_eq!(wrong.size(), Some(&Shape::of(&[2])));
        assert!(wrong.can_be_profiled());
        let wrong = CaseError::wrong("a flag is not 0");
        assert_eq!(wrong.lead(), None);
        assert_eq!(wrong.of_element(3).lead(), Some(Lead::WrongElement));
        assert_eq!(CaseError::from(EngineError::NoGpu).lead(), None);
    }
}
