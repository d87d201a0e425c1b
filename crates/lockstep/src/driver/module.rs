//! Module functions that `objects` lacks: the compiler's own log, and opt-ins of kernels.

use super::objects::{Function, Module};
use super::sys::{self, Handle};
use cuda_driver::{DriverError, check};
use std::ffi::{CStr, CString, c_int, c_uint};

// Values of `CUjit_option` and `CUfunction_attribute`, part of the driver's ABI.
const JIT_INFO_LOG_BUFFER: c_int = 3;
const JIT_INFO_LOG_BUFFER_SIZE_BYTES: c_int = 4;
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_int = 14;

/// Size of each of the compiler's logs.
const LOG_BYTES: usize = 16 * 1024;

impl Module {
    /// Compiles and loads PTX text. The error is text that includes the compiler's logs.
    pub(crate) fn of_ptx(text: &str) -> Result<Self, String> {
        let text = CString::new(text)
            .map_err(|_| String::from("it contains a null byte, so it is not PTX text"))?;
        Self::of_text(&text).map_err(|error| words(error, &text))
    }
}

/// Why the driver refused a text, with its compiler's logs. The text is loaded once more, with
/// buffers for them.
fn words(error: DriverError, text: &CStr) -> String {
    let mut logs = [vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]];
    let options = [
        JIT_INFO_LOG_BUFFER,
        JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        JIT_ERROR_LOG_BUFFER,
        JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // Sizes are passed as pointers; the driver writes back how much it used.
    let values: [Handle; 4] = [
        logs[0].as_mut_ptr().cast(),
        LOG_BYTES as Handle,
        logs[1].as_mut_ptr().cast(),
        LOG_BYTES as Handle,
    ];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends in a null byte; the options name two buffers and their sizes; writes
    // one handle.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as c_uint,
            options.as_ptr(),
            values.as_ptr(),
        )
    };
    if code == 0 {
        // SAFETY: it was just loaded, and nothing else refers to it.
        let _ = unsafe { sys::cuModuleUnload(module) };
    }
    // `cust` does not pass on every error code.
    let error = check("cuModuleLoadDataEx", code).err().unwrap_or(error);
    let [information, errors] = logs;
    let mut said = error.to_string();
    for (what, log) in [("error log", errors), ("information log", information)] {
        let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
        let log = log.to_string_lossy();
        if !log.trim().is_empty() {
            said.push_str(&format!("\nthe driver's {what}:\n{}", log.trim()));
        }
    }
    said
}

impl Function {
    /// Allows launches with `bytes` of dynamic shared memory.
    pub(crate) fn allow_dynamic_shared(&self, bytes: u32) -> Result<(), DriverError> {
        self.set(MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as c_int)
    }

    /// Allows launches with clusters larger than every GPU supports.
    pub(crate) fn allow_large_clusters(&self) -> Result<(), DriverError> {
        self.set(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
    }

    fn set(&self, attribute: c_int, value: c_int) -> Result<(), DriverError> {
        // SAFETY: the module is alive.
        check("cuFuncSetAttribute", unsafe {
            sys::cuFuncSetAttribute(self.raw(), attribute, value)
        })
    }
}
