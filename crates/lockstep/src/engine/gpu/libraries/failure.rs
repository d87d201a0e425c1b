//! Errors of libraries.

use super::super::super::{EngineError, Library};

/// An error of a library.
pub(super) fn failed(library: Library, what: impl std::fmt::Display) -> EngineError {
    EngineError::Library {
        library: library.name(),
        what: what.to_string(),
    }
}

pub(super) fn not_loaded(library: Library) -> EngineError {
    failed(library, "it was not loaded")
}

/// Why a file cannot be loaded as a library.
pub(super) fn unloadable(file: &std::path::Path, error: &libloading::Error) -> String {
    use std::error::Error;
    match error.source() {
        Some(why) => format!("{}: {error}: {why}", file.display()),
        None => format!("{}: {error}", file.display()),
    }
}
