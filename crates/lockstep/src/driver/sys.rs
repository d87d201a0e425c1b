//! The driver's functions, as far as they are used here, with the signatures that its
//! manual gives. `cuda_driver` defines them.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

/// A pointer to something of the driver's.
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
    pub(super) fn cuCtxSetCurrent(context: Handle) -> c_int;
    pub(super) fn cuCtxSynchronize() -> c_int;
    pub(super) fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) -> c_int;
    pub(super) fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int;

    pub(super) fn cuStreamCreateWithPriority(
        stream: *mut Handle,
        flags: c_uint,
        priority: c_int,
    ) -> c_int;
    pub(super) fn cuStreamDestroy_v2(stream: Handle) -> c_int;
    pub(super) fn cuStreamSynchronize(stream: Handle) -> c_int;
    pub(super) fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> c_int;
    pub(super) fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> c_int;
    pub(super) fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> c_int;

    pub(super) fn cuEventCreate(event: *mut Handle, flags: c_uint) -> c_int;
    pub(super) fn cuEventDestroy_v2(event: Handle) -> c_int;
    pub(super) fn cuEventRecord(event: Handle, stream: Handle) -> c_int;
    pub(super) fn cuEventQuery(event: Handle) -> c_int;
    pub(super) fn cuEventElapsedTime(ms: *mut f32, start: Handle, end: Handle) -> c_int;

    pub(super) fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        n_options: c_uint,
        options: *const c_int,
        values: *const Handle,
    ) -> c_int;
    pub(super) fn cuModuleUnload(module: Handle) -> c_int;
    pub(super) fn cuModuleGetFunction(
        function: *mut Handle,
        module: Handle,
        name: *const c_char,
    ) -> c_int;
    pub(super) fn cuModuleGetGlobal_v2(
        address: *mut u64,
        size_bytes: *mut usize,
        module: Handle,
        name: *const c_char,
    ) -> c_int;
    pub(super) fn cuFuncGetAttribute(
        value: *mut c_int,
        attribute: c_int,
        function: Handle,
    ) -> c_int;
    pub(super) fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) -> c_int;
    pub(super) fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        params: *mut Handle,
        extra: *mut Handle,
    ) -> c_int;
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

    pub(super) fn cuMemAlloc_v2(address: *mut u64, size_bytes: usize) -> c_int;
    pub(super) fn cuMemFree_v2(address: u64) -> c_int;
    pub(super) fn cuMemHostAlloc(pointer: *mut Handle, size_bytes: usize, flags: c_uint) -> c_int;
    pub(super) fn cuMemHostGetDevicePointer_v2(
        address: *mut u64,
        pointer: Handle,
        flags: c_uint,
    ) -> c_int;
    pub(super) fn cuMemFreeHost(pointer: Handle) -> c_int;
    pub(super) fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size_bytes: usize) -> c_int;
    pub(super) fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, size_bytes: usize) -> c_int;
    pub(super) fn cuMemcpyHtoDAsync_v2(
        to: u64,
        from: *const c_void,
        size_bytes: usize,
        stream: Handle,
    ) -> c_int;
    pub(super) fn cuMemcpyDtoHAsync_v2(
        to: *mut c_void,
        from: u64,
        size_bytes: usize,
        stream: Handle,
    ) -> c_int;
    pub(super) fn cuMemcpyDtoDAsync_v2(
        to: u64,
        from: u64,
        size_bytes: usize,
        stream: Handle,
    ) -> c_int;
    pub(super) fn cuMemsetD8Async(to: u64, value: u8, n: usize, stream: Handle) -> c_int;

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
