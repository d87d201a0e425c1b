//! A kernel's attributes, the limits that can be set for it, and its occupancy.

use std::ffi::{c_char, c_int, c_uint};

use super::{api, get, needed, put};
use crate::current;
use crate::driver;
use crate::error::{Error, Outcome, told_as};
use crate::layouts::{FunctionAttributes, LaunchConfig};
use crate::registry;

/// The driver's kernel, and the thread's device.
fn found(host: usize) -> Outcome<(usize, c_int)> {
    current::ready()?;
    Ok((registry::kernel(host)?, current::device()?))
}

/// The runtime's status for a kernel whose handle may be invalid.
pub(super) fn told(outcome: Outcome) -> Outcome {
    told_as(
        outcome,
        Error::INVALID_HANDLE,
        Error::INVALID_DEVICE_FUNCTION,
    )
}

/// `CU_FUNC_ATTRIBUTE_…` in the order of the runtime's structure.
const SIZES: [c_uint; 3] = [1, 2, 3];
const OTHERS: [c_uint; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];

fn attributes(host: usize) -> Outcome<FunctionAttributes> {
    let (kernel, device) = found(host)?;
    let ask = |number| {
        let mut value = 0;
        // SAFETY: the pointer is valid for the call.
        told(unsafe { driver::cuKernelGetAttribute(&mut value, number, kernel, device) })?;
        Ok(value)
    };
    let mut all = FunctionAttributes {
        shared_bytes: ask(SIZES[0])? as usize,
        const_bytes: ask(SIZES[1])? as usize,
        local_bytes: ask(SIZES[2])? as usize,
        ..FunctionAttributes::default()
    };
    for (to, number) in all.others.iter_mut().zip(OTHERS) {
        *to = ask(number)?;
    }
    Ok(all)
}

api! {
    fn cudaFuncGetAttributes(out: *mut FunctionAttributes, kernel: usize) {
        needed(out)?;
        put(out, attributes(kernel)?)
    }
    fn cudaFuncSetAttribute(kernel: usize, number: c_uint, value: c_int) {
        let (kernel, device) = found(kernel)?;
        told(driver::cuKernelSetAttribute(number, value, kernel, device))
    }
    fn cudaKernelSetAttributeForDevice(kernel: usize, number: c_uint, value: c_int, device: c_int) {
        current::check_device(device)?;
        driver::cuKernelSetAttribute(number, value, registry::kernel(kernel)?, device)
    }
    fn cudaFuncSetCacheConfig(kernel: usize, config: c_uint) {
        let (kernel, device) = found(kernel)?;
        told(driver::cuKernelSetCacheConfig(kernel, config, device))
    }
    fn cudaFuncSetSharedMemConfig(kernel: usize, config: c_uint) {
        let (kernel, _) = found(kernel)?;
        told(driver::cuFuncSetSharedMemConfig(kernel, config))
    }
    fn cudaFuncGetName(out: *mut *const c_char, kernel: usize) {
        needed(out)?;
        let (kernel, _) = found(kernel)?;
        told(driver::cuKernelGetName(out, kernel))
    }
    fn cudaFuncGetParamInfo(kernel: usize, i: usize, offset: *mut usize, size: *mut usize) {
        let (kernel, _) = found(kernel)?;
        told(driver::cuKernelGetParamInfo(kernel, i, offset, size))
    }
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(out: *mut c_int, kernel: usize, threads: c_int, shared_bytes: usize) {
        needed(out)?;
        let (kernel, _) = found(kernel)?;
        told(driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, kernel, threads, shared_bytes, 0))
    }
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out: *mut c_int, kernel: usize, threads: c_int, shared_bytes: usize, flags: c_uint) {
        needed(out)?;
        let (kernel, _) = found(kernel)?;
        told(driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, kernel, threads, shared_bytes, flags))
    }
    fn cudaOccupancyAvailableDynamicSMemPerBlock(out: *mut usize, kernel: usize, n_blocks: c_int, threads: c_int) {
        needed(out)?;
        let (kernel, _) = found(kernel)?;
        told(driver::cuOccupancyAvailableDynamicSMemPerBlock(out, kernel, n_blocks, threads))
    }
    fn cudaOccupancyMaxPotentialClusterSize(out: *mut c_int, kernel: usize, config: *const LaunchConfig) {
        needed(out)?;
        let (kernel, _) = found(kernel)?;
        told(driver::cuOccupancyMaxPotentialClusterSize(out, kernel, &get(config)?.for_driver()?))
    }
    fn cudaOccupancyMaxActiveClusters(out: *mut c_int, kernel: usize, config: *const LaunchConfig) {
        needed(out)?;
        let (kernel, _) = found(kernel)?;
        told(driver::cuOccupancyMaxActiveClusters(out, kernel, &get(config)?.for_driver()?))
    }
}
