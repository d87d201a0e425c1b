//! Launches.

use std::ffi::c_void;

use super::function::told;
use super::{api, get, needed};
use crate::current;
use crate::driver;
use crate::error::{Error, Outcome};
use crate::layouts::{Dim3, DriverLaunchParams, LaunchConfig, LaunchParams, shared_bytes};
use crate::registry::{self, Configuration};

/// The driver's kernel. The driver decides whether it may be launched as requested.
///
/// A stream of another context is an error, which the driver does not give for a library's kernels:
/// it runs them in the stream's context.
fn prepared(kernel: usize, stream: usize) -> Outcome<usize> {
    let own = current::ready()?;
    let mut context = own;
    if stream > super::PER_THREAD {
        // SAFETY: the pointer is valid for the call.
        unsafe { driver::cuStreamGetCtx(stream, &mut context)? };
    }
    match context == own {
        true => registry::kernel(kernel),
        false => Err(Error::INVALID_HANDLE),
    }
}

/// Launches a kernel on each of several devices, all at the same time.
pub(super) unsafe fn launch_on_all(list: *const LaunchParams, n: u32, flags: u32) -> Outcome {
    current::ready()?;
    needed(list)?;
    let of_driver = |i| unsafe { list.add(i).read() }.for_driver(registry::kernel);
    let list = (0..n as usize).map(of_driver);
    let list = list.collect::<Outcome<Vec<DriverLaunchParams>>>()?;
    told(unsafe { driver::cuLaunchCooperativeKernelMultiDevice(list.as_ptr(), n, flags) })
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
    let kernel = prepared(kernel, stream)?;
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
    let kernel = prepared(kernel, config.stream)?;
    let config = config.for_driver()?;
    told(unsafe { driver::cuLaunchKernelEx(&config, kernel, params, std::ptr::null()) })
}

api! {
    fn cudaLaunchKernel, cudaLaunchKernel_ptsz(kernel: usize, grid: Dim3, block: Dim3, params: *const *mut c_void, shared_bytes: usize, stream: usize) in stream {
        launch(kernel, Configuration { grid, block, shared_bytes, stream }, params)
    }
    fn cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz(kernel: usize, grid: Dim3, block: Dim3, params: *const *mut c_void, n_bytes: usize, stream: usize) in stream {
        let kernel = prepared(kernel, stream)?;
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
