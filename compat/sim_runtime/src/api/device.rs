//! Devices: their number, their properties, and which one a thread uses.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{api, needed, put};
use crate::current;
use crate::driver;
use crate::error::{self, Error, Outcome};
use crate::properties::{Layout, properties};

/// Writes a device's properties.
pub(super) unsafe fn put_properties(out: *mut u8, device: c_int, layout: Layout) -> Outcome {
    needed(out)?;
    current::check_device(device)?;
    let bytes = properties(layout, device)?;
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()) };
    Ok(())
}

/// The status for a limit that the driver does not know.
fn told(outcome: Outcome) -> Outcome {
    const UNSUPPORTED_LIMIT: Error = Error(215);
    error::told_as(outcome, Error::INVALID_VALUE, UNSUPPORTED_LIMIT)
}

api! {
    fn cudaGetDeviceCount(out: *mut c_int) {
        needed(out)?;
        put(out, 0)?;
        put(out, current::n_devices()?)
    }
    fn cudaGetDevice(out: *mut c_int) {
        needed(out)?;
        current::n_devices()?;
        put(out, current::device()?)
    }
    fn cudaSetDevice(device: c_int) {
        current::set_device(device)
    }
    fn cudaInitDevice(device: c_int, flags: c_uint, which: c_uint) {
        // `cudaInitDeviceFlagsAreValid`
        if which & 1 != 0 {
            current::check_device(device)?;
            driver::cuDevicePrimaryCtxSetFlags_v2(device, flags)?;
        }
        current::primary(device).map(drop)
    }
    fn cudaSetValidDevices(devices: *const c_int, n: c_int) {
        let n = usize::try_from(n).map_err(|_| Error::INVALID_VALUE)?;
        if n > 0 {
            needed(devices)?;
        }
        (0..n).try_for_each(|i| current::check_device(devices.add(i).read()))
    }
    fn cudaChooseDevice(out: *mut c_int, wanted: *const c_void) {
        needed(wanted)?;
        current::check_device(0)?;
        // All devices are alike.
        put(out, 0)
    }
    fn cudaDeviceGetAttribute(out: *mut c_int, number: c_uint, device: c_int) = cuDeviceGetAttribute needs out on device;
    fn cudaDeviceGetPCIBusId(out: *mut c_char, n_bytes: c_int, device: c_int) = cuDeviceGetPCIBusId needs out on device;
    fn cudaDeviceGetByPCIBusId(out: *mut c_int, id: *const c_char) {
        needed(out)?;
        needed(id)?;
        current::initialize()?;
        driver::cuDeviceGetByPCIBusId(out, id)
    }
    fn cudaSetDeviceFlags(flags: c_uint) {
        let device = current::device()?;
        current::check_device(device)?;
        driver::cuDevicePrimaryCtxSetFlags_v2(device, flags)
    }
    fn cudaGetDeviceFlags(out: *mut c_uint) {
        needed(out)?;
        let device = current::device()?;
        current::check_device(device)?;
        let mut active = 0;
        driver::cuDevicePrimaryCtxGetState(device, out, &mut active)
    }
    fn cudaDeviceSynchronize() = cuCtxSynchronize;
    fn cudaDeviceReset() {
        current::reset()?;
        error::forget();
        Ok(())
    }
    fn cudaDeviceGetLimit(out: *mut usize, limit: c_uint) {
        needed(out)?;
        current::ready()?;
        told(driver::cuCtxGetLimit(out, limit))
    }
    fn cudaDeviceSetLimit(limit: c_uint, value: usize) {
        current::ready()?;
        told(driver::cuCtxSetLimit(limit, value))
    }
    fn cudaDeviceGetCacheConfig(out: *mut c_uint) = cuCtxGetCacheConfig;
    fn cudaDeviceSetCacheConfig(config: c_uint) = cuCtxSetCacheConfig;
    fn cudaDeviceGetSharedMemConfig(out: *mut c_uint) = cuCtxGetSharedMemConfig;
    fn cudaDeviceSetSharedMemConfig(config: c_uint) = cuCtxSetSharedMemConfig;
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) = cuCtxGetStreamPriorityRange;
    fn cudaCtxResetPersistingL2Cache() = cuCtxResetPersistingL2Cache;
    fn cudaDeviceFlushGPUDirectRDMAWrites(target: c_uint, scope: c_uint) = cuFlushGPUDirectRDMAWrites;
    fn cudaDeviceGetGraphMemAttribute(device: c_int, number: c_uint, out: *mut c_void) = cuDeviceGetGraphMemAttribute on device;
    fn cudaDeviceSetGraphMemAttribute(device: c_int, number: c_uint, value: *mut c_void) = cuDeviceSetGraphMemAttribute on device;
    fn cudaDeviceGraphMemTrim(device: c_int) = cuDeviceGraphMemTrim on device;

    fn cudaDeviceCanAccessPeer(out: *mut c_int, device: c_int, peer: c_int) = cuDeviceCanAccessPeer needs out on device, peer;
    fn cudaDeviceGetP2PAttribute(out: *mut c_int, number: c_uint, a: c_int, b: c_int) = cuDeviceGetP2PAttribute needs out on a, b;
    fn cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) {
        let own = current::ready()?;
        let peer = current::primary(peer)?;
        if own == peer {
            return Err(Error::INVALID_DEVICE);
        }
        driver::cuCtxEnablePeerAccess(peer, flags)
    }
    fn cudaDeviceDisablePeerAccess(peer: c_int) {
        current::ready()?;
        driver::cuCtxDisablePeerAccess(current::primary(peer)?)
    }
}
