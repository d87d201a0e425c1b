//! The compiler for the kernels: where it is, and how it is fetched.
//!
//! Kernels want a newer rustc than the host has, with the sources of `core`.
//! It is looked for in this order:
//!
//! 1. `LOCKSTEP_RUSTC`, the path of such a rustc;
//! 2. the pinned toolchain (the kernel crate's `rust-toolchain.toml`) in rustup;
//! 3. the cache, where an earlier run unpacked it ([`Locator::cache_dir`]);
//! 4. rustup again, asked to install it, unless `RUSTUP_AUTO_INSTALL=0`;
//! 5. the distribution's own packages, unpacked into the cache. Nothing is
//!    installed and no root is needed.
//!
//! [`Locator::locate`] only looks (1 to 3); [`Locator::ensure`] also fetches.
//!
//! What it leaves out: distributions without Debian's archive have steps 1 to 4.

mod apt;
mod cache;
mod control;
mod error;
mod pin;
mod process;
mod progress;
mod rustup;
mod sources;
mod stamp;
mod unpack;

pub use cache::Verification;
pub use error::ToolchainError;
pub use pin::Pin;
pub use progress::{Lines, Progress, Quiet, Terminal};

use std::ffi::OsString;
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
    /// Reads `1.97.1`, and the like with something after it (`1.97.1-beta`, `1.97.1+dfsg1-1`).
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

/// Where a compiler came from.
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
    /// What it says it is.
    pub release: Release,
    /// Its sysroot.
    pub sysroot: PathBuf,
    /// Where it came from.
    pub source: Source,
}

impl Toolchain {
    /// Asks the program what it is.
    ///
    /// # Errors
    ///
    /// Why it does not serve, in words.
    pub fn probe(rustc: &Path, source: Source) -> Result<Self, String> {
        let ask = |argument: &str| {
            let output = Command::new(rustc)
                .arg(argument)
                .env_remove("RUSTUP_TOOLCHAIN")
                .output()
                .map_err(|e| format!("it cannot be run: {e}"))?;
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

/// Where to look, and with what.
#[derive(Debug, Clone)]
pub struct Locator {
    /// The release wanted.
    pub pin: Pin,
    /// A compiler named by the user.
    pub rustc_override: Option<PathBuf>,
    /// The folder that holds compilers made of packages. Shared by all clones.
    pub cache_dir: PathBuf,
    /// rustup's folder.
    pub rustup_home: Option<PathBuf>,
    /// Whether rustup may be asked to install.
    pub may_install: bool,
    /// The folder of apt's own settings: `/etc/apt`.
    pub apt_dir: PathBuf,
    /// Where programs (`apt-get`, `dpkg`, `rustup`) are looked for.
    pub path: OsString,
}

impl Locator {
    /// What the environment says, for the kernel crate in `kernel_crate`, whose
    /// `rust-toolchain.toml` names the release.
    ///
    /// # Errors
    ///
    /// No pin, or no home folder to keep a cache in.
    pub fn from_env(kernel_crate: &Path) -> Result<Self, ToolchainError> {
        let path_of = |name| {
            std::env::var_os(name)
                .filter(|v| !v.is_empty())
                .map(PathBuf::from)
        };
        let home = std::env::home_dir();
        let cache_dir = path_of("LOCKSTEP_CACHE")
            .or_else(|| dirs::cache_dir().map(|dir| dir.join("lockstep")))
            .ok_or(ToolchainError::NoCacheDir)?;
        Ok(Self {
            pin: Pin::read(kernel_crate)?,
            rustc_override: path_of("LOCKSTEP_RUSTC"),
            cache_dir: std::path::absolute(&cache_dir).unwrap_or(cache_dir),
            rustup_home: path_of("RUSTUP_HOME").or_else(|| Some(home?.join(".rustup"))),
            may_install: std::env::var_os("RUSTUP_AUTO_INSTALL").is_none_or(|value| value != "0"),
            apt_dir: "/etc/apt".into(),
            path: std::env::var_os("PATH").unwrap_or_default(),
        })
    }

    /// The compiler, if it is there already. Fetches nothing.
    ///
    /// # Errors
    ///
    /// Only if `LOCKSTEP_RUSTC` names one that does not serve.
    pub fn locate(&self) -> Result<Option<Toolchain>, ToolchainError> {
        if let Some(rustc) = &self.rustc_override {
            return match Toolchain::probe(rustc, Source::Override) {
                Ok(toolchain) => Ok(Some(toolchain)),
                Err(reason) => Err(ToolchainError::Override {
                    rustc: rustc.clone(),
                    reason,
                }),
            };
        }
        if let Ok(toolchain) = rustup::installed(self) {
            return Ok(Some(toolchain));
        }
        Ok(cache::find(self, Verification::Quick))
    }

    /// The compiler, fetched if need be.
    ///
    /// One process fetches at a time; others wait for it and take the result.
    ///
    /// # Errors
    ///
    /// None of the ways led to a compiler: why each did not, and what helps.
    pub fn ensure(&self, progress: &dyn Progress) -> Result<Toolchain, ToolchainError> {
        if let Some(found) = self.locate()? {
            return Ok(found);
        }
        let lock = cache::lock(self, progress)?;
        if let Some(found) = self.locate()? {
            return Ok(found);
        }
        let rustup = match rustup::install(self, progress) {
            Ok(toolchain) => return Ok(toolchain),
            Err(reason) => reason,
        };
        let packages = match cache::fill(self, progress) {
            Ok(toolchain) => return Ok(toolchain),
            Err(reason) => reason,
        };
        drop(lock);
        Err(ToolchainError::NoRoute {
            pin: self.pin.channel.clone(),
            rustup,
            packages,
        })
    }

    /// By which way [`Locator::ensure`] would get a compiler, without trying.
    ///
    /// # Errors
    ///
    /// Why there is no way.
    pub fn prospect(&self) -> Result<&'static str, String> {
        let rustup = rustup::is_usable(self);
        let packages = cache::is_usable(self);
        match (rustup, packages) {
            (Ok(()), _) => Ok("rustup will install it"),
            (_, Ok(())) => Ok("it will be fetched from the distribution's packages (150 MB)"),
            (Err(rustup), Err(packages)) => Err(format!("rustup: {rustup}\npackages: {packages}")),
        }
    }

    /// Checks every byte of the compiler in the cache against its record, and
    /// throws a damaged one away.
    ///
    /// # Errors
    ///
    /// What is damaged.
    pub fn verify(&self, toolchain: &Toolchain) -> Result<(), String> {
        cache::verify(self, toolchain)
    }
}

/// Whether a program is on the search path.
fn is_on_path(locator: &Locator, program: &str) -> bool {
    std::env::split_paths(&locator.path).any(|dir| dir.join(program).is_file())
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
