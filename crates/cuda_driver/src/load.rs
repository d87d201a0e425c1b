//! Finding the driver's library and filling the jump table from it, once.

use crate::symbols::{SYMBOLS, Symbol};
use core::ffi::c_void;
use libloading::Library;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The system's name for the driver.
pub const DRIVER_LIBRARY: &str = "libcuda.so.1";

/// Environment variable naming another library to load instead of the driver.
pub const LIBRARY_OVERRIDE: &str = "LOCKSTEP_LIBCUDA";

/// Proof that the driver is loaded: every `cu*` symbol of this program now leads to it.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    _loaded: (),
}

/// Why no driver could be loaded, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoadError {
    /// The library is not there.
    #[error(
        "no CUDA driver: the library `{library}` could not be loaded ({reason}); {}",
        cure(library)
    )]
    Library {
        /// What the system's loader was asked for.
        library: String,
        /// Its answer.
        reason: String,
    },
    /// The library is there, but it is not a driver we can use.
    #[error(
        "`{library}` is not a usable CUDA driver: it lacks the function `{symbol}`; install an NVIDIA driver of version 450 or later"
    )]
    Symbol {
        /// The library that was loaded.
        library: String,
        /// The function it lacks.
        symbol: &'static str,
    },
    /// Another library has already been loaded by this process.
    #[error("a CUDA driver is already loaded from `{0}`; a process can use only one")]
    Already(String),
}

fn cure(library: &str) -> String {
    if library == DRIVER_LIBRARY {
        format!(
            "install the NVIDIA driver (`nvidia-smi` must work), \
             or name the library with {LIBRARY_OVERRIDE}=PATH"
        )
    } else {
        format!("correct or unset {LIBRARY_OVERRIDE}")
    }
}

/// The library whose functions fill the table.
static LOADED: OnceLock<Result<OsString, LoadError>> = OnceLock::new();

/// Loads the driver: the library that `LOCKSTEP_LIBCUDA` names, or the system's `libcuda.so.1`.
/// Later calls return the first result.
pub fn load() -> Result<Driver, LoadError> {
    let library = std::env::var_os(LIBRARY_OVERRIDE)
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| DRIVER_LIBRARY.into());
    match LOADED.get_or_init(|| fill(&library).map(|()| library.clone())) {
        Ok(_) => Ok(Driver { _loaded: () }),
        Err(error) => Err(error.clone()),
    }
}

/// Loads `library` as the driver. An error leaves the table unchanged, so another library can be
/// tried; after a success, only the same one is accepted.
pub fn load_from(library: &Path) -> Result<Driver, LoadError> {
    once(library.as_os_str(), || fill(library.as_os_str()))
}

/// Uses functions of this process as the driver: `find` returns each by name, as
/// `sim_driver::function` does for a simulated GPU. `name` takes the place of a library's name, in
/// errors and in later calls, which must name the same.
///
/// # Safety
///
/// Each function has the signature that the driver documents for its name.
pub unsafe fn load_functions(
    name: &str,
    find: impl Fn(&str) -> Option<*const ()>,
) -> Result<Driver, LoadError> {
    let name = OsStr::new(name);
    once(name, || {
        point(name, |symbol| find(symbol).map(|at| at.cast_mut().cast()))
    })
}

/// Fills the table, or finds that the same library has already filled it.
fn once(
    library: &OsStr,
    fill: impl FnOnce() -> Result<(), LoadError>,
) -> Result<Driver, LoadError> {
    if let Some(Ok(loaded)) = LOADED.get() {
        return if loaded == library {
            Ok(Driver { _loaded: () })
        } else {
            Err(LoadError::Already(
                PathBuf::from(loaded).display().to_string(),
            ))
        };
    }
    fill()?;
    let _ = LOADED.set(Ok(library.into()));
    Ok(Driver { _loaded: () })
}

/// Points every slot into `library`, all or none.
fn fill(library: &OsStr) -> Result<(), LoadError> {
    let library_name = library.to_string_lossy().into_owned();
    // SAFETY: loading runs the library's initialisers; the driver's may run at
    // any time, and the user vouches for a library named by the override.
    let driver = unsafe { Library::new(library) }.map_err(|error| LoadError::Library {
        library: library_name.clone(),
        reason: reason_of(&error),
    })?;

    point(library, |name| {
        // SAFETY: only the address is taken; whoever calls the symbol declares
        // the signature.
        unsafe { driver.get::<*mut c_void>(name) }
            .ok()
            .map(|function| *function)
    })?;
    // The slots point into it from now on.
    std::mem::forget(driver);
    Ok(())
}

/// Points every slot at what `find` returns for its name, all or none.
fn point(library: &OsStr, find: impl Fn(&str) -> Option<*mut c_void>) -> Result<(), LoadError> {
    let find = |symbol: &Symbol| match find(symbol.name) {
        None if symbol.required => Err(LoadError::Symbol {
            library: library.to_string_lossy().into_owned(),
            symbol: symbol.name,
        }),
        found => Ok(found),
    };
    let functions: Vec<_> = SYMBOLS.iter().map(find).collect::<Result<_, _>>()?;
    for (symbol, function) in SYMBOLS.iter().zip(functions) {
        if let Some(function) = function {
            symbol.slot.set(function);
        }
    }
    Ok(())
}

/// The loader's own words, without the library's name that it repeats.
fn reason_of(error: &libloading::Error) -> String {
    let text =
        std::error::Error::source(error).map_or_else(|| error.to_string(), |e| e.to_string());
    match text.split_once(": ") {
        Some((_, reason)) => reason.to_owned(),
        None => text,
    }
}
