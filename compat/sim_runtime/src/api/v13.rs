//! The versions in `libcudart.so.13` of functions that differ in `libcudart.so.12`.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::stream::capture_info;
use super::{api, needed, put};
use crate::layouts::LongPointerAttributes;
use crate::properties::Layout;

/// CUDA 13.0.
const VERSION: c_int = 13000;

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
        super::device::put_properties(out, device, Layout::Thirteen)
    }
    fn cudaPointerGetAttributes(out: *mut LongPointerAttributes, address: u64) {
        needed(out)?;
        put(out, LongPointerAttributes::new(super::memory::pointer_attributes(address)?))
    }
    fn cudaMemAdvise(address: u64, n_bytes: usize, advice: c_uint, location: u64) = cuMemAdvise_v2;
    fn cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz(address: u64, n_bytes: usize, location: u64, flags: c_uint, stream: usize) in stream = cuMemPrefetchAsync_v2;
    fn cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz(stream: usize, status: *mut c_uint, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, edges: *mut *const c_void, n: *mut usize) in stream {
        capture_info(stream, status, id, graph, nodes, edges, n)
    }
    fn cudaGraphGetEdges(graph: usize, from: *mut usize, to: *mut usize, edges: *mut c_void, n: *mut usize) = cuGraphGetEdges_v2;
    fn cudaGraphAddDependencies(graph: usize, from: *const usize, to: *const usize, edges: *const c_void, n: usize) = cuGraphAddDependencies_v2;
    fn cudaGraphRemoveDependencies(graph: usize, from: *const usize, to: *const usize, edges: *const c_void, n: usize) = cuGraphRemoveDependencies_v2;
    fn cudaGraphNodeGetDependencies(node: usize, out: *mut usize, edges: *mut c_void, n: *mut usize) = cuGraphNodeGetDependencies_v2;
    fn cudaGraphNodeGetDependentNodes(node: usize, out: *mut usize, edges: *mut c_void, n: *mut usize) = cuGraphNodeGetDependentNodes_v2;
}
