//! Files that libraries are loaded from.

use super::super::super::{EngineError, Library};
use super::failure::failed;
use std::path::{Path, PathBuf};

/// A loaded file. Its functions may be called while it lives.
pub(super) struct File {
    library: Library,
    path: PathBuf,
    loaded: libloading::Library,
}

impl File {
    pub(super) fn open(library: Library, path: &Path) -> Result<Self, EngineError> {
        // SAFETY: NVIDIA's library or our own; loading it registers its kernels with the runtime.
        let loaded = unsafe { libloading::Library::new(path) };
        Ok(Self {
            library,
            path: path.to_path_buf(),
            loaded: loaded.map_err(|error| unloadable(library, path, &error))?,
        })
    }

    /// # Safety
    ///
    /// `T` is the type of the function of that name.
    pub(super) unsafe fn function<T: Copy>(&self, name: &str) -> Result<T, EngineError> {
        // SAFETY: as above.
        let function = unsafe { self.loaded.get::<T>(name.as_bytes()) };
        let function = function.map_err(|error| unloadable(self.library, &self.path, &error))?;
        Ok(*function)
    }
}

/// Why a file cannot be loaded as a library.
fn unloadable(library: Library, path: &Path, error: &libloading::Error) -> EngineError {
    use std::error::Error;
    let path = path.display();
    let what = match error.source() {
        Some(why) => format!("{path}: {error}: {why}"),
        None => format!("{path}: {error}"),
    };
    failed(library, what)
}

/// 13 · 10⁴ + 0 · 10² + 2 is 13.0.2.
pub(super) fn dotted(version: usize) -> String {
    let (major, minor, patch) = (version / 10_000, version / 100 % 100, version % 100);
    format!("{major}.{minor}.{patch}")
}
