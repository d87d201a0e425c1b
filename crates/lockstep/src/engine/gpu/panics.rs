//! Memory for a panic's record that outlives the CUDA context: page-locked on
//! the host, and mapped into the device's addresses.

use super::super::EngineError;
use super::super::panic::{PanicRecord, SINK_SYMBOL};
use crate::driver::Module;
use crate::driver::host_memory::HostMemory;
use std::ffi::CString;

/// One record, for all modules of a context.
pub(super) struct PanicMemory {
    on_host: HostMemory,
    on_device: u64,
}

impl PanicMemory {
    /// An empty record, in the current context.
    pub(super) fn new() -> Result<Self, EngineError> {
        let on_host = HostMemory::new(PanicRecord::SIZE_BYTES)?;
        let on_device = on_host.device_address()?;
        Ok(Self { on_host, on_device })
    }

    /// Gives a module the address of the record, if it has a variable for that.
    pub(super) fn listen_to(&self, module: &Module) -> Result<(), EngineError> {
        let Ok(symbol) = CString::new(SINK_SYMBOL) else {
            return Ok(());
        };
        // A module of kernels that cannot panic has no such variable.
        Ok(module.set_variable(&symbol, self.on_device)?)
    }

    /// The record of a thread that panicked.
    pub(super) fn record(&self) -> Option<PanicRecord> {
        let record = self
            .on_host
            .pointer()
            .cast::<[u8; PanicRecord::SIZE_BYTES]>();
        // SAFETY: the memory is that large and lives as long as `self`; volatile, because the
        // device writes it.
        let bytes = unsafe { record.read_volatile() };
        PanicRecord::from_bytes(&bytes)
    }
}
