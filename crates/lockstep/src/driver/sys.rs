//! Driver functions that `cust` lacks, or offers in a form that does not fit here, with the
//! signatures from the driver's manual. `cuda_driver` defines them.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

/// A pointer to an object of the driver.
pub(super) type Handle = *mut c_void;

/// `CUlaunchConfig`.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: Handle,
    pub attributes: *const LaunchAttribute,
    pub n_attributes: c_uint,
}

/// `CUlaunchAttribute`: a number, padded, and a union of 64 bytes.
#[repr(C, align(8))]
pub(super) struct LaunchAttribute {
    pub id: c_int,
    pub padding: c_int,
    pub value: [c_int; 16],
}

unsafe extern "C" {
    pub(super) fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) -> c_int;
    pub(super) fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) -> c_int;
    pub(super) fn cuCtxDisablePeerAccess(peer: Handle) -> c_int;
    pub(super) fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> c_int;
    pub(super) fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> c_int;
    pub(super) fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> c_int;
    pub(super) fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        n_options: c_uint,
        options: *const c_int,
        values: *const Handle,
    ) -> c_int;
    pub(super) fn cuModuleUnload(module: Handle) -> c_int;
    pub(super) fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) -> c_int;
    pub(super) fn cuLaunchKernelEx(
        config: *const LaunchConfig,
        function: Handle,
        params: *mut Handle,
        extra: *mut Handle,
    ) -> c_int;
    pub(super) fn cuGraphInstantiateWithFlags(
        exec: *mut Handle,
        graph: Handle,
        flags: c_ulonglong,
    ) -> c_int;
    pub(super) fn cuGraphLaunch(exec: Handle, stream: Handle) -> c_int;
    pub(super) fn cuGraphExecDestroy(exec: Handle) -> c_int;
    pub(super) fn cuGraphDestroy(graph: Handle) -> c_int;
    pub(super) fn cuMemHostAlloc(pointer: *mut Handle, size_bytes: usize, flags: c_uint) -> c_int;
    pub(super) fn cuMemHostGetDevicePointer_v2(
        address: *mut u64,
        pointer: Handle,
        flags: c_uint,
    ) -> c_int;
    pub(super) fn cuMemFreeHost(pointer: Handle) -> c_int;
    pub(super) fn cuTensorMapEncodeTiled(
        map: *mut c_void,
        element: c_uint,
        rank: c_uint,
        address: u64,
        dims: *const u64,
        strides: *const u64,
        box_dims: *const c_uint,
        element_strides: *const c_uint,
        interleave: c_uint,
        swizzle: c_uint,
        l2_promotion: c_uint,
        fill: c_uint,
    ) -> c_int;
    pub(super) fn cuTensorMapReplaceAddress(map: *mut c_void, address: u64) -> c_int;
}
