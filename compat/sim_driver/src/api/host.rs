//! Host memory that devices use: pinned, managed, registered.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;

use super::{api, put};
use crate::context::Context;
use crate::driver::driver;
use crate::host_memory::{HostKind, HostRange};
use crate::status::{Outcome, Status};

/// `CU_MEMHOSTALLOC_…` and `CU_MEMHOSTREGISTER_…`: portable, mapped, write-combined; read-only.
const ALLOC_FLAGS: u32 = 7;
const REGISTER_FLAGS: u32 = 15;

fn pinned(out: *mut *mut c_void, n_bytes: usize, flags: u32) -> Outcome {
    let context = Context::current()?;
    Status::INVALID_VALUE.when(out.is_null() || flags & !ALLOC_FLAGS != 0)?;
    let base = match n_bytes {
        0 => 0,
        _ => driver()?.allocate_host(HostKind::Pinned, n_bytes, flags, context.handle)?,
    };
    // SAFETY: the client's pointer, checked for null.
    unsafe { put(out, base as *mut c_void) }
}

api! {
    fn cuMemAllocHost_v2(out: *mut *mut c_void, n_bytes: usize) {
        pinned(out, n_bytes, 3)
    }
    fn cuMemHostAlloc(out: *mut *mut c_void, n_bytes: usize, flags: c_uint) {
        pinned(out, n_bytes, flags)
    }
    fn cuMemFreeHost(pointer: *mut c_void) {
        let context = Context::current()?;
        if pointer.is_null() {
            return Ok(());
        }
        HostRange::find(pointer as u64)
            .filter(|r| r.base == pointer as u64 && r.kind == HostKind::Pinned)
            .ok_or(Status::INVALID_VALUE)?;
        context.synchronize()?;
        match driver()?.free_host(pointer as u64, |kind| kind == HostKind::Pinned) {
            true => Ok(()),
            false => Err(Status::INVALID_VALUE),
        }
    }
    fn cuMemHostGetDevicePointer_v2(out: *mut u64, pointer: *mut c_void, flags: c_uint) {
        Context::current()?;
        Status::INVALID_VALUE.when(flags != 0)?;
        HostRange::find(pointer as u64).ok_or(Status::INVALID_VALUE)?;
        put(out, pointer as u64)
    }
    fn cuMemHostGetFlags(out: *mut c_uint, pointer: *mut c_void) {
        Context::current()?;
        let range = HostRange::find(pointer as u64).ok_or(Status::INVALID_VALUE)?;
        // All of it is mapped and usable by every device.
        put(out, range.flags | 3)
    }
    fn cuMemHostRegister_v2(pointer: *mut c_void, n_bytes: usize, flags: c_uint) {
        let context = Context::current()?;
        let pointer = NonNull::new(pointer.cast()).ok_or(Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(n_bytes == 0 || flags & !REGISTER_FLAGS != 0)?;
        driver()?.register_host(pointer, n_bytes, flags, context.handle)
    }
    fn cuMemHostUnregister(pointer: *mut c_void) {
        let context = Context::current()?;
        Status::INVALID_VALUE.when(pointer.is_null())?;
        context.synchronize()?;
        match driver()?.free_host(pointer as u64, |kind| kind == HostKind::Registered) {
            true => Ok(()),
            false => Err(Status::HOST_MEMORY_NOT_REGISTERED),
        }
    }
    fn cuMemAllocManaged(out: *mut u64, n_bytes: usize, flags: c_uint) {
        let context = Context::current()?;
        Status::INVALID_VALUE.when(out.is_null() || !matches!(flags, 1 | 2))?;
        put(out, driver()?.allocate_host(HostKind::Managed, n_bytes, flags, context.handle)?)
    }
    fn cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz(stream: usize, address: u64, _n_bytes: usize, flags: c_uint) in stream {
        crate::stream::Stream::of(stream)?;
        let range = HostRange::find(address).ok_or(Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(!range.kind.is_managed() || !matches!(flags, 1 | 2 | 4))?;
        Ok(())
    }
    fn cuIpcGetMemHandle(_handle: *mut c_void, _address: u64) {
        Err(Status::NOT_SUPPORTED)
    }
    fn cuIpcGetEventHandle(_handle: *mut c_void, _event: usize) {
        Err(Status::NOT_SUPPORTED)
    }
    fn cuIpcCloseMemHandle(_address: u64) {
        Err(Status::NOT_SUPPORTED)
    }
    fn cuDeviceRegisterAsyncNotification(_device: c_int, _f: *mut c_void, _data: *mut c_void, _out: *mut c_void) {
        Err(Status::NOT_SUPPORTED)
    }
}
