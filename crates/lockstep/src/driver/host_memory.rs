//! Page-locked host memory with a device address, which `cust` does not offer.

use super::sys;
use cuda_driver::{DriverError, check};
use std::ffi::c_uint;
use std::ptr::NonNull;

/// `CU_MEMHOSTALLOC_DEVICEMAP`: the memory gets a device address.
const DEVICE_MAP: c_uint = 2;

/// Page-locked host memory, zeroed, that the device can access.
pub(crate) struct HostMemory {
    pointer: NonNull<u8>,
}

impl HostMemory {
    /// Allocates this many bytes, at least one.
    pub(crate) fn new(size_bytes: usize) -> Result<Self, DriverError> {
        let size_bytes = size_bytes.max(1);
        let mut pointer = std::ptr::null_mut();
        // SAFETY: writes one pointer.
        check("cuMemHostAlloc", unsafe {
            sys::cuMemHostAlloc(&mut pointer, size_bytes, DEVICE_MAP)
        })?;
        let pointer = NonNull::new(pointer.cast::<u8>())
            .ok_or_else(|| DriverError::new("cuMemHostAlloc", 2))?;
        // SAFETY: the allocation is that large, and nothing else refers to it yet.
        unsafe { pointer.write_bytes(0, size_bytes) };
        Ok(Self { pointer })
    }

    /// Its address for the host.
    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }

    /// Its address for the device.
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
        // SAFETY: allocated by `new` and freed once. After a fault the driver returns the fault,
        // and frees the memory with the context.
        let _ = unsafe { sys::cuMemFreeHost(self.pointer.as_ptr().cast()) };
    }
}
