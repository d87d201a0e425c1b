//! Libraries that a program loads itself.

use std::ffi::{c_char, c_uint, c_void};

use super::api;

api! {
    fn cudaLibraryLoadData(out: *mut usize, image: *const c_void, options: *const c_uint, values: *mut *mut c_void, n: c_uint, library_options: *const c_uint, library_values: *mut *mut c_void, n_library: c_uint) = cuLibraryLoadData needs out;
    fn cudaLibraryLoadFromFile(out: *mut usize, path: *const c_char, options: *const c_uint, values: *mut *mut c_void, n: c_uint, library_options: *const c_uint, library_values: *mut *mut c_void, n_library: c_uint) = cuLibraryLoadFromFile needs out;
    fn cudaLibraryUnload(library: usize) = cuLibraryUnload;
    fn cudaLibraryGetKernel(out: *mut usize, library: usize, name: *const c_char) = cuLibraryGetKernel needs out;
    fn cudaLibraryGetKernelCount(out: *mut c_uint, library: usize) = cuLibraryGetKernelCount needs out;
    fn cudaLibraryEnumerateKernels(out: *mut usize, n: c_uint, library: usize) = cuLibraryEnumerateKernels needs out;
    fn cudaLibraryGetGlobal(address: *mut u64, n_bytes: *mut usize, library: usize, name: *const c_char) = cuLibraryGetGlobal;
    fn cudaLibraryGetManaged(address: *mut u64, n_bytes: *mut usize, library: usize, name: *const c_char) = cuLibraryGetManaged;
    fn cudaLibraryGetUnifiedFunction(out: *mut *mut c_void, library: usize, name: *const c_char) = cuLibraryGetUnifiedFunction;
}
