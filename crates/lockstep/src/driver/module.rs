//! A loaded module and its kernels.

use super::sys::{self, Handle};
use cuda_driver::{DriverError, check};
use std::ffi::{CStr, CString, c_int, c_uint, c_void};

// Numbers of `CUjit_option` and `CUfunction_attribute`, part of the driver's ABI.
const JIT_INFO_LOG_BUFFER: c_int = 3;
const JIT_INFO_LOG_BUFFER_SIZE_BYTES: c_int = 4;
const JIT_ERROR_LOG_BUFFER: c_int = 5;
const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_int = 14;

/// Room for each of the compiler's logs.
const LOG_BYTES: usize = 16 * 1024;

/// What the driver tells of a kernel, by the numbers of `CUfunction_attribute`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attribute {
    /// Threads that a block may have at most.
    MaxThreadsPerBlock = 0,
    /// Static shared memory, in bytes.
    SharedSizeBytes = 1,
    /// Registers per thread.
    Registers = 4,
}

/// A module in the current context.
pub(crate) struct Module {
    handle: Handle,
}

/// A kernel of a module, which must outlive it.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    handle: Handle,
}

impl Module {
    /// Compiles and loads PTX text. The error is in words, with the compiler's own logs.
    pub(crate) fn of_ptx(text: &str) -> Result<Self, String> {
        let image = CString::new(text)
            .map_err(|_| String::from("it contains a null byte, so it is no PTX text"))?;
        let mut logs = [vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]];
        let options = [
            JIT_INFO_LOG_BUFFER,
            JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            JIT_ERROR_LOG_BUFFER,
            JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // Sizes are passed as pointers; the driver writes back what it used.
        let values: [Handle; 4] = [
            logs[0].as_mut_ptr().cast(),
            LOG_BYTES as Handle,
            logs[1].as_mut_ptr().cast(),
            LOG_BYTES as Handle,
        ];
        // SAFETY: the image ends in a null byte; the options name two buffers and their
        // sizes.
        unsafe { Self::load(image.as_ptr().cast(), &options, &values) }.map_err(|error| {
            let [information, errors] = logs;
            let mut text = error.to_string();
            for (what, log) in [("error log", errors), ("information log", information)] {
                let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
                let log = log.to_string_lossy();
                if !log.trim().is_empty() {
                    text.push_str(&format!("\nthe driver's {what}:\n{}", log.trim()));
                }
            }
            text
        })
    }

    /// Loads machine code.
    pub(crate) fn of_cubin(image: &[u8]) -> Result<Self, DriverError> {
        // SAFETY: a cubin says itself how long it is.
        unsafe { Self::load(image.as_ptr().cast(), &[], &[]) }
    }

    /// # Safety
    ///
    /// `image` is text that ends in a null byte or a cubin, `options` and `values` belong
    /// together.
    unsafe fn load(
        image: *const c_void,
        options: &[c_int],
        values: &[Handle],
    ) -> Result<Self, DriverError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: by this function's contract; writes one handle.
        check("cuModuleLoadDataEx", unsafe {
            sys::cuModuleLoadDataEx(
                &mut handle,
                image,
                options.len() as c_uint,
                options.as_ptr(),
                values.as_ptr(),
            )
        })?;
        Ok(Self { handle })
    }

    /// The kernel of a name.
    pub(crate) fn function(&self, name: &str) -> Result<Function, DriverError> {
        let name = CString::new(name).unwrap_or_default();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the module is alive, the name ends in a null byte; writes one handle.
        check("cuModuleGetFunction", unsafe {
            sys::cuModuleGetFunction(&mut handle, self.handle, name.as_ptr())
        })?;
        Ok(Function { handle })
    }

    /// Address and size of the variable of a name, if there is one.
    pub(crate) fn variable(&self, name: &CStr) -> Option<(u64, usize)> {
        let (mut address, mut size_bytes) = (0, 0);
        // SAFETY: the module is alive; writes one address and one size.
        let code = unsafe {
            sys::cuModuleGetGlobal_v2(&mut address, &mut size_bytes, self.handle, name.as_ptr())
        };
        (code == 0).then_some((address, size_bytes))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: it is ours. After a fault the driver answers with the fault.
        let _ = unsafe { sys::cuModuleUnload(self.handle) };
    }
}

impl Function {
    pub(super) fn raw(&self) -> *mut c_void {
        self.handle
    }

    /// What the driver tells of it.
    pub(crate) fn attribute(&self, which: Attribute) -> Result<u32, DriverError> {
        let mut value: c_int = 0;
        // SAFETY: the module is alive; writes one int.
        check("cuFuncGetAttribute", unsafe {
            sys::cuFuncGetAttribute(&mut value, which as c_int, self.handle)
        })?;
        Ok(value.unsigned_abs())
    }

    /// Lets it be launched with `bytes` of dynamic shared memory.
    pub(crate) fn allow_dynamic_shared(&self, bytes: u32) -> Result<(), DriverError> {
        self.set(MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as c_int)
    }

    /// Lets it be launched with clusters of more blocks than every GPU has room for.
    pub(crate) fn allow_large_clusters(&self) -> Result<(), DriverError> {
        self.set(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
    }

    fn set(&self, attribute: c_int, value: c_int) -> Result<(), DriverError> {
        // SAFETY: the module is alive.
        check("cuFuncSetAttribute", unsafe {
            sys::cuFuncSetAttribute(self.handle, attribute, value)
        })
    }
}
