//! A client's options for compiling PTX, and the buffers for its logs.
//!
//! Left out: options that change the code that a GPU would run (optimisation levels, rounding,
//! debugging), which do not matter here, and symbols with addresses.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every pointer is the client's"
)]

use std::ffi::{c_char, c_uint, c_void};

use ptx_sim::RegisterLimits;

use crate::client::{list, put_if, put_text};
use crate::status::{Outcome, Status};

/// `CU_JIT_…` options that have an effect.
const MAX_REGISTERS: u32 = 0;
const THREADS_PER_BLOCK: u32 = 1;
const WALL_TIME: u32 = 2;
const INFO_LOG: u32 = 3;
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;
const MIN_BLOCKS: u32 = 31;
const MAX_THREADS: u32 = 32;
const OVERRIDE_DIRECTIVES: u32 = 33;

/// A client's options for the compilation.
pub struct Options {
    /// Where it wants to read what went wrong.
    pub logs: Logs,
    /// The register limits.
    pub limits: RegisterLimits,
}

/// Where a client wants to read what went wrong.
#[derive(Clone, Copy)]
pub struct Logs {
    error: *mut c_char,
    error_bytes: usize,
    /// Where the number of bytes goes: the option's own value.
    error_value: *mut *mut c_void,
    info_value: *mut *mut c_void,
}

// SAFETY: only the thread that makes the call writes to the client's buffers.
unsafe impl Send for Logs {}

impl Options {
    /// Options from a list.
    ///
    /// # Safety
    /// The two lists have the same length.
    pub unsafe fn of(n: c_uint, options: *const c_uint, values: *mut *mut c_void) -> Outcome<Self> {
        let mut logs = Logs {
            error: std::ptr::null_mut(),
            error_bytes: 0,
            error_value: std::ptr::null_mut(),
            info_value: std::ptr::null_mut(),
        };
        let mut limits = RegisterLimits::default();
        let options = unsafe { list(options, n as usize)? };
        Status::INVALID_VALUE.when(!options.is_empty() && values.is_null())?;
        for (i, option) in options.into_iter().enumerate() {
            let value = unsafe { values.add(i) };
            // Numbers are in the bits of the pointer itself.
            let number = || (unsafe { *value }.addr() & 0xffff_ffff) as u32;
            let limit = || Some(number()).filter(|&n| n > 0);
            match option {
                MAX_REGISTERS => limits.most = limit(),
                // The result is the number of threads it was compiled for: this many.
                THREADS_PER_BLOCK | MAX_THREADS => limits.block_threads = limit(),
                MIN_BLOCKS => limits.min_blocks = limit(),
                OVERRIDE_DIRECTIVES => limits.overrides = number() != 0,
                WALL_TIME => unsafe { put_if(value.cast::<f32>(), 0.0) },
                ERROR_LOG => logs.error = unsafe { *value }.cast(),
                ERROR_LOG_BYTES => {
                    logs.error_bytes = number() as usize;
                    logs.error_value = value;
                }
                INFO_LOG_BYTES => logs.info_value = value,
                INFO_LOG => unsafe { put_if((*value).cast::<u8>(), 0) },
                _ => {}
            }
        }
        Ok(Self { logs, limits })
    }
}

impl Logs {
    /// Writes the text for the client.
    ///
    /// # Safety
    /// The client's buffers are still there.
    pub unsafe fn tell(self, log: &str) {
        let mut given = 0;
        if !self.error.is_null() && self.error_bytes > 0 {
            given = log.len().min(self.error_bytes - 1);
            let _ = unsafe { put_text(self.error, self.error_bytes, log) };
        }
        unsafe {
            put_if(self.error_value, std::ptr::without_provenance_mut(given));
            put_if(self.info_value, std::ptr::null_mut());
        }
    }
}
