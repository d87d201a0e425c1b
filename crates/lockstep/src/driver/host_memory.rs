//! Page-locked memory of the host. `cust` has none that the device can use by an address of its own.

use super::sys;
use cuda_driver::{DriverError, check};
use std::ffi::c_uint;
use std::ptr::NonNull;

/// `CU_MEMHOSTALLOC_DEVICEMAP`: the device can use it by an address of its own.
const DEVICE_MAP: c_uint = 2;

/// Page-locked host memory, zeroed, which the device can use too.
pub(crate) struct HostMemory {
    pointer: NonNull<u8>,
}

impl HostMemory {
    /// This many bytes, at least one.
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
