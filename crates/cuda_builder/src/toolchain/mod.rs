//! The compiler for the kernels.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest release that compiles the kernels.
pub const MINIMUM: (u32, u32) = (1, 97);

/// Why there is no compiler for the kernels.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// A compiler was named, and it does not serve.
    #[error("{} (named by LOCKSTEP_RUSTC) does not serve: {reason}", .rustc.display())]
    Override {
        /// The program that was named.
        rustc: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// None was found.
    #[error(
        "no compiler for the kernels; set LOCKSTEP_RUSTC to a rustc 1.97 or newer with rust-src"
    )]
    NotFound,
}

/// A compiler that can make PTX.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// The program.
    pub rustc: PathBuf,
    /// What it says of itself: `1.97.1`.
    pub release: String,
    /// Its sysroot.
    pub sysroot: PathBuf,
}

impl Toolchain {
    /// Asks the program what it is.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn probe(rustc: &Path) -> Result<Self, String> {
        let ask = |args: &[&str]| {
            let output = Command::new(rustc)
                .args(args)
                .env_remove("RUSTUP_TOOLCHAIN")
                .output()
                .map_err(|e| format!("it cannot be run: {e}"))?;
            if output.status.success() {
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            } else {
                Err(format!(
                    "it fails: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                ))
            }
        };
        let verbose = ask(&["-vV"])?;
        let release = verbose
            .lines()
            .find_map(|line| line.strip_prefix("release: "))
            .ok_or("it is not a rustc (`-vV` names no release)")?
            .to_string();
        if minor(&release).is_none_or(|found| found < MINIMUM) {
            return Err(format!(
                "it is {release}; {}.{} or newer is needed",
                MINIMUM.0, MINIMUM.1
            ));
        }
        let sysroot = PathBuf::from(ask(&["--print=sysroot"])?.trim());
        let core = sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs");
        if !core.exists() {
            return Err(format!(
                "it has no rust-src ({} is missing)",
                core.display()
            ));
        }
        Ok(Self {
            rustc: rustc.into(),
            release,
            sysroot,
        })
    }

    /// The folder of the standard library's sources.
    pub fn library(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust/library")
    }
}

fn minor(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The compiler, found or fetched.
///
/// # Errors
///
/// Where there is none.
pub fn ensure() -> Result<Toolchain, ToolchainError> {
    let Some(rustc) = std::env::var_os("LOCKSTEP_RUSTC").map(PathBuf::from) else {
        return Err(ToolchainError::NotFound);
    };
    Toolchain::probe(&rustc).map_err(|reason| ToolchainError::Override { rustc, reason })
}
