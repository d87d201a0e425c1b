//! Errors: why there is no compiler, and what to do.

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

    /// Nowhere to keep what is fetched.
    #[error("no cache folder: set LOCKSTEP_CACHE to a folder that may be written to")]
    NoCacheDir,

    /// The cache folder is not the same one for everybody who asks.
    #[error(
        "LOCKSTEP_CACHE is `{}`, a relative path: cargo runs build scripts in other folders, \
         where it leads elsewhere\n\
         Name the whole path:\n\
         \n    {}",
        .path.display(), set_variable("LOCKSTEP_CACHE", &.absolute.display().to_string())
    )]
    RelativeCache {
        /// What the variable says.
        path: PathBuf,
        /// What it says in the current folder.
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
        /// What is free there and what is needed; then what a program said, if it was tried.
        room: String,
    },

    /// The cache folder cannot be used.
    #[error(
        "the cache folder cannot be used: {}: {source}\n\
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
         \n    rustup toolchain install {channel} --profile minimal --component rust-src{}\
         \n    {}    # 1.97 or newer, with rust-src",
        where_to_get(rustup),
        set_variable("LOCKSTEP_RUSTC", "/path/to/rustc")
    )]
    NoRoute {
        /// The release wanted.
        channel: String,
        /// Why rustup has none.
        rustup: String,
        /// Why the packages give none.
        packages: String,
    },
}

/// Why rustup cannot be asked where it is missing.
pub(crate) const NO_RUSTUP: &str = "it is not on this system";

/// Where rustup comes from, for those who lack it.
fn where_to_get(rustup: &str) -> &'static str {
    if rustup == NO_RUSTUP {
        "    # rustup: https://rustup.rs"
    } else {
        ""
    }
}

/// How a variable is set in the shell that people have: a line to copy.
fn set_variable(name: &str, value: &str) -> String {
    if cfg!(windows) {
        format!("$env:{name} = '{value}'")
    } else {
        format!("export {name}='{value}'")
    }
}
