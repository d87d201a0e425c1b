//! Errors, versions, the profiler, driver functions by name.

use std::ffi::{CStr, c_char, c_int, c_uint};

use super::{api, needed, put};
use crate::current;
use crate::driver;
use crate::error::{self, Error, Outcome};

/// The name of an error that does not exist.
const UNKNOWN: &CStr = c"unrecognized error code";

pub unsafe extern "C" fn cudaGetLastError() -> u32 {
    error::take_last()
}

pub unsafe extern "C" fn cudaPeekAtLastError() -> u32 {
    error::last()
}

pub unsafe extern "C" fn cudaGetErrorName(error: c_uint) -> *const c_char {
    error::texts(error)
        .map_or(UNKNOWN, |(name, _)| name)
        .as_ptr()
}

pub unsafe extern "C" fn cudaGetErrorString(error: c_uint) -> *const c_char {
    error::texts(error)
        .map_or(UNKNOWN, |(_, text)| text)
        .as_ptr()
}

/// `cudaEnablePerThreadDefaultStream`
const PER_THREAD_DEFAULT_STREAM: u64 = 2;

/// Flags for a program in which each thread has its own default stream: without any, it means the
/// functions that use that stream.
pub(super) fn of_own_stream(flags: u64) -> u64 {
    match flags {
        0 => PER_THREAD_DEFAULT_STREAM,
        flags => flags,
    }
}

/// A driver function for a program of some version; also the result of the search, if requested.
pub(super) unsafe fn entry_point(
    name: *const c_char,
    out: *mut usize,
    version: c_int,
    flags: u64,
    status: *mut c_uint,
) -> Outcome {
    needed(name)?;
    needed(out)?;
    current::initialize()?;
    let mut found = 0;
    let outcome = unsafe { driver::cuGetProcAddress_v2(name, out, version, flags, &mut found) };
    if status.is_null() {
        return outcome;
    }
    unsafe { put(status, found)? };
    outcome.or_else(|error| match error {
        // The status reports that.
        Error::SYMBOL_NOT_FOUND => Ok(()),
        error => Err(error),
    })
}

api! {
    fn cudaDriverGetVersion(out: *mut c_int) {
        needed(out)?;
        // No driver has version 0.
        put(out, 0)?;
        driver::cuDriverGetVersion(out).or_else(|error| match error {
            Error::INSUFFICIENT_DRIVER => Ok(()),
            error => Err(error),
        })
    }
    fn cudaGetDriverEntryPointByVersion(name: *const c_char, out: *mut usize, version: c_uint, flags: u64, status: *mut c_uint) {
        let version = c_int::try_from(version).map_err(|_| Error::INVALID_VALUE)?;
        entry_point(name, out, version, flags, status)
    }
    fn cudaGetDriverEntryPointByVersion_ptsz(name: *const c_char, out: *mut usize, version: c_uint, flags: u64, status: *mut c_uint) {
        let version = c_int::try_from(version).map_err(|_| Error::INVALID_VALUE)?;
        entry_point(name, out, version, of_own_stream(flags), status)
    }
    fn cudaProfilerStart() = cuProfilerStart;
    fn cudaProfilerStop() = cuProfilerStop;
}
