//! A device's primary context, the one that all parts of a process share.

use super::sys;
use cuda_driver::{DriverError, check};
use std::ffi::c_int;

/// The primary context, retained, and current to the thread that made this.
pub(crate) struct Context {
    device: c_int,
}

impl Context {
    /// The context of a device, by its number.
    pub(crate) fn of(ordinal: u32) -> Result<Self, DriverError> {
        // A device's handle is its number.
        let device = ordinal as c_int;
        let mut context = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&mut context, device)
        })?;
        let retained = Self { device };
        // SAFETY: the context was just retained.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(context) })?;
        Ok(retained)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once. After a fault the driver answers with the fault.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// Waits for all work of the current context.
pub(crate) fn synchronize() -> Result<(), DriverError> {
    // SAFETY: takes nothing.
    check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
}
