//! Memory pools.

use std::ffi::{c_int, c_uint, c_void};

use super::api;

api! {
    fn cudaDeviceGetDefaultMemPool(out: *mut usize, device: c_int) = cuDeviceGetDefaultMemPool needs out on device;
    fn cudaDeviceGetMemPool(out: *mut usize, device: c_int) = cuDeviceGetMemPool needs out on device;
    fn cudaDeviceSetMemPool(device: c_int, pool: usize) = cuDeviceSetMemPool on device;
    fn cudaMemPoolCreate(out: *mut usize, properties: *const c_void) = cuMemPoolCreate needs out, properties;
    fn cudaMemPoolDestroy(pool: usize) = cuMemPoolDestroy;
    fn cudaMemPoolTrimTo(pool: usize, n_bytes: usize) = cuMemPoolTrimTo;
    fn cudaMemPoolSetAttribute(pool: usize, number: c_uint, value: *const c_void) = cuMemPoolSetAttribute needs value;
    fn cudaMemPoolGetAttribute(pool: usize, number: c_uint, out: *mut c_void) = cuMemPoolGetAttribute needs out;
    fn cudaMemPoolSetAccess(pool: usize, access: *const c_void, n: usize) = cuMemPoolSetAccess;
    fn cudaMemPoolGetAccess(out: *mut c_uint, pool: usize, location: *const c_void) = cuMemPoolGetAccess needs out;
}
