//! Launches.

use std::ffi::c_void;

use super::{api, get};
use crate::current;
use crate::driver;
use crate::error::{Error, Outcome};
use crate::layouts::{Dim3, LaunchConfig, shared_bytes};
use crate::registry::{self, Configuration};

/// Most blocks and most threads, by dimension, and most threads of a block: of all devices.
const MOST_BLOCKS: [u32; 3] = [i32::MAX as u32, u16::MAX as u32, u16::MAX as u32];
const MOST_THREADS: [u32; 3] = [1024, 1024, 64];
const MOST_THREADS_OF_BLOCK: u64 = 1024;

/// An error unless a device can have such a grid.
pub fn check_configuration(grid: Dim3, block: Dim3) -> Outcome {
    let (grid, block) = ([grid.x, grid.y, grid.z], [block.x, block.y, block.z]);
    let within = |sizes: [u32; 3], most: [u32; 3]| {
        let mut both = sizes.into_iter().zip(most);
        both.all(|(size, most)| (1..=most).contains(&size))
    };
    let threads: u64 = block.into_iter().map(u64::from).product();
    if !within(grid, MOST_BLOCKS) || !within(block, MOST_THREADS) || threads > MOST_THREADS_OF_BLOCK
    {
        return Err(Error::INVALID_CONFIGURATION);
    }
    Ok(())
}

/// The driver's kernel, and that it may be launched so.
fn prepared(kernel: usize, grid: Dim3, block: Dim3) -> Outcome<usize> {
    current::ready()?;
    let kernel = registry::kernel(kernel)?;
    check_configuration(grid, block)?;
    Ok(kernel)
}

/// What the runtime says of a handle that is no kernel.
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
    let kernel = prepared(kernel, grid, block)?;
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
    let kernel = prepared(kernel, config.grid, config.block)?;
    let config = config.for_driver()?;
    told(unsafe { driver::cuLaunchKernelEx(&config, kernel, params, std::ptr::null()) })
}

api! {
    fn cudaLaunchKernel, cudaLaunchKernel_ptsz(kernel: usize, grid: Dim3, block: Dim3, params: *const *mut c_void, shared_bytes: usize, stream: usize) in stream {
        launch(kernel, Configuration { grid, block, shared_bytes, stream }, params)
    }
    fn cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz(kernel: usize, grid: Dim3, block: Dim3, params: *const *mut c_void, n_bytes: usize, stream: usize) in stream {
        let kernel = prepared(kernel, grid, block)?;
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
    fn cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz(stream: usize, function: driver::HostFunction, data: *mut c_void) in stream {
        current::ready()?;
        driver::cuLaunchHostFunc(stream, function, data)
    }
}
