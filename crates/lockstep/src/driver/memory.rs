//! Memory of the device and page-locked memory of the host, by address and bytes.
//!
//! Whoever calls has checked that device ranges lie within an allocation.

use super::Stream;
use super::sys;
use cuda_driver::{DriverError, check};
use std::ffi::c_uint;
use std::ptr::NonNull;

/// `CU_MEMHOSTALLOC_DEVICEMAP`: the device can use it by an address of its own.
const DEVICE_MAP: c_uint = 2;

/// Device memory. No bytes are one for the driver.
pub(crate) fn alloc(size_bytes: usize) -> Result<u64, DriverError> {
    let mut address = 0;
    // SAFETY: writes one address.
    check("cuMemAlloc", unsafe {
        sys::cuMemAlloc_v2(&mut address, size_bytes.max(1))
    })?;
    Ok(address)
}

/// Gives back what [`alloc`] gave.
pub(crate) fn free(address: u64) -> Result<(), DriverError> {
    // SAFETY: the driver refuses what is no allocation.
    check("cuMemFree", unsafe { sys::cuMemFree_v2(address) })
}

/// Copies to the device.
pub(crate) fn write(address: u64, bytes: &[u8]) -> Result<(), DriverError> {
    // SAFETY: the caller checked the device range; the host range is a slice.
    check("cuMemcpyHtoD", unsafe {
        sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len())
    })
}

/// Copies from the device.
pub(crate) fn read(address: u64, bytes: &mut [u8]) -> Result<(), DriverError> {
    // SAFETY: as `write`, the other way.
    check("cuMemcpyDtoH", unsafe {
        sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len())
    })
}

/// Puts a copy to the device into the stream.
///
/// # Safety
///
/// The host's bytes stay as they are until the copy has ended.
pub(crate) unsafe fn enqueue_write(
    stream: &Stream,
    address: u64,
    from: *const u8,
    size_bytes: usize,
) -> Result<(), DriverError> {
    // SAFETY: by this function's contract.
    check("cuMemcpyHtoDAsync", unsafe {
        sys::cuMemcpyHtoDAsync_v2(address, from.cast(), size_bytes, stream.raw())
    })
}

/// Puts a copy from the device into the stream.
///
/// # Safety
///
/// Nobody uses the host's bytes until the copy has ended.
pub(crate) unsafe fn enqueue_read(
    stream: &Stream,
    to: *mut u8,
    address: u64,
    size_bytes: usize,
) -> Result<(), DriverError> {
    // SAFETY: by this function's contract.
    check("cuMemcpyDtoHAsync", unsafe {
        sys::cuMemcpyDtoHAsync_v2(to.cast(), address, size_bytes, stream.raw())
    })
}

/// Puts a copy within the device into the stream.
pub(crate) fn enqueue_copy(
    stream: &Stream,
    to: u64,
    from: u64,
    size_bytes: u64,
) -> Result<(), DriverError> {
    // SAFETY: the caller checked both ranges.
    check("cuMemcpyDtoDAsync", unsafe {
        sys::cuMemcpyDtoDAsync_v2(to, from, size_bytes as usize, stream.raw())
    })
}

/// Puts a fill into the stream.
pub(crate) fn enqueue_fill(
    stream: &Stream,
    address: u64,
    size_bytes: u64,
    value: u8,
) -> Result<(), DriverError> {
    // SAFETY: the caller checked the range.
    check("cuMemsetD8Async", unsafe {
        sys::cuMemsetD8Async(address, value, size_bytes as usize, stream.raw())
    })
}

/// Page-locked host memory, zeroed, which the device can use too.
pub(crate) struct HostMemory {
    pointer: NonNull<u8>,
}

impl HostMemory {
    /// So many bytes, at least one.
    pub(crate) fn new(size_bytes: usize) -> Result<Self, DriverError> {
        let size_bytes = size_bytes.max(1);
        let mut pointer = std::ptr::null_mut();
        // SAFETY: writes one pointer.
        check("cuMemHostAlloc", unsafe {
            sys::cuMemHostAlloc(&mut pointer, size_bytes, DEVICE_MAP)
        })?;
        let pointer = NonNull::new(pointer.cast::<u8>())
            .ok_or_else(|| DriverError::new("cuMemHostAlloc", 2))?;
        // SAFETY: the allocation is as large, and nobody else knows of it yet.
        unsafe { pointer.write_bytes(0, size_bytes) };
        Ok(Self { pointer })
    }

    /// Where the host finds it.
    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }

    /// Where the device finds it.
    pub(crate) fn device_address(&self) -> Result<u64, DriverError> {
        let mut address = 0;
        // SAFETY: the memory is alive and mapped; writes one address.
        check("cuMemHostGetDevicePointer", unsafe {
            sys::cuMemHostGetDevicePointer_v2(&mut address, self.pointer.as_ptr().cast(), 0)
        })?;
        Ok(address)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` and freed once. After a fault the driver answers
        // with the fault, and frees it with the context.
        let _ = unsafe { sys::cuMemFreeHost(self.pointer.as_ptr().cast()) };
    }
}
