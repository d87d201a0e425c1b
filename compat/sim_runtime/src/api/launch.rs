//! Launches.

use std::ffi::c_void;

use super::{api, get};
use crate::current;
use crate::driver;
use crate::error::{Error, Outcome};
use crate::layouts::{Dim3, LaunchConfig, shared_bytes};
use crate::registry::{self, Configuration};

/// The driver's kernel. The driver decides whether it may be launched as requested.
fn prepared(kernel: usize) -> Outcome<usize> {
    current::ready()?;
    registry::kernel(kernel)
}

/// The runtime's status for a handle that is not a kernel.
fn told(outcome: Outcome) -> Outcome {
    outcome.map_err(|error| match error {
        Error::INVALID_HANDLE => Error::INVALID_DEVICE_FUNCTION,
        error => error,
    })
}

/// Launches a kernel.
pub unsafe fn launch(
    kernel: usize,
    configuration: Configuration,
    params: *const *mut c_void,
) -> Outcome {
    let Configuration {
        grid,
        block,
        shared_bytes: n_bytes,
        stream,
    } = configuration;
    let kernel = prepared(kernel)?;
    let n_bytes = shared_bytes(n_bytes)?;
    told(unsafe {
        driver::cuLaunchKernel(
            kernel,
            grid.x,
            grid.y,
            grid.z,
            block.x,
            block.y,
            block.z,
            n_bytes,
            stream,
            params,
            std::ptr::null(),
        )
    })
}

unsafe fn launch_configured(
    config: LaunchConfig,
    kernel: usize,
    params: *const *mut c_void,
) -> Outcome {
    let kernel = prepared(kernel)?;
    let config = config.for_driver()?;
    told(unsafe { driver::cuLaunchKernelEx(&config, kernel, params, std::ptr::null()) })
}

api! {
    fn cudaLaunchKernel, cudaLaunchKernel_ptsz(kernel: usize, grid: Dim3, block: Dim3, params: *const *mut c_void, shared_bytes: usize, stream: usize) in stream {
        launch(kernel, Configuration { grid, block, shared_bytes, stream }, params)
    }
    fn cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz(kernel: usize, grid: Dim3, block: Dim3, params: *const *mut c_void, n_bytes: usize, stream: usize) in stream {
        let kernel = prepared(kernel)?;
        let n_bytes = shared_bytes(n_bytes)?;
        told(driver::cuLaunchCooperativeKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, n_bytes, stream, params))
    }
    fn cudaLaunchKernelExC(config: *const LaunchConfig, kernel: usize, params: *const *mut c_void) {
        launch_configured(get(config)?, kernel, params)
    }
    fn cudaLaunchKernelExC_ptsz(config: *const LaunchConfig, kernel: usize, params: *const *mut c_void) {
        let mut config = get(config)?;
        if config.stream == 0 {
            config.stream = super::PER_THREAD;
        }
        launch_configured(config, kernel, params)
    }
    fn cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz(stream: usize, function: driver::HostFunction, data: *mut c_void) in stream = cuLaunchHostFunc;
}
