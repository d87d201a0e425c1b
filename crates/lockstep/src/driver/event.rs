//! An event: a place in a stream that is passed at some time.

use super::sys::{self, Handle};
use cuda_driver::{DriverError, check};
use std::ffi::{c_int, c_uint, c_void};

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: c_uint = 2;

/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: c_int = 600;

/// An event of the current context.
pub(crate) struct Event {
    handle: Handle,
}

impl Event {
    /// One that notes the time when it is passed.
    pub(crate) fn timed() -> Result<Self, DriverError> {
        Self::with_flags(0)
    }

    /// One that only tells whether it was passed.
    pub(crate) fn untimed() -> Result<Self, DriverError> {
        Self::with_flags(DISABLE_TIMING)
    }

    fn with_flags(flags: c_uint) -> Result<Self, DriverError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cuEventCreate", unsafe {
            sys::cuEventCreate(&mut handle, flags)
        })?;
        Ok(Self { handle })
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.handle
    }

    /// Whether it was passed.
    pub(crate) fn is_passed(&self) -> Result<bool, DriverError> {
        // SAFETY: the event is alive.
        match unsafe { sys::cuEventQuery(self.handle) } {
            NOT_READY => Ok(false),
            code => check("cuEventQuery", code).map(|()| true),
        }
    }

    /// Milliseconds from `start` to this one, both timed and passed.
    pub(crate) fn ms_since(&self, start: &Self) -> Result<f32, DriverError> {
        let mut ms = 0.0;
        // SAFETY: both are alive; writes one number.
        check("cuEventElapsedTime", unsafe {
            sys::cuEventElapsedTime(&mut ms, start.handle, self.handle)
        })?;
        Ok(ms)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it is ours; the driver keeps what still waits for it.
        let _ = unsafe { sys::cuEventDestroy_v2(self.handle) };
    }
}
