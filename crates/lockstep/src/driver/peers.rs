//! Access of one device's kernels to the memory of another.

use super::objects::Context;
use super::sys;
use cuda_driver::{DriverError, check};
use std::ffi::c_int;

/// Whether kernels of a device can be given access to the memory of another one.
pub(crate) fn can_access(device: u32, peer: u32) -> Result<bool, DriverError> {
    let mut can = 0;
    // SAFETY: writes one number.
    check("cuDeviceCanAccessPeer", unsafe {
        sys::cuDeviceCanAccessPeer(&mut can, device as c_int, peer as c_int)
    })?;
    Ok(can != 0)
}

/// Gives it to kernels in the current context.
pub(crate) fn enable(peer: &Context) -> Result<(), DriverError> {
    // SAFETY: both contexts are alive.
    check("cuCtxEnablePeerAccess", unsafe {
        sys::cuCtxEnablePeerAccess(peer.raw(), 0)
    })
}

/// Takes it away from kernels in the current context.
pub(crate) fn disable(peer: &Context) -> Result<(), DriverError> {
    // SAFETY: both contexts are alive.
    check("cuCtxDisablePeerAccess", unsafe {
        sys::cuCtxDisablePeerAccess(peer.raw())
    })
}
