//! Where a compiler is looked for, and with what.

use super::{Pin, ToolchainError};
use std::ffi::OsString;
use std::path::PathBuf;

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
    /// What the environment says.
    ///
    /// # Errors
    ///
    /// No home folder to keep a cache in, or a relative path to one.
    pub fn from_env() -> Result<Self, ToolchainError> {
        let path_of = |name| {
            std::env::var_os(name)
                .filter(|v| !v.is_empty())
                .map(PathBuf::from)
        };
        let cache_dir = path_of("LOCKSTEP_CACHE")
            .or_else(|| dirs::cache_dir().map(|dir| dir.join("lockstep")))
            .ok_or(ToolchainError::NoCacheDir)?;
        if cache_dir.is_relative() {
            return Err(ToolchainError::RelativeCache {
                absolute: std::path::absolute(&cache_dir).unwrap_or_default(),
                path: cache_dir,
            });
        }
        Ok(Self {
            pin: Pin::default(),
            rustc_override: path_of("LOCKSTEP_RUSTC"),
            cache_dir,
            rustup_home: path_of("RUSTUP_HOME")
                .or_else(|| dirs::home_dir().map(|home| home.join(".rustup"))),
            may_install: std::env::var_os("RUSTUP_AUTO_INSTALL").is_none_or(|value| value != "0"),
            apt_dir: "/etc/apt".into(),
            path: std::env::var_os("PATH").unwrap_or_default(),
        })
    }
}

/// Whether a program is on the search path.
pub(super) fn is_on_path(locator: &Locator, program: &str) -> bool {
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&locator.path).any(|dir| dir.join(&file).is_file())
}
