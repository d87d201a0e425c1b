//! The crate's errors, worded so that the reader knows what to do.

use crate::device_errors::DeviceErrors;
use crate::requests::RequestError;
use crate::toolchain::ToolchainError;
use std::fmt;
use std::path::PathBuf;

/// Why there is no PTX. Its `Debug` is its `Display`, for `unwrap` and for `main`.
#[derive(thiserror::Error)]
pub enum BuildError {
    /// No compiler for the kernels.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),

    /// The kernels do not compile; this is what rustc said.
    #[error("{rendered}")]
    Compile {
        /// rustc's messages as it prints them, then cargo's summary.
        rendered: String,
        /// The errors among them, each with its places.
        errors: DeviceErrors,
    },

    /// The package has only programs.
    #[error(
        "{} has no library, which kernels need: write them in src/lib.rs, or name their file \
         in the manifest:\n\n    [lib]\n    path = \"src/kernels.rs\"",
        .manifest.display()
    )]
    NoLibrary {
        /// The package's manifest.
        manifest: PathBuf,
    },

    /// cargo could not be run, or failed for a reason of its own.
    #[error("{command} failed\n{output}")]
    Cargo {
        /// The command, shortened.
        command: String,
        /// What it said on stderr.
        output: String,
    },

    /// The compiler ran without an error but wrote no PTX.
    #[error(
        "rustc wrote no PTX (`{crate_name}.s`) under {}; delete that folder and build again",
        .dir.display()
    )]
    NoPtx {
        /// The crate, as rustc names it.
        crate_name: String,
        /// Where the PTX was looked for.
        dir: PathBuf,
    },

    /// The kernels ask for launch bounds, tensor maps or shared memory that the PTX cannot have.
    #[error(transparent)]
    Request(#[from] RequestError),

    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// "read", "write", ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl BuildError {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}
