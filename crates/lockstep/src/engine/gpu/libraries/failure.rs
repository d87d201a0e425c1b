//! The error of a library that does not do what it should.

use super::super::super::{EngineError, Library};

/// Something about a library went wrong.
pub(super) fn failed(library: Library, what: impl std::fmt::Display) -> EngineError {
    EngineError::Library {
        library: library.name(),
        what: what.to_string(),
    }
}

pub(super) fn not_loaded(library: Library) -> EngineError {
    failed(library, "it was not loaded")
}

/// Why a file is not a library that can be loaded.
pub(super) fn unloadable(file: &std::path::Path, error: &libloading::Error) -> String {
    use std::error::Error;
    match error.source() {
        Some(why) => format!("{}: {error}: {why}", file.display()),
        None => format!("{}: {error}", file.display()),
    }
}
