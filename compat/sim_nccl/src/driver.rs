//! The driver's functions that are called here.

use std::ffi::{c_int, c_uint, c_void};

/// A function that a stream calls.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;

sim_runtime::functions! {
    fn cuCtxGetCurrent(out: *mut usize);
    fn cuCtxGetDevice(out: *mut c_int);
    fn cuCtxPushCurrent_v2(context: usize);
    fn cuCtxPopCurrent_v2(out: *mut usize);
    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint);
    fn cuPointerGetAttribute(out: *mut c_void, number: c_uint, address: u64);
    fn cuMemAlloc_v2(out: *mut u64, n_bytes: usize);
    fn cuMemFree_v2(address: u64);
    fn cuMemHostAlloc(out: *mut u64, n_bytes: usize, flags: c_uint);
    fn cuMemcpyAsync(to: u64, from: u64, n_bytes: usize, stream: usize);
    fn cuLaunchHostFunc(stream: usize, function: HostFunction, data: *mut c_void);
    fn cuStreamGetCtx(stream: usize, out: *mut usize);
    fn cuStreamIsCapturing(stream: usize, out: *mut c_uint);
    fn cuStreamWaitEvent(stream: usize, event: usize, flags: c_uint);
    fn cuEventCreate(out: *mut usize, flags: c_uint);
    fn cuEventDestroy_v2(event: usize);
    fn cuEventRecord(event: usize, stream: usize);
    fn cuEventQuery(event: usize);
    fn cuEventSynchronize(event: usize);
}
