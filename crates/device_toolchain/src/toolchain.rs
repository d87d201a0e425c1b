//! A compiler: its version, and whether it can be used.

use crate::process;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest release that compiles the kernels.
pub const MINIMUM: Release = Release {
    major: 1,
    minor: 97,
    patch: 0,
};

/// A release of rustc: 1.97.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// 1
    pub major: u32,
    /// 97
    pub minor: u32,
    /// 1
    pub patch: u32,
}

impl Release {
    /// Reads `1.97.1`, also with something after it (`1.97.1-beta`, `1.97.1+dfsg1-1`).
    pub fn parse(text: &str) -> Option<Self> {
        let end = text
            .find(|c: char| c != '.' && !c.is_ascii_digit())
            .unwrap_or(text.len());
        let mut numbers = text[..end].split('.').map(str::parse);
        Some(Self {
            major: numbers.next()?.ok()?,
            minor: numbers.next()?.ok()?,
            patch: numbers.next().and_then(Result::ok).unwrap_or(0),
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The origin of a compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `LOCKSTEP_RUSTC` names it.
    Override,
    /// A toolchain of rustup's.
    Rustup,
    /// The distribution's packages, unpacked in the cache.
    Packages,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Override => "named by LOCKSTEP_RUSTC",
            Self::Rustup => "rustup's toolchain",
            Self::Packages => "the distribution's packages",
        })
    }
}

/// A compiler that makes PTX.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// The program.
    pub rustc: PathBuf,
    /// The release that it reports.
    pub release: Release,
    /// Its sysroot.
    pub sysroot: PathBuf,
    /// Its origin.
    pub source: Source,
}

impl Toolchain {
    /// Asks the program for its version and sysroot.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be used, in words.
    pub fn probe(rustc: &Path, source: Source) -> Result<Self, String> {
        let ask = |argument: &str| {
            let mut command = Command::new(rustc);
            command.arg(argument).env_remove("RUSTUP_TOOLCHAIN");
            let output = process::output(&mut command).map_err(|e| match e.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    format!("it cannot be run: {e} (is the disk mounted `noexec`?)")
                }
                _ => format!("it cannot be run: {e}"),
            })?;
            if output.status.success() {
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            } else {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(format!("`{argument}` fails: {}", said.trim()))
            }
        };
        let release = ask("-vV")?
            .lines()
            .find_map(|line| line.strip_prefix("release: "))
            .and_then(Release::parse)
            .ok_or("it is not a rustc: `-vV` names no release")?;
        if release < MINIMUM {
            return Err(format!("it is {release}; {MINIMUM} or newer is needed"));
        }
        let sysroot = PathBuf::from(ask("--print=sysroot")?.trim());
        let toolchain = Self {
            rustc: rustc.into(),
            release,
            sysroot,
            source,
        };
        let core = toolchain.library().join("core/src/lib.rs");
        if !core.exists() {
            return Err(format!("it has no rust-src: {} is missing", core.display()));
        }
        Ok(toolchain)
    }

    /// The folder of the standard library's sources.
    pub fn library(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust/library")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        let parse = |text| Release::parse(text).unwrap();
        assert!(parse("1.100.0") > parse("1.97.1"));
        assert!(parse("1.96.9") < MINIMUM);
        assert_eq!(parse("1.97.1+dfsg1-1"), parse("1.97.1"));
        assert_eq!(parse("1.98.0-nightly").to_string(), "1.98.0");
        assert_eq!(Release::parse("nightly"), None);
    }
}
