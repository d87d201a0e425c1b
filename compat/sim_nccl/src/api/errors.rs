//! The version, and errors.

use std::ffi::{c_char, c_int};

use super::{api, put};
use crate::comm::Comm;
use crate::result::{Code, lend};

/// The version whose functions these are, as NCCL numbers them: 2.28.9.
const VERSION: i32 = 22809;

api! {
    fn ncclGetVersion(out: *mut c_int) {
        put(out, VERSION)
    }
    fn ncclCommGetAsyncError(comm: usize, out: *mut u32) {
        let comm = Comm::of(comm)?;
        let state = match comm.connection.has_joined() {
            Ok(true) => Code::SUCCESS,
            Ok(false) => Code::IN_PROGRESS,
            Err(failure) => failure.code,
        };
        put(out, state.0)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(code: u32) -> *const c_char {
    Code(code).text().as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(comm: usize) -> *const c_char {
    let failure = Comm::of(comm).ok().map(|comm| comm.connection.has_joined());
    lend(failure.and_then(|failure| failure.err().map(|failure| failure.text)))
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclResetDebugInit() {}
