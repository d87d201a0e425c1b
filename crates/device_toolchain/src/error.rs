//! Errors: why there is no compiler, and what to do.

use std::path::PathBuf;

/// The reason why there is no compiler for the kernels.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// A compiler was named, but it cannot be used.
    #[error(
        "LOCKSTEP_RUSTC names {}, which cannot be used: {reason}\n\
         Name a rustc that is 1.97 or newer and has rust-src, or unset the variable.",
        .rustc.display()
    )]
    Override {
        /// The program that was named.
        rustc: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// There is nowhere to keep fetched files.
    #[error("no cache folder: set LOCKSTEP_CACHE to a writable folder")]
    NoCacheDir,

    /// The cache folder would differ from process to process.
    #[error(
        "LOCKSTEP_CACHE is `{}`, a relative path: cargo runs build scripts in other folders, \
         where it leads elsewhere\n\
         Name the whole path:\n\
         \n    {}",
        .path.display(), set_variable("LOCKSTEP_CACHE", &.absolute.display().to_string())
    )]
    RelativeCache {
        /// The variable's value.
        path: PathBuf,
        /// The same, relative to the current folder.
        absolute: PathBuf,
    },

    /// There is no room for a compiler.
    #[error(
        "no room for the kernels' compiler in {}: {room}\n\
         Free some space there, or let LOCKSTEP_CACHE name a folder on another disk; \
         then run the same command again.",
        .path.display()
    )]
    Full {
        /// The folder.
        path: PathBuf,
        /// The free and the needed space; then a program's message, if it was tried.
        room: String,
    },

    /// The cache folder cannot be used.
    #[error(
        "the cache folder cannot be used: {}: {source}\n\
         Set LOCKSTEP_CACHE to a writable folder.",
        .path.display()
    )]
    Cache {
        /// The folder, or the file in it.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },

    /// No way led to a compiler.
    #[error(
        "no compiler for the kernels (rustc 1.97 or newer, with rust-src)\n\
         \n\
         - rustup: {rustup}\n\
         - packages: {packages}\n\
         \n\
         Either of these helps; then run the same command again:\n\
         \n    rustup toolchain install {channel} --profile minimal --component rust-src{}\
         \n    {}    # 1.97 or newer, with rust-src",
        where_to_get(rustup),
        set_variable("LOCKSTEP_RUSTC", "/path/to/rustc")
    )]
    NoRoute {
        /// The requested release.
        channel: String,
        /// Why rustup has none.
        rustup: String,
        /// Why the packages give none.
        packages: String,
    },
}

/// The reason why a missing rustup cannot be asked.
pub(crate) const NO_RUSTUP: &str = "it is not on this system";

/// The address of rustup, if it is missing.
fn where_to_get(rustup: &str) -> &'static str {
    if rustup == NO_RUSTUP {
        "    # rustup: https://rustup.rs"
    } else {
        ""
    }
}

/// The command that sets a variable in the user's shell: a line to copy.
fn set_variable(name: &str, value: &str) -> String {
    if cfg!(windows) {
        format!("$env:{name} = '{value}'")
    } else {
        format!("export {name}='{value}'")
    }
}
