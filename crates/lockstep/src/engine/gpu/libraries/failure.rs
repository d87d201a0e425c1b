//! Errors of libraries.

use super::super::super::{EngineError, Library};

/// An error of a library.
pub(super) fn failed(library: Library, what: impl std::fmt::Display) -> EngineError {
    EngineError::Library {
        library: library.name(),
        what: what.to_string(),
    }
}

/// What NVIDIA's libraries return: 0 if the call succeeded.
pub(super) fn check(library: Library, call: &str, code: i32) -> Result<(), EngineError> {
    match code {
        0 => Ok(()),
        _ => Err(failed(library, format!("{call} returned status {code}"))),
    }
}
