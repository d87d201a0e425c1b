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
    fn cudaEventCreateWithFlags(out: *mut usize, flags: c_uint) = cuEventCreate needs out;
    fn cudaEventDestroy(event: usize) = cuEventDestroy_v2;
    fn cudaEventRecord, cudaEventRecord_ptsz(event: usize, stream: usize) in stream = cuEventRecord;
    fn cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz(event: usize, stream: usize, flags: c_uint) in stream = cuEventRecordWithFlags;
    fn cudaEventQuery(event: usize) = cuEventQuery;
    fn cudaEventSynchronize(event: usize) = cuEventSynchronize;
    fn cudaEventElapsedTime(out: *mut f32, from: usize, to: usize) = cuEventElapsedTime needs out;
}
