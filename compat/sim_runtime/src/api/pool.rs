//! Pools of memory.

use std::ffi::{c_int, c_uint, c_void};

use super::{api, needed};
use crate::current;
use crate::driver;

api! {
    fn cudaDeviceGetDefaultMemPool(out: *mut usize, device: c_int) {
        needed(out)?;
        current::check_device(device)?;
        driver::cuDeviceGetDefaultMemPool(out, device)
    }
    fn cudaDeviceGetMemPool(out: *mut usize, device: c_int) {
        needed(out)?;
        current::check_device(device)?;
        driver::cuDeviceGetMemPool(out, device)
    }
    fn cudaDeviceSetMemPool(device: c_int, pool: usize) {
        current::check_device(device)?;
        driver::cuDeviceSetMemPool(device, pool)
    }
    fn cudaMemPoolCreate(out: *mut usize, properties: *const c_void) {
        needed(out)?;
        needed(properties)?;
        current::ready()?;
        driver::cuMemPoolCreate(out, properties)
    }
    fn cudaMemPoolDestroy(pool: usize) {
        current::ready()?;
        driver::cuMemPoolDestroy(pool)
    }
    fn cudaMemPoolTrimTo(pool: usize, n_bytes: usize) {
        current::ready()?;
        driver::cuMemPoolTrimTo(pool, n_bytes)
    }
    fn cudaMemPoolSetAttribute(pool: usize, number: c_uint, value: *const c_void) {
        needed(value)?;
        current::ready()?;
        driver::cuMemPoolSetAttribute(pool, number, value)
    }
    fn cudaMemPoolGetAttribute(pool: usize, number: c_uint, out: *mut c_void) {
        needed(out)?;
        current::ready()?;
        driver::cuMemPoolGetAttribute(pool, number, out)
    }
    fn cudaMemPoolSetAccess(pool: usize, access: *const c_void, n: usize) {
        current::ready()?;
        driver::cuMemPoolSetAccess(pool, access, n)
    }
    fn cudaMemPoolGetAccess(out: *mut c_uint, pool: usize, location: *const c_void) {
        needed(out)?;
        current::ready()?;
        driver::cuMemPoolGetAccess(out, pool, location)
    }
}
