//! Why there is no compiler, and what to do.

use std::path::PathBuf;

/// Why there is no compiler for the kernels.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// A compiler was named, and it does not serve.
    #[error(
        "LOCKSTEP_RUSTC names {}, which does not serve: {reason}\n\
         Name a rustc that is 1.97 or newer and has rust-src, or unset the variable.",
        .rustc.display()
    )]
    Override {
        /// The program that was named.
        rustc: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// The file that names the release is missing or has another form.
    #[error("{} names no toolchain: {reason}", .path.display())]
    Pin {
        /// `rust-toolchain.toml`.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// Nowhere to keep what is fetched.
    #[error("no cache folder: set LOCKSTEP_CACHE to a folder that may be written to")]
    NoCacheDir,

    /// The cache folder cannot be used.
    #[error(
        "the cache folder {} cannot be used: {source}\n\
         Set LOCKSTEP_CACHE to a folder that may be written to.",
        .path.display()
    )]
    Cache {
        /// The folder, or the file in it.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// No way led to one.
    #[error(
        "no compiler for the kernels (rustc 1.97 or newer, with rust-src)\n\
         \n\
         - rustup: {rustup}\n\
         - packages: {packages}\n\
         \n\
         Either of these helps; then run the same command again:\n\
         \n    rustup toolchain install {pin} --profile minimal --component rust-src\
         \n    export LOCKSTEP_RUSTC=/path/to/rustc    # 1.97 or newer, with rust-src"
    )]
    NoRoute {
        /// The release wanted.
        pin: String,
        /// Why rustup has none.
        rustup: String,
        /// Why the packages give none.
        packages: String,
    },
}
