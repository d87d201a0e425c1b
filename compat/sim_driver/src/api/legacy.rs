//! Functions under their names from earlier versions of CUDA. Those that were later replaced, such
//! as `cuEventDestroy` by `cuEventDestroy_v2`, are still in a driver.
//!
//! Most do what their successors do. Those of CUDA 3.1, with 32-bit addresses and sizes, are for
//! contexts that CUDA 3.1 makes, which are not simulated: in all others they report a context of
//! the wrong kind, as an H200's driver does.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::context::*;
use super::device::cuDeviceTotalMem_v2;
use super::event::cuEventDestroy_v2;
use super::graph::cuGraphInstantiate_v2;
use super::host::cuMemHostRegister_v2;
use super::link::*;
use super::stream::cuStreamDestroy_v2;
use super::{answered, api, put};
use crate::recorder::recorder;
use crate::status::{Outcome, Status};

/// The result of a function with a 32-bit address or size.
fn has_32_bits(name: &str) -> Outcome {
    recorder()?.note(&format!(
        "{name} is from CUDA 3.1, with 32-bit addresses and sizes: call {name}_v2"
    ));
    Err(Status::INVALID_CONTEXT)
}

api! {
    fn cuCtxDestroy(handle: usize) = cuCtxDestroy_v2;
    fn cuCtxPopCurrent(out: *mut usize) = cuCtxPopCurrent_v2;
    fn cuCtxPushCurrent(handle: usize) = cuCtxPushCurrent_v2;
    fn cuDevicePrimaryCtxRelease(device: c_int) {
        // For this version, a context that is not retained is not an error.
        match cuDevicePrimaryCtxRelease_v2(device) {
            error if error == Status::INVALID_CONTEXT.0 => Ok(()),
            status => answered(status),
        }
    }
    fn cuDevicePrimaryCtxReset(device: c_int) = cuDevicePrimaryCtxReset_v2;
    fn cuDevicePrimaryCtxSetFlags(device: c_int, flags: c_uint) = cuDevicePrimaryCtxSetFlags_v2;
    fn cuEventDestroy(event: usize) = cuEventDestroy_v2;
    fn cuStreamDestroy(stream: usize) = cuStreamDestroy_v2;
    fn cuGraphInstantiate(out: *mut usize, graph: usize, error: *mut usize, log: *mut c_void, n: usize) = cuGraphInstantiate_v2;
    fn cuLinkCreate(n: c_uint, options: *const c_uint, values: *mut *mut c_void, out: *mut usize) = cuLinkCreate_v2;
    fn cuLinkAddData(handle: usize, kind: c_uint, data: *const c_void, size: usize, name: *const c_char, n: c_uint, options: *const c_uint, values: *mut *mut c_void) = cuLinkAddData_v2;
    fn cuLinkAddFile(handle: usize, kind: c_uint, path: *const c_char, n: c_uint, options: *const c_uint, values: *mut *mut c_void) = cuLinkAddFile_v2;
    fn cuMemHostRegister(pointer: *mut c_void, n_bytes: usize, flags: c_uint) = cuMemHostRegister_v2;
    fn cuDeviceTotalMem(out: *mut u32, device: c_int) {
        let mut n_bytes = 0;
        answered(cuDeviceTotalMem_v2(&mut n_bytes, device))?;
        put(out, u32::try_from(n_bytes).unwrap_or(u32::MAX))
    }

    fn cuMemAlloc() = has_32_bits(name);
    fn cuMemAllocHost() = has_32_bits(name);
    fn cuMemAllocPitch() = has_32_bits(name);
    fn cuMemFree() = has_32_bits(name);
    fn cuMemGetAddressRange() = has_32_bits(name);
    fn cuMemGetInfo() = has_32_bits(name);
    fn cuMemHostGetDevicePointer() = has_32_bits(name);
    fn cuMemcpy2D() = has_32_bits(name);
    fn cuMemcpy2DAsync() = has_32_bits(name);
    fn cuMemcpy2DUnaligned() = has_32_bits(name);
    fn cuMemcpy3D() = has_32_bits(name);
    fn cuMemcpy3DAsync() = has_32_bits(name);
    fn cuMemcpyDtoD() = has_32_bits(name);
    fn cuMemcpyDtoDAsync() = has_32_bits(name);
    fn cuMemcpyDtoH() = has_32_bits(name);
    fn cuMemcpyDtoHAsync() = has_32_bits(name);
    fn cuMemcpyHtoD() = has_32_bits(name);
    fn cuMemcpyHtoDAsync() = has_32_bits(name);
    fn cuMemsetD16() = has_32_bits(name);
    fn cuMemsetD2D16() = has_32_bits(name);
    fn cuMemsetD2D32() = has_32_bits(name);
    fn cuMemsetD2D8() = has_32_bits(name);
    fn cuMemsetD32() = has_32_bits(name);
    fn cuMemsetD8() = has_32_bits(name);
    fn cuModuleGetGlobal() = has_32_bits(name);
}
