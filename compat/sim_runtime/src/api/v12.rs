//! Functions that differ between `libcudart.so.12` and `libcudart.so.13`, or are only in the
//! former.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::stream::capture_info;
use super::{api, needed, put};
use crate::layouts::{LaunchParams, PointerAttributes};
use crate::properties::Layout;

/// CUDA 12.9.
const VERSION: c_int = 12090;

api! {
    fn cudaRuntimeGetVersion(out: *mut c_int) {
        put(out, VERSION)
    }
    fn cudaGetDriverEntryPoint(name: *const c_char, out: *mut usize, flags: u64, status: *mut c_uint) {
        super::errors::entry_point(name, out, VERSION, flags, status)
    }
    fn cudaGetDriverEntryPoint_ptsz(name: *const c_char, out: *mut usize, flags: u64, status: *mut c_uint) {
        super::errors::entry_point(name, out, VERSION, super::errors::of_own_stream(flags), status)
    }
    fn cudaGetDeviceProperties(out: *mut u8, device: c_int) {
        super::device::put_properties(out, device, Layout::Eleven)
    }
    fn cudaGetDeviceProperties_v2(out: *mut u8, device: c_int) {
        super::device::put_properties(out, device, Layout::Twelve)
    }
    fn cudaPointerGetAttributes(out: *mut PointerAttributes, address: u64) {
        needed(out)?;
        put(out, super::memory::pointer_attributes(address)?)
    }
    fn cudaMemAdvise(address: u64, n_bytes: usize, advice: c_uint, device: c_int) = cuMemAdvise;
    fn cudaMemAdvise_v2(address: u64, n_bytes: usize, advice: c_uint, location: u64) = cuMemAdvise_v2;
    fn cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz(address: u64, n_bytes: usize, device: c_int, stream: usize) in stream = cuMemPrefetchAsync;
    fn cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz(address: u64, n_bytes: usize, location: u64, flags: c_uint, stream: usize) in stream = cuMemPrefetchAsync_v2;
    fn cudaEventElapsedTime_v2(out: *mut f32, from: usize, to: usize) = cuEventElapsedTime needs out;
    fn cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz(stream: usize, status: *mut c_uint, id: *mut u64) in stream {
        let none = std::ptr::null_mut();
        capture_info(stream, status, id, std::ptr::null_mut(), std::ptr::null_mut(), none, std::ptr::null_mut())
    }
    fn cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz(stream: usize, status: *mut c_uint, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, n: *mut usize) in stream {
        capture_info(stream, status, id, graph, nodes, std::ptr::null_mut(), n)
    }
    fn cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3_ptsz(stream: usize, status: *mut c_uint, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, edges: *mut *const c_void, n: *mut usize) in stream {
        capture_info(stream, status, id, graph, nodes, edges, n)
    }
    fn cudaGraphGetEdges(graph: usize, from: *mut usize, to: *mut usize, n: *mut usize) = cuGraphGetEdges;
    fn cudaGraphGetEdges_v2(graph: usize, from: *mut usize, to: *mut usize, edges: *mut c_void, n: *mut usize) = cuGraphGetEdges_v2;
    fn cudaGraphAddDependencies(graph: usize, from: *const usize, to: *const usize, n: usize) = cuGraphAddDependencies;
    fn cudaGraphAddDependencies_v2(graph: usize, from: *const usize, to: *const usize, edges: *const c_void, n: usize) = cuGraphAddDependencies_v2;
    fn cudaGraphRemoveDependencies(graph: usize, from: *const usize, to: *const usize, n: usize) = cuGraphRemoveDependencies;
    fn cudaGraphRemoveDependencies_v2(graph: usize, from: *const usize, to: *const usize, edges: *const c_void, n: usize) = cuGraphRemoveDependencies_v2;
    fn cudaGraphNodeGetDependencies(node: usize, out: *mut usize, n: *mut usize) = cuGraphNodeGetDependencies;
    fn cudaGraphNodeGetDependencies_v2(node: usize, out: *mut usize, edges: *mut c_void, n: *mut usize) = cuGraphNodeGetDependencies_v2;
    fn cudaGraphNodeGetDependentNodes(node: usize, out: *mut usize, n: *mut usize) = cuGraphNodeGetDependentNodes;
    fn cudaGraphNodeGetDependentNodes_v2(node: usize, out: *mut usize, edges: *mut c_void, n: *mut usize) = cuGraphNodeGetDependentNodes_v2;
    fn cudaSetDoubleForDevice(value: *mut f64) {
        needed(value)
    }
    fn cudaSetDoubleForHost(value: *mut f64) {
        needed(value)
    }
    fn cudaLaunchCooperativeKernelMultiDevice(list: *const LaunchParams, n: c_uint, flags: c_uint) {
        super::launch::launch_on_all(list, n, flags)
    }
    fn cudaThreadSynchronize() = cuCtxSynchronize;
}
