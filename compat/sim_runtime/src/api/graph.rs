//! Graphs.

use std::ffi::{c_char, c_uint, c_void};

use super::{api, get, needed};
use crate::current;
use crate::driver;
use crate::layouts::{Copy3D, DriverCopy, KernelNode, check_kind};

api! {
    fn cudaGraphCreate(out: *mut usize, flags: c_uint) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphCreate(out, flags)
    }
    fn cudaGraphDestroy(graph: usize) {
        current::ready()?;
        driver::cuGraphDestroy(graph)
    }
    fn cudaGraphClone(out: *mut usize, graph: usize) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphClone(out, graph)
    }
    fn cudaGraphAddKernelNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const KernelNode) {
        current::ready()?;
        driver::cuGraphAddKernelNode_v2(out, graph, after, n, &get(params)?.for_driver()?)
    }
    fn cudaGraphAddMemcpyNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const Copy3D) {
        let context = current::ready()?;
        driver::cuGraphAddMemcpyNode(out, graph, after, n, &get(params)?.for_driver()?, context)
    }
    fn cudaGraphAddMemcpyNode1D(out: *mut usize, graph: usize, after: *const usize, n: usize, to: u64, from: u64, n_bytes: usize, kind: c_uint) {
        check_kind(kind)?;
        let context = current::ready()?;
        let copy = DriverCopy::linear(to, from, n_bytes)?;
        driver::cuGraphAddMemcpyNode(out, graph, after, n, &copy, context)
    }
    fn cudaGraphAddMemsetNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const c_void) {
        needed(params)?;
        let context = current::ready()?;
        driver::cuGraphAddMemsetNode(out, graph, after, n, params, context)
    }
    fn cudaGraphAddHostNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const c_void) {
        needed(params)?;
        current::ready()?;
        driver::cuGraphAddHostNode(out, graph, after, n, params)
    }
    fn cudaGraphAddEmptyNode(out: *mut usize, graph: usize, after: *const usize, n: usize) {
        current::ready()?;
        driver::cuGraphAddEmptyNode(out, graph, after, n)
    }
    fn cudaGraphAddChildGraphNode(out: *mut usize, graph: usize, after: *const usize, n: usize, child: usize) {
        current::ready()?;
        driver::cuGraphAddChildGraphNode(out, graph, after, n, child)
    }
    fn cudaGraphDestroyNode(node: usize) {
        current::ready()?;
        driver::cuGraphDestroyNode(node)
    }
    fn cudaGraphGetNodes(graph: usize, out: *mut usize, n: *mut usize) {
        current::ready()?;
        driver::cuGraphGetNodes(graph, out, n)
    }
    fn cudaGraphGetRootNodes(graph: usize, out: *mut usize, n: *mut usize) {
        current::ready()?;
        driver::cuGraphGetRootNodes(graph, out, n)
    }
    fn cudaGraphNodeGetType(node: usize, out: *mut c_uint) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphNodeGetType(node, out)
    }
    fn cudaGraphInstantiate(out: *mut usize, graph: usize, flags: u64) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphInstantiateWithFlags(out, graph, flags)
    }
    fn cudaGraphInstantiateWithFlags(out: *mut usize, graph: usize, flags: u64) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphInstantiateWithFlags(out, graph, flags)
    }
    fn cudaGraphInstantiateWithParams(out: *mut usize, graph: usize, params: *mut c_void) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphInstantiateWithParams(out, graph, params)
    }
    fn cudaGraphInstantiateWithParams_ptsz(out: *mut usize, graph: usize, params: *mut c_void) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphInstantiateWithParams_ptsz(out, graph, params)
    }
    fn cudaGraphExecUpdate(handle: usize, graph: usize, result: *mut c_void) {
        needed(result)?;
        current::ready()?;
        driver::cuGraphExecUpdate_v2(handle, graph, result)
    }
    fn cudaGraphNodeFindInClone(out: *mut usize, original: usize, clone: usize) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphNodeFindInClone(out, original, clone)
    }
    fn cudaGraphExecDestroy(graph: usize) {
        current::ready()?;
        driver::cuGraphExecDestroy(graph)
    }
    fn cudaGraphExecGetFlags(graph: usize, out: *mut u64) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphExecGetFlags(graph, out)
    }
    fn cudaGraphLaunch, cudaGraphLaunch_ptsz(graph: usize, stream: usize) in stream {
        current::ready()?;
        driver::cuGraphLaunch(graph, stream)
    }
    fn cudaGraphUpload, cudaGraphUpload_ptsz(graph: usize, stream: usize) in stream {
        current::ready()?;
        driver::cuGraphUpload(graph, stream)
    }
    fn cudaGraphExecKernelNodeSetParams(graph: usize, node: usize, params: *const KernelNode) {
        current::ready()?;
        driver::cuGraphExecKernelNodeSetParams_v2(graph, node, &get(params)?.for_driver()?)
    }
    fn cudaGraphExecMemcpyNodeSetParams(graph: usize, node: usize, params: *const Copy3D) {
        let context = current::ready()?;
        driver::cuGraphExecMemcpyNodeSetParams(graph, node, &get(params)?.for_driver()?, context)
    }
    fn cudaGraphExecMemcpyNodeSetParams1D(graph: usize, node: usize, to: u64, from: u64, n_bytes: usize, kind: c_uint) {
        check_kind(kind)?;
        let context = current::ready()?;
        let copy = DriverCopy::linear(to, from, n_bytes)?;
        driver::cuGraphExecMemcpyNodeSetParams(graph, node, &copy, context)
    }
    fn cudaGraphExecMemsetNodeSetParams(graph: usize, node: usize, params: *const c_void) {
        needed(params)?;
        let context = current::ready()?;
        driver::cuGraphExecMemsetNodeSetParams(graph, node, params, context)
    }
    fn cudaGraphExecHostNodeSetParams(graph: usize, node: usize, params: *const c_void) {
        needed(params)?;
        current::ready()?;
        driver::cuGraphExecHostNodeSetParams(graph, node, params)
    }
    fn cudaGraphDebugDotPrint(graph: usize, path: *const c_char, flags: c_uint) {
        current::ready()?;
        driver::cuGraphDebugDotPrint(graph, path, flags)
    }
}
