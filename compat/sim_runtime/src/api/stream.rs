//! Streams and events.

use std::ffi::{c_int, c_uint, c_void};

use super::{api, needed};
use crate::current;
use crate::driver;
use crate::error::Outcome;

/// Information about a capture; pointers to unwanted parts are null.
pub(super) unsafe fn capture_info(
    stream: usize,
    status: *mut c_uint,
    id: *mut u64,
    graph: *mut usize,
    nodes: *mut *const usize,
    edges: *mut *const c_void,
    n: *mut usize,
) -> Outcome {
    needed(status)?;
    current::ready()?;
    unsafe { driver::cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, edges, n) }
}

api! {
    fn cudaStreamCreate(out: *mut usize) {
        needed(out)?;
        current::ready()?;
        driver::cuStreamCreateWithPriority(out, 0, 0)
    }
    fn cudaStreamCreateWithFlags(out: *mut usize, flags: c_uint) {
        needed(out)?;
        current::ready()?;
        driver::cuStreamCreateWithPriority(out, flags, 0)
    }
    fn cudaStreamCreateWithPriority(out: *mut usize, flags: c_uint, priority: c_int) = cuStreamCreateWithPriority needs out;
    fn cudaStreamDestroy(stream: usize) = cuStreamDestroy_v2;
    fn cudaStreamQuery, cudaStreamQuery_ptsz(stream: usize) in stream = cuStreamQuery;
    fn cudaStreamSynchronize, cudaStreamSynchronize_ptsz(stream: usize) in stream = cuStreamSynchronize;
    fn cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz(stream: usize, event: usize, flags: c_uint) in stream = cuStreamWaitEvent;
    fn cudaStreamGetFlags, cudaStreamGetFlags_ptsz(stream: usize, out: *mut c_uint) in stream = cuStreamGetFlags needs out;
    fn cudaStreamGetPriority, cudaStreamGetPriority_ptsz(stream: usize, out: *mut c_int) in stream = cuStreamGetPriority needs out;
    fn cudaStreamGetDevice, cudaStreamGetDevice_ptsz(stream: usize, out: *mut c_int) in stream = cuStreamGetDevice needs out;
    fn cudaStreamGetId, cudaStreamGetId_ptsz(stream: usize, out: *mut u64) in stream = cuStreamGetId needs out;
    fn cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz(stream: usize, number: c_uint, out: *mut c_void) in stream = cuStreamGetAttribute needs out;
    fn cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz(stream: usize, number: c_uint, value: *const c_void) in stream = cuStreamSetAttribute needs value;
    fn cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz(to: usize, from: usize) in to = cuStreamCopyAttributes;
    fn cudaStreamAddCallback, cudaStreamAddCallback_ptsz(stream: usize, function: driver::Callback, data: *mut c_void, flags: c_uint) in stream = cuStreamAddCallback;
    fn cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz(stream: usize, address: u64, n_bytes: usize, flags: c_uint) in stream = cuStreamAttachMemAsync;
    fn cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz(stream: usize, mode: c_uint) in stream = cuStreamBeginCapture_v2;
    fn cudaStreamEndCapture, cudaStreamEndCapture_ptsz(stream: usize, out: *mut usize) in stream = cuStreamEndCapture needs out;
    fn cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz(stream: usize, out: *mut c_uint) in stream = cuStreamIsCapturing needs out;
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_uint) {
        needed(mode)?;
        current::initialize()?;
        driver::cuThreadExchangeStreamCaptureMode(mode)
    }
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
