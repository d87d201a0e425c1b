//! Functions under the names that they had in earlier versions of CUDA: those that later ones
//! replaced, `cuEventDestroy_v2` for `cuEventDestroy`, are in a driver to this day.
//!
//! Most do what the later ones do. Those of CUDA 3.1, whose addresses and sizes have 32 bits,
//! are for contexts that it makes, which are not simulated: in all others they answer that the
//! context is of the wrong kind, as an H200's driver does.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::context::*;
use super::device::cuDeviceTotalMem_v2;
use super::event::cuEventDestroy_v2;
use super::graph::cuGraphInstantiate_v2;
use super::host::cuMemHostRegister_v2;
use super::link::*;
use super::stream::cuStreamDestroy_v2;
use super::{api, put};
use crate::recorder::recorder;
use crate::status::{Outcome, Status};

/// What a later function has answered.
fn answered(status: u32) -> Outcome {
    match status {
        0 => Ok(()),
        error => Err(Status(error)),
    }
}

/// What a function answers that has 32 bits for an address or a size.
fn has_32_bits(name: &str) -> Outcome {
    recorder()?.note(&format!(
        "{name} is CUDA 3.1's, with addresses and sizes of 32 bits: call {name}_v2"
    ));
    Err(Status::INVALID_CONTEXT)
}

api! {
    fn cuCtxDestroy(handle: usize) {
        answered(cuCtxDestroy_v2(handle))
    }
    fn cuCtxPopCurrent(out: *mut usize) {
        answered(cuCtxPopCurrent_v2(out))
    }
    fn cuCtxPushCurrent(handle: usize) {
        answered(cuCtxPushCurrent_v2(handle))
    }
    fn cuDevicePrimaryCtxRelease(device: c_int) {
        // Nothing is wrong for this one with a context that nobody holds.
        match cuDevicePrimaryCtxRelease_v2(device) {
            error if error == Status::INVALID_CONTEXT.0 => Ok(()),
            status => answered(status),
        }
    }
    fn cuDevicePrimaryCtxReset(device: c_int) {
        answered(cuDevicePrimaryCtxReset_v2(device))
    }
    fn cuDevicePrimaryCtxSetFlags(device: c_int, flags: c_uint) {
        answered(cuDevicePrimaryCtxSetFlags_v2(device, flags))
    }
    fn cuEventDestroy(event: usize) {
        answered(cuEventDestroy_v2(event))
    }
    fn cuStreamDestroy(stream: usize) {
        answered(cuStreamDestroy_v2(stream))
    }
    fn cuGraphInstantiate(out: *mut usize, graph: usize, error: *mut usize, log: *mut c_void, n: usize) {
        answered(cuGraphInstantiate_v2(out, graph, error, log, n))
    }
    fn cuLinkCreate(n: c_uint, options: *const c_uint, values: *mut *mut c_void, out: *mut usize) {
        answered(cuLinkCreate_v2(n, options, values, out))
    }
    fn cuLinkAddData(handle: usize, kind: c_uint, data: *const c_void, size: usize, name: *const c_char, n: c_uint, options: *const c_uint, values: *mut *mut c_void) {
        answered(cuLinkAddData_v2(handle, kind, data, size, name, n, options, values))
    }
    fn cuLinkAddFile(handle: usize, kind: c_uint, path: *const c_char, n: c_uint, options: *const c_uint, values: *mut *mut c_void) {
        answered(cuLinkAddFile_v2(handle, kind, path, n, options, values))
    }
    fn cuMemHostRegister(pointer: *mut c_void, n_bytes: usize, flags: c_uint) {
        answered(cuMemHostRegister_v2(pointer, n_bytes, flags))
    }
    fn cuDeviceTotalMem(out: *mut u32, device: c_int) {
        let mut n_bytes = 0;
        answered(cuDeviceTotalMem_v2(&mut n_bytes, device))?;
        put(out, u32::try_from(n_bytes).unwrap_or(u32::MAX))
    }

    fn cuMemAlloc() {
        has_32_bits("cuMemAlloc")
    }
    fn cuMemAllocHost() {
        has_32_bits("cuMemAllocHost")
    }
    fn cuMemAllocPitch() {
        has_32_bits("cuMemAllocPitch")
    }
    fn cuMemFree() {
        has_32_bits("cuMemFree")
    }
    fn cuMemGetAddressRange() {
        has_32_bits("cuMemGetAddressRange")
    }
    fn cuMemGetInfo() {
        has_32_bits("cuMemGetInfo")
    }
    fn cuMemHostGetDevicePointer() {
        has_32_bits("cuMemHostGetDevicePointer")
    }
    fn cuMemcpy2D() {
        has_32_bits("cuMemcpy2D")
    }
    fn cuMemcpy2DAsync() {
        has_32_bits("cuMemcpy2DAsync")
    }
    fn cuMemcpy2DUnaligned() {
        has_32_bits("cuMemcpy2DUnaligned")
    }
    fn cuMemcpy3D() {
        has_32_bits("cuMemcpy3D")
    }
    fn cuMemcpy3DAsync() {
        has_32_bits("cuMemcpy3DAsync")
    }
    fn cuMemcpyDtoD() {
        has_32_bits("cuMemcpyDtoD")
    }
    fn cuMemcpyDtoDAsync() {
        has_32_bits("cuMemcpyDtoDAsync")
    }
    fn cuMemcpyDtoH() {
        has_32_bits("cuMemcpyDtoH")
    }
    fn cuMemcpyDtoHAsync() {
        has_32_bits("cuMemcpyDtoHAsync")
    }
    fn cuMemcpyHtoD() {
        has_32_bits("cuMemcpyHtoD")
    }
    fn cuMemcpyHtoDAsync() {
        has_32_bits("cuMemcpyHtoDAsync")
    }
    fn cuMemsetD16() {
        has_32_bits("cuMemsetD16")
    }
    fn cuMemsetD2D16() {
        has_32_bits("cuMemsetD2D16")
    }
    fn cuMemsetD2D32() {
        has_32_bits("cuMemsetD2D32")
    }
    fn cuMemsetD2D8() {
        has_32_bits("cuMemsetD2D8")
    }
    fn cuMemsetD32() {
        has_32_bits("cuMemsetD32")
    }
    fn cuMemsetD8() {
        has_32_bits("cuMemsetD8")
    }
    fn cuModuleGetGlobal() {
        has_32_bits("cuModuleGetGlobal")
    }
}
