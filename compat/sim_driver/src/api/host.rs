//! Host memory that devices use: pinned, managed, registered. Managed memory is everywhere, so where
//! it should be is only checked.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;

use super::{api, put};
use crate::context::Context;
use crate::driver::driver;
use crate::host_memory::{HostKind, HostRange};
use crate::operation::Operation;
use crate::status::{Outcome, Status};

/// `CU_MEMHOSTALLOC_…` and `CU_MEMHOSTREGISTER_…`: portable, mapped, write-combined; read-only.
const ALLOC_FLAGS: u32 = 7;
const REGISTER_FLAGS: u32 = 15;

/// `CU_MEM_LOCATION_TYPE_DEVICE`, `…_HOST`, `…_HOST_NUMA` and `…_HOST_NUMA_CURRENT`
const DEVICE: u32 = 1;
const HOST: u32 = 2;
const NUMA_NODE: u32 = 3;
const OWN_NUMA_NODE: u32 = 4;

/// `CUmemLocation`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    number: c_int,
}

impl Location {
    /// As arguments are passed.
    fn of_bits(bits: u64) -> Self {
        Self {
            kind: bits as u32,
            number: (bits >> 32) as c_int,
        }
    }

    /// A device, or the host for `CU_DEVICE_CPU`.
    pub(super) fn of_device(number: c_int) -> Self {
        let kind = if number == -1 { HOST } else { DEVICE };
        Self { kind, number }
    }

    /// The device that it is.
    pub(super) fn device(self) -> Outcome<u32> {
        Status::INVALID_VALUE.when(self.kind != DEVICE)?;
        Ok(driver()?.device(self.number)?.ordinal)
    }

    /// Whether there is such a place. The host counts as one node.
    pub(super) fn is_there(self) -> Outcome<bool> {
        let driver = driver()?;
        Ok(match self.kind {
            DEVICE => driver.device(self.number).is_ok(),
            NUMA_NODE => self.number == 0,
            HOST | OWN_NUMA_NODE => true,
            _ => false,
        })
    }
}

/// `CU_MEM_ADVISE_…`: those for which the place matters, and the last one.
const PREFER: u32 = 3;
const SET_ACCESSED_BY: u32 = 5;
const UNSET_ACCESSED_BY: u32 = 6;

/// An error unless all of these bytes are in one range of managed memory.
fn must_be_managed(address: u64, n_bytes: usize) -> Outcome {
    let range = HostRange::find(address).filter(|range| range.kind.is_managed());
    let range = range.ok_or(Status::INVALID_VALUE)?;
    let left = range.size_bytes - (address - range.base);
    Status::INVALID_VALUE.when(n_bytes == 0 || n_bytes as u64 > left)
}

/// Checks advice, which changes nothing here; `nowhere` is the status for a place that is not there.
fn advise(range: (u64, usize), advice: u32, at: Location, nowhere: Status) -> Outcome {
    must_be_managed(range.0, range.1)?;
    let is_known = (1..=UNSET_ACCESSED_BY).contains(&advice);
    Status::INVALID_VALUE.when(!is_known || !(DEVICE..=OWN_NUMA_NODE).contains(&at.kind))?;
    let fits = match advice {
        PREFER => at.is_there()?,
        // Nodes do not access memory.
        SET_ACCESSED_BY | UNSET_ACCESSED_BY => at.kind <= HOST && at.is_there()?,
        _ => true,
    };
    nowhere.when(!fits)
}

/// Moves managed memory, which is everywhere, to a place: nothing to do, in stream order.
fn prefetch(range: (u64, usize), to: Location, stream: usize) -> Outcome {
    must_be_managed(range.0, range.1)?;
    if to.kind == DEVICE {
        to.device()?;
    }
    Status::INVALID_VALUE.when(!to.is_there()?)?;
    super::uncaptured(stream)?;
    super::submit(stream, Operation::Nothing)
}

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
        super::uncaptured(stream)?;
        let range = HostRange::find(address).ok_or(Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(!range.kind.is_managed() || !matches!(flags, 1 | 2 | 4))?;
        Ok(())
    }
    fn cuMemAdvise(address: u64, n_bytes: usize, advice: c_uint, device: c_int) {
        advise((address, n_bytes), advice, Location::of_device(device), Status::INVALID_DEVICE)
    }
    fn cuMemAdvise_v2(address: u64, n_bytes: usize, advice: c_uint, location: u64) {
        advise((address, n_bytes), advice, Location::of_bits(location), Status::INVALID_VALUE)
    }
    fn cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz(address: u64, n_bytes: usize, device: c_int, stream: usize) in stream {
        prefetch((address, n_bytes), Location::of_device(device), stream)
    }
    fn cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz(address: u64, n_bytes: usize, location: u64, flags: c_uint, stream: usize) in stream {
        Status::INVALID_VALUE.when(flags != 0)?;
        prefetch((address, n_bytes), Location::of_bits(location), stream)
    }
    fn cuMemRangeGetAttribute(_out: *mut c_void, _size: usize, _number: c_uint, address: u64, n_bytes: usize) {
        must_be_managed(address, n_bytes)?;
        Err(Status::NOT_SUPPORTED)
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
