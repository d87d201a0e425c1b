//! What `cust` has no call for: the log of the driver's PTX compiler, and
//! kernels with more than 48 KB of shared memory.

use super::super::{EngineError, PtxModule};
use super::session::RunError;
use cuda_driver::DriverError;
use cust::function::Function;
use cust::module::Module;
use std::ffi::{CString, c_int, c_uint, c_void};

// Declared here, and not taken from `cust::sys`, because there the results are
// enums of the codes of CUDA 11.2, and newer drivers return newer codes.
unsafe extern "C" {
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        n_options: c_uint,
        options: *const c_int,
        values: *const *mut c_void,
    ) -> c_int;
    fn cuModuleUnload(module: *mut c_void) -> c_int;
    fn cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int) -> c_int;
}

// Numbers of `CUjit_option` and `CUfunction_attribute`, part of the driver's ABI.
const JIT_INFO_LOG_BUFFER: c_int = 3;
const JIT_INFO_LOG_BUFFER_SIZE_BYTES: c_int = 4;
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;

const LOG_BYTES: usize = 16 * 1024;

/// Compiles and loads PTX; an error carries the compiler's own log.
pub(super) fn load(source: &PtxModule) -> Result<Module, EngineError> {
    let failed = |log| EngineError::Module {
        module: source.name.clone(),
        log,
    };
    let text = source.text()?;
    if text.contains('\0') {
        return Err(failed(
            "it contains a null byte, so it is no PTX text".into(),
        ));
    }
    let text = crate::ptx::without_line_tables(text);
    Module::from_ptx(&text, &[]).map_err(|_| failed(log_of_failure(&text)))
}

/// Compiles once more, listening.
fn log_of_failure(ptx: &str) -> String {
    let Ok(image) = CString::new(ptx) else {
        return "it contains a null byte".into();
    };
    let mut info = vec![0u8; LOG_BYTES];
    let mut error = vec![0u8; LOG_BYTES];
    let options = [
        JIT_INFO_LOG_BUFFER,
        JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        JIT_ERROR_LOG_BUFFER,
        JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // Sizes are passed as pointers; the driver writes back what it used.
    let values: [*mut c_void; 4] = [
        info.as_mut_ptr().cast(),
        LOG_BYTES as *mut c_void,
        error.as_mut_ptr().cast(),
        LOG_BYTES as *mut c_void,
    ];
    let mut module = std::ptr::null_mut();
    // SAFETY: the image ends in a null byte; the options name two buffers and
    // their sizes.
    let code = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as c_uint,
            options.as_ptr(),
            values.as_ptr(),
        )
    };
    if code == 0 {
        // SAFETY: just loaded, and used by nobody.
        unsafe { cuModuleUnload(module) };
    }
    let mut text = DriverError::new("cuModuleLoadDataEx", code).to_string();
    for (what, log) in [("error log", error), ("information log", info)] {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        let log = String::from_utf8_lossy(&log[..end]);
        if !log.trim().is_empty() {
            text.push_str(&format!("\nthe driver's {what}:\n{}", log.trim()));
        }
    }
    text
}

/// Lets the function be launched with `bytes` of dynamic shared memory.
pub(super) fn allow_dynamic_shared(function: &Function<'_>, bytes: u32) -> Result<(), RunError> {
    // SAFETY: the handle is of a loaded module.
    let code = unsafe {
        cuFuncSetAttribute(
            function.to_raw().cast(),
            MAX_DYNAMIC_SHARED_SIZE_BYTES,
            bytes as c_int,
        )
    };
    if code == 0 {
        return Ok(());
    }
    Err(RunError::Engine(
        DriverError::new("cuFuncSetAttribute", code).into(),
    ))
}
