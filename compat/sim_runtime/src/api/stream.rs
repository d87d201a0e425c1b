//! Streams.

use std::ffi::{c_int, c_uint, c_void};

use super::{api, needed};
use crate::current;
use crate::driver;
use crate::error::Outcome;

/// What is known of a capture; who does not want a part of it gives null.
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
    fn cudaStreamCreateWithPriority(out: *mut usize, flags: c_uint, priority: c_int) {
        needed(out)?;
        current::ready()?;
        driver::cuStreamCreateWithPriority(out, flags, priority)
    }
    fn cudaStreamDestroy(stream: usize) {
        current::ready()?;
        driver::cuStreamDestroy_v2(stream)
    }
    fn cudaStreamQuery, cudaStreamQuery_ptsz(stream: usize) in stream {
        current::ready()?;
        driver::cuStreamQuery(stream)
    }
    fn cudaStreamSynchronize, cudaStreamSynchronize_ptsz(stream: usize) in stream {
        current::ready()?;
        driver::cuStreamSynchronize(stream)
    }
    fn cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz(stream: usize, event: usize, flags: c_uint) in stream {
        current::ready()?;
        driver::cuStreamWaitEvent(stream, event, flags)
    }
    fn cudaStreamGetFlags, cudaStreamGetFlags_ptsz(stream: usize, out: *mut c_uint) in stream {
        needed(out)?;
        current::ready()?;
        driver::cuStreamGetFlags(stream, out)
    }
    fn cudaStreamGetPriority, cudaStreamGetPriority_ptsz(stream: usize, out: *mut c_int) in stream {
        needed(out)?;
        current::ready()?;
        driver::cuStreamGetPriority(stream, out)
    }
    fn cudaStreamGetDevice, cudaStreamGetDevice_ptsz(stream: usize, out: *mut c_int) in stream {
        needed(out)?;
        current::ready()?;
        driver::cuStreamGetDevice(stream, out)
    }
    fn cudaStreamGetId, cudaStreamGetId_ptsz(stream: usize, out: *mut u64) in stream {
        needed(out)?;
        current::ready()?;
        driver::cuStreamGetId(stream, out)
    }
    fn cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz(stream: usize, number: c_uint, out: *mut c_void) in stream {
        needed(out)?;
        current::ready()?;
        driver::cuStreamGetAttribute(stream, number, out)
    }
    fn cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz(stream: usize, number: c_uint, value: *const c_void) in stream {
        needed(value)?;
        current::ready()?;
        driver::cuStreamSetAttribute(stream, number, value)
    }
    fn cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz(to: usize, from: usize) in to {
        current::ready()?;
        driver::cuStreamCopyAttributes(to, from)
    }
    fn cudaStreamAddCallback, cudaStreamAddCallback_ptsz(stream: usize, function: driver::Callback, data: *mut c_void, flags: c_uint) in stream {
        current::ready()?;
        driver::cuStreamAddCallback(stream, function, data, flags)
    }
    fn cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz(stream: usize, address: u64, n_bytes: usize, flags: c_uint) in stream {
        current::ready()?;
        driver::cuStreamAttachMemAsync(stream, address, n_bytes, flags)
    }
    fn cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz(stream: usize, mode: c_uint) in stream {
        current::ready()?;
        driver::cuStreamBeginCapture_v2(stream, mode)
    }
    fn cudaStreamEndCapture, cudaStreamEndCapture_ptsz(stream: usize, out: *mut usize) in stream {
        needed(out)?;
        current::ready()?;
        driver::cuStreamEndCapture(stream, out)
    }
    fn cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz(stream: usize, out: *mut c_uint) in stream {
        needed(out)?;
        current::ready()?;
        driver::cuStreamIsCapturing(stream, out)
    }
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_uint) {
        needed(mode)?;
        current::initialize()?;
        driver::cuThreadExchangeStreamCaptureMode(mode)
    }
}
