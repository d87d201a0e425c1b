//! Functions called by the code that nvcc puts into a program: registration, and the two halves of
//! a launch.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use super::{api, call, put};
use crate::driver;
use crate::error::Error;
use crate::layouts::Dim3;
use crate::registry::{self, Configuration};

/// A name that a program registers.
unsafe fn name(from: *const c_char) -> Option<CString> {
    (!from.is_null()).then(|| unsafe { CStr::from_ptr(from) }.to_owned())
}

pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *mut c_void) -> usize {
    registry::add_fat_binary(wrapper.expose_provenance())
}

pub unsafe extern "C" fn __cudaRegisterFatBinaryEnd(_fat: usize) {}

pub unsafe extern "C" fn __cudaUnregisterFatBinary(fat: usize) {
    registry::remove_fat_binary(fat);
}

pub unsafe extern "C" fn __cudaRegisterFunction(
    fat: usize,
    host: usize,
    _device: *const c_char,
    device_name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_dim: *mut c_void,
    _grid_dim: *mut c_void,
    _warp_size: *mut c_int,
) {
    if let Some(name) = unsafe { name(device_name) } {
        registry::add_kernel(fat, host, name);
    }
}

pub unsafe extern "C" fn __cudaRegisterVar(
    fat: usize,
    host: usize,
    _device: *const c_char,
    device_name: *const c_char,
    _is_extern: c_int,
    _n_bytes: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    if let Some(name) = unsafe { name(device_name) } {
        registry::add_variable(fat, host, name);
    }
}

pub unsafe extern "C" fn __cudaRegisterManagedVar(
    fat: usize,
    slot: usize,
    _device: *const c_char,
    device_name: *const c_char,
    _is_extern: c_int,
    _n_bytes: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    if let Some(name) = unsafe { name(device_name) } {
        registry::add_managed(fat, slot, name.clone());
        // The program knows it by the address of its slot.
        registry::add_variable(fat, slot, name);
    }
}

pub unsafe extern "C" fn __cudaRegisterHostVar(
    _fat: usize,
    _device_name: *const c_char,
    _host: *mut c_void,
    _n_bytes: usize,
) {
}

pub unsafe extern "C" fn __cudaRegisterUnifiedTable(_fat: usize, _table: *mut c_void) {}

/// Called before a program first uses a managed variable, which has its address afterwards.
pub unsafe extern "C" fn __cudaInitModule(fat: usize) -> c_char {
    let status = call(|| {
        registry::load_fat_binary(fat)?;
        registry::place_managed(fat)
    });
    c_char::from(status == 0)
}

pub unsafe extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: usize,
) -> u32 {
    registry::push_configuration(Configuration {
        grid,
        block,
        shared_bytes,
        stream,
    });
    0
}

api! {
    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared_bytes: *mut usize, stream: *mut usize) {
        let last = registry::pop_configuration()?;
        put(grid, last.grid)?;
        put(block, last.block)?;
        put(shared_bytes, last.shared_bytes)?;
        put(stream, last.stream)
    }
    fn __cudaGetKernel(out: *mut usize, host: usize) {
        if !registry::is_kernel(host) {
            return Err(Error::INVALID_DEVICE_FUNCTION);
        }
        // The program calls this once and ignores the result: a launch asks again, and reports what
        // is wrong.
        put(out, host)?;
        put(out, registry::kernel(host)?)
    }
    fn __cudaLaunchKernel, __cudaLaunchKernel_ptsz(kernel: usize, grid: Dim3, block: Dim3, params: *const *mut c_void, shared_bytes: usize, stream: usize) in stream {
        super::launch::launch(kernel, Configuration { grid, block, shared_bytes, stream }, params)
    }
    fn cudaGetKernel(out: *mut usize, host: usize) {
        crate::current::ready()?;
        put(out, registry::kernel(host)?)
    }
    fn cudaGetFuncBySymbol(out: *mut usize, host: usize) {
        crate::current::ready()?;
        let kernel = registry::kernel(host)?;
        driver::cuKernelGetFunction(out, kernel)
    }
    fn cudaGetExportTable(out: *mut *const c_void, _id: *const c_void) {
        put(out, std::ptr::null())?;
        Err(Error::NOT_SUPPORTED)
    }
}
