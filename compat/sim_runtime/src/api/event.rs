//! Events.

use std::ffi::c_uint;

use super::{api, needed};
use crate::current;
use crate::driver;

api! {
    fn cudaEventCreate(out: *mut usize) {
        needed(out)?;
        current::ready()?;
        driver::cuEventCreate(out, 0)
    }
    fn cudaEventCreateWithFlags(out: *mut usize, flags: c_uint) {
        needed(out)?;
        current::ready()?;
        driver::cuEventCreate(out, flags)
    }
    fn cudaEventDestroy(event: usize) {
        current::ready()?;
        driver::cuEventDestroy_v2(event)
    }
    fn cudaEventRecord, cudaEventRecord_ptsz(event: usize, stream: usize) in stream {
        current::ready()?;
        driver::cuEventRecordWithFlags(event, stream, 0)
    }
    fn cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz(event: usize, stream: usize, flags: c_uint) in stream {
        current::ready()?;
        driver::cuEventRecordWithFlags(event, stream, flags)
    }
    fn cudaEventQuery(event: usize) {
        current::ready()?;
        driver::cuEventQuery(event)
    }
    fn cudaEventSynchronize(event: usize) {
        current::ready()?;
        driver::cuEventSynchronize(event)
    }
    fn cudaEventElapsedTime(out: *mut f32, from: usize, to: usize) {
        needed(out)?;
        current::ready()?;
        driver::cuEventElapsedTime(out, from, to)
    }
}
