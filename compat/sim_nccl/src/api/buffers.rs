//! Checks of the client's buffers and streams.

use std::ffi::c_void;

use sim_runtime::Error;

use crate::comm::Comm;
use crate::driver::{
    cuCtxGetDevice, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2, cuPointerGetAttribute, cuStreamGetCtx,
};
use crate::result::{Outcome, ensure};

/// `CU_POINTER_ATTRIBUTE_…`
const MEMORY_TYPE: u32 = 2;
const IS_MANAGED: u32 = 8;
const DEVICE: u32 = 9;
const RANGE_START: u32 = 11;
const RANGE_SIZE: u32 = 12;
/// `CU_MEMORYTYPE_DEVICE`
const ON_DEVICE: u64 = 2;

/// An attribute of an address, if it has it.
fn attribute(number: u32, address: u64) -> Option<u64> {
    let mut value = 0_u64;
    let out = (&raw mut value).cast::<c_void>();
    // SAFETY: no attribute that is asked for has more bytes.
    let found = unsafe { cuPointerGetAttribute(out, number, address) };
    found.is_ok().then_some(value)
}

/// Whether devices can use an address.
pub fn is_usable(address: u64) -> bool {
    attribute(MEMORY_TYPE, address).is_some()
}

/// An error unless a communicator's device can use a buffer.
pub fn check(comm: &Comm, what: &str, address: u64, n_bytes: usize) -> Outcome {
    if n_bytes == 0 {
        return Ok(());
    }
    ensure(address != 0, format_args!("the {what} buffer is null"))?;
    let memory = attribute(MEMORY_TYPE, address);
    let text = format_args!("the {what} buffer is not in memory that devices can use");
    ensure(memory.is_some(), text)?;
    let is_managed = attribute(IS_MANAGED, address).unwrap_or(0) != 0;
    if memory == Some(ON_DEVICE) && !is_managed {
        let device = attribute(DEVICE, address).unwrap_or(0);
        let text = format_args!(
            "the {what} buffer is on device {device}, the communicator on device {}",
            comm.device
        );
        ensure(device == comm.device as u64, text)?;
    }
    let range = attribute(RANGE_START, address).zip(attribute(RANGE_SIZE, address));
    let Some((start, size)) = range else {
        return Ok(());
    };
    let left = (start + size).saturating_sub(address);
    let text = format_args!(
        "the {what} buffer should have {n_bytes} bytes, but its allocation has only {left} there"
    );
    ensure(n_bytes as u64 <= left, text)
}

/// An error unless a stream is one of the communicator's device.
pub fn check_stream(comm: &Comm, stream: usize) -> Outcome {
    let mut context = 0;
    // SAFETY: the pointer is valid for the call.
    let found = comm.within(|| Ok(unsafe { cuStreamGetCtx(stream, &mut context) }))?;
    let is_stream = found != Err(Error::INVALID_HANDLE);
    ensure(is_stream, "there is no such stream")?;
    found?;
    if context == comm.context {
        return Ok(());
    }
    let (mut device, mut popped) = (0, 0);
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        cuCtxPushCurrent_v2(context)?;
        let found = cuCtxGetDevice(&mut device);
        cuCtxPopCurrent_v2(&mut popped)?;
        found?;
    }
    let own = comm.device;
    let text =
        format_args!("the stream is one of device {device}, the communicator is on device {own}");
    ensure(device == own, text)
}
