//! Memory for a panic's record that outlives the CUDA context: page-locked on
//! the host, and mapped into the device's addresses.

use super::super::EngineError;
use super::super::panic::{PanicRecord, SINK_SYMBOL};
use super::driver_error;
use cuda_driver::DriverError;
use cust::memory::CopyDestination;
use cust::module::Module;
use std::ffi::{CString, c_int, c_uint, c_void};

unsafe extern "C" {
    fn cuMemHostAlloc(pointer: *mut *mut c_void, size_bytes: usize, flags: c_uint) -> c_int;
    fn cuMemHostGetDevicePointer_v2(
        address: *mut u64,
        pointer: *mut c_void,
        flags: c_uint,
    ) -> c_int;
    fn cuMemFreeHost(pointer: *mut c_void) -> c_int;
}

/// `CU_MEMHOSTALLOC_DEVICEMAP`, part of the driver's ABI.
const DEVICE_MAP: c_uint = 2;

/// One record, for all modules of a context.
pub(super) struct PanicMemory {
    on_host: *mut [u8; PanicRecord::SIZE_BYTES],
    on_device: u64,
}

impl PanicMemory {
    /// An empty record, in the current context.
    pub(super) fn new() -> Result<Self, EngineError> {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: writes one pointer.
        let code = unsafe { cuMemHostAlloc(&mut pointer, PanicRecord::SIZE_BYTES, DEVICE_MAP) };
        if code != 0 {
            return Err(DriverError::new("cuMemHostAlloc", code).into());
        }
        let mut memory = Self {
            on_host: pointer.cast(),
            on_device: 0,
        };
        // SAFETY: the allocation is as large as the record, and no kernel knows
        // of it yet.
        unsafe { memory.on_host.write([0; PanicRecord::SIZE_BYTES]) };
        // SAFETY: writes one address.
        let code = unsafe { cuMemHostGetDevicePointer_v2(&mut memory.on_device, pointer, 0) };
        if code != 0 {
            return Err(DriverError::new("cuMemHostGetDevicePointer", code).into());
        }
        Ok(memory)
    }

    /// Tells a module where to leave its record, if it has a place for that.
    pub(super) fn listen_to(&self, module: &Module) -> Result<(), EngineError> {
        let Ok(symbol) = CString::new(SINK_SYMBOL) else {
            return Ok(());
        };
        match module.get_global::<u64>(&symbol) {
            Ok(mut sink) => sink
                .copy_from(&self.on_device)
                .map_err(|code| driver_error("cuMemcpyHtoD", code)),
            // A module of kernels that cannot panic has no such variable.
            Err(_) => Ok(()),
        }
    }

    /// What a thread that panicked has written.
    pub(super) fn record(&self) -> Option<PanicRecord> {
        // SAFETY: the memory lives as long as `self`; volatile, because the
        // device wrote it.
        let bytes = unsafe { self.on_host.read_volatile() };
        PanicRecord::from_bytes(&bytes)
    }
}

impl Drop for PanicMemory {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` and freed once. After a fault the driver
        // answers with the fault, and frees it with the context.
        let _ = unsafe { cuMemFreeHost(self.on_host.cast()) };
    }
}
