//! Errors other than the kernel's: in the exercise's files, the compiler, the disk.

use std::path::{Path, PathBuf};

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An exercise's file is invalid.
    #[error("{}: {message}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// There is no such exercise.
    #[error("{0}")]
    NoExercise(String),
    /// The command cannot be carried out now.
    #[error("{0}")]
    NotNow(String),
    /// There is no compiler, or it could not be run.
    #[error(transparent)]
    Compiler(#[from] cuda_builder::BuildError),
    /// The exercise's reference kernel does not run.
    #[error("{}: the reference fails: {message}", .path.display())]
    Reference {
        /// Its file.
        path: PathBuf,
        /// How it fails.
        message: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// "read", "write", …
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }

    pub(crate) fn format(path: &Path, message: impl ToString) -> Self {
        Self::Format {
            path: path.into(),
            message: message.to_string(),
        }
    }
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))
}

/// Writes a file; creates its folder if it is missing.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| Error::io("create the folder", folder, e))?;
    }
    std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
}

/// Writes a file unless it already has this text, so that outputs made from it stay up to date.
pub(crate) fn write_if_different(path: &Path, text: &str) -> Result<(), Error> {
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    write(path, text)
}
