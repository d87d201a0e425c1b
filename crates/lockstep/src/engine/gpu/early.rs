//! Launches that may start before the one before them has ended: an attribute that
//! `cust` cannot give (`cuda_std::grid` says what the kernels do with it).

use super::super::LaunchConfig;
use super::session::RunError;
use cuda_driver::DriverError;
use cust::function::Function;
use cust::stream::Stream;
use std::ffi::{c_int, c_uint, c_void};

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: *mut c_void,
    attributes: *const Attribute,
    n_attributes: c_uint,
}

/// `CUlaunchAttribute`: a number, padded, and a union of 64 bytes.
#[repr(C, align(8))]
struct Attribute {
    id: c_int,
    padding: c_int,
    value: [c_int; 16],
}

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`, part of the driver's ABI.
const PROGRAMMATIC_STREAM_SERIALIZATION: c_int = 6;

/// The first architecture that can do it.
pub(super) const FIRST_SM: u32 = 90;

// Declared here, because the bindings of `cust` are older than it.
unsafe extern "C" {
    fn cuLaunchKernelEx(
        config: *const Config,
        function: *mut c_void,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> c_int;
}

/// Puts the launch into the stream.
///
/// # Safety
///
/// As a launch: `params` are the addresses of what the kernel takes, and what they
/// point to is what it asks for. Every thread of the kernel waits for what came
/// before it (`griddepcontrol.wait`), or nothing it touches is anybody else's.
pub(super) unsafe fn launch(
    function: &Function<'_>,
    config: &LaunchConfig,
    params: &[*mut c_void],
    stream: &Stream,
) -> Result<(), RunError> {
    let mut value = [0; 16];
    value[0] = 1;
    let attribute = Attribute {
        id: PROGRAMMATIC_STREAM_SERIALIZATION,
        padding: 0,
        value,
    };
    let config = Config {
        grid: config.grid,
        block: config.block,
        shared_bytes: config.dynamic_shared_bytes,
        stream: stream.as_inner().cast(),
        attributes: &attribute,
        n_attributes: 1,
    };
    // SAFETY: the driver reads the configuration and the parameters before it
    // returns; the rest is the caller's promise.
    let code = unsafe {
        cuLaunchKernelEx(
            &config,
            function.to_raw().cast(),
            params.as_ptr().cast_mut(),
            std::ptr::null_mut(),
        )
    };
    if code == 0 {
        return Ok(());
    }
    Err(RunError::Engine(
        DriverError::new("cuLaunchKernelEx", code).into(),
    ))
}
