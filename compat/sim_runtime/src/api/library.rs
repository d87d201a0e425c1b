//! Libraries that a program loads itself.

use std::ffi::{c_char, c_uint, c_void};

use super::{api, needed};
use crate::current;
use crate::driver;

api! {
    fn cudaLibraryLoadData(out: *mut usize, image: *const c_void, options: *const c_uint, values: *mut *mut c_void, n: c_uint, library_options: *const c_uint, library_values: *mut *mut c_void, n_library: c_uint) {
        needed(out)?;
        current::ready()?;
        driver::cuLibraryLoadData(out, image, options, values, n, library_options, library_values, n_library)
    }
    fn cudaLibraryLoadFromFile(out: *mut usize, path: *const c_char, options: *const c_uint, values: *mut *mut c_void, n: c_uint, library_options: *const c_uint, library_values: *mut *mut c_void, n_library: c_uint) {
        needed(out)?;
        current::ready()?;
        driver::cuLibraryLoadFromFile(out, path, options, values, n, library_options, library_values, n_library)
    }
    fn cudaLibraryUnload(library: usize) {
        current::ready()?;
        driver::cuLibraryUnload(library)
    }
    fn cudaLibraryGetKernel(out: *mut usize, library: usize, name: *const c_char) {
        needed(out)?;
        current::ready()?;
        driver::cuLibraryGetKernel(out, library, name)
    }
    fn cudaLibraryGetKernelCount(out: *mut c_uint, library: usize) {
        needed(out)?;
        current::ready()?;
        driver::cuLibraryGetKernelCount(out, library)
    }
    fn cudaLibraryEnumerateKernels(out: *mut usize, n: c_uint, library: usize) {
        needed(out)?;
        current::ready()?;
        driver::cuLibraryEnumerateKernels(out, n, library)
    }
    fn cudaLibraryGetGlobal(address: *mut u64, n_bytes: *mut usize, library: usize, name: *const c_char) {
        current::ready()?;
        driver::cuLibraryGetGlobal(address, n_bytes, library, name)
    }
    fn cudaLibraryGetManaged(address: *mut u64, n_bytes: *mut usize, library: usize, name: *const c_char) {
        current::ready()?;
        driver::cuLibraryGetManaged(address, n_bytes, library, name)
    }
    fn cudaLibraryGetUnifiedFunction(out: *mut *mut c_void, library: usize, name: *const c_char) {
        current::ready()?;
        driver::cuLibraryGetUnifiedFunction(out, library, name)
    }
}
