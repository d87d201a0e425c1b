//! The search for a compiler: its places and its settings.

use crate::ToolchainError;
use std::ffi::OsString;
use std::path::PathBuf;

/// The release that everything here was tested with, and the only place that
/// names it. It may be newer than the host's: the nvptx backend and the intrinsics
/// for shared memory need it.
pub const PINNED: &str = "1.97.1";

/// The places of the search, and its settings.
#[derive(Debug, Clone)]
pub struct Locator {
    /// The requested release, as rustup names toolchains: [`PINNED`] or another.
    pub channel: String,
    /// A compiler named by the user.
    pub rustc_override: Option<PathBuf>,
    /// The folder of compilers made from packages. Shared by all clones.
    pub cache_dir: PathBuf,
    /// rustup's folder.
    pub rustup_home: Option<PathBuf>,
    /// Whether rustup may be asked to install.
    pub may_install: bool,
    /// The search path for programs (`apt-get`, `dpkg`, `rustup`).
    pub path: OsString,
}

impl Locator {
    /// The settings from the environment.
    ///
    /// # Errors
    ///
    /// There is no home folder to keep a cache in, or its path is relative.
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
            channel: PINNED.into(),
            rustc_override: path_of("LOCKSTEP_RUSTC"),
            cache_dir,
            rustup_home: path_of("RUSTUP_HOME")
                .or_else(|| dirs::home_dir().map(|home| home.join(".rustup"))),
            may_install: std::env::var_os("RUSTUP_AUTO_INSTALL").is_none_or(|value| value != "0"),
            path: std::env::var_os("PATH").unwrap_or_default(),
        })
    }

    /// Whether a program is on the search path.
    pub(crate) fn has(&self, program: &str) -> bool {
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(&self.path).any(|dir| dir.join(&file).is_file())
    }
}
