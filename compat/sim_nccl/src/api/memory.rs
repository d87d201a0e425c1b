//! Memory for communication. All of it is equally quick here, so that registering it has no effect.

use std::ffi::{c_int, c_void};

use super::{api, not_supported, put};
use crate::comm::Comm;
use crate::driver::{cuMemAlloc_v2, cuMemFree_v2};
use crate::result::ensure;

/// What stands for any registration.
const REGISTERED: usize = 1;

api! {
    fn ncclMemAlloc(out: *mut u64, n_bytes: usize) {
        sim_runtime::current::ready()?;
        let mut address = 0;
        if n_bytes > 0 {
            cuMemAlloc_v2(&mut address, n_bytes)?;
        }
        put(out, address)
    }
    fn ncclMemFree(address: u64) {
        sim_runtime::current::ready()?;
        if address != 0 {
            cuMemFree_v2(address)?;
        }
        Ok(())
    }
    fn ncclCommRegister(comm: usize, buffer: *const c_void, _n_bytes: usize, out: *mut usize) {
        Comm::of(comm)?;
        ensure(!buffer.is_null(), "the buffer is null")?;
        put(out, REGISTERED)
    }
    fn ncclCommDeregister(comm: usize, _handle: usize) {
        Comm::of(comm).map(drop)
    }
    fn ncclCommWindowRegister(comm: usize, buffer: *const c_void, _n_bytes: usize, out: *mut usize, _flags: c_int) {
        Comm::of(comm)?;
        ensure(!buffer.is_null(), "the buffer is null")?;
        put(out, REGISTERED)
    }
    fn ncclCommWindowDeregister(comm: usize, _window: usize) {
        Comm::of(comm).map(drop)
    }
    fn ncclGroupSimulateEnd(_info: *mut c_void) {
        not_supported()
    }
}
