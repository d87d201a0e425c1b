//! Graphs.

use std::ffi::{c_char, c_uint, c_void};

use super::{api, get, needed};
use crate::current;
use crate::driver;
use crate::layouts::{Copy3D, DriverCopy, KernelNode, check_kind};

api! {
    fn cudaGraphCreate(out: *mut usize, flags: c_uint) = cuGraphCreate needs out;
    fn cudaGraphDestroy(graph: usize) = cuGraphDestroy;
    fn cudaGraphClone(out: *mut usize, graph: usize) = cuGraphClone needs out;
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
    fn cudaGraphAddHostNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const c_void) = cuGraphAddHostNode needs params;
    fn cudaGraphAddEmptyNode(out: *mut usize, graph: usize, after: *const usize, n: usize) = cuGraphAddEmptyNode;
    fn cudaGraphAddChildGraphNode(out: *mut usize, graph: usize, after: *const usize, n: usize, child: usize) = cuGraphAddChildGraphNode;
    fn cudaGraphDestroyNode(node: usize) = cuGraphDestroyNode;
    fn cudaGraphGetNodes(graph: usize, out: *mut usize, n: *mut usize) = cuGraphGetNodes;
    fn cudaGraphGetRootNodes(graph: usize, out: *mut usize, n: *mut usize) = cuGraphGetRootNodes;
    fn cudaGraphNodeGetType(node: usize, out: *mut c_uint) = cuGraphNodeGetType needs out;
    fn cudaGraphInstantiate(out: *mut usize, graph: usize, flags: u64) = cuGraphInstantiateWithFlags needs out;
    fn cudaGraphInstantiateWithFlags(out: *mut usize, graph: usize, flags: u64) = cuGraphInstantiateWithFlags needs out;
    fn cudaGraphInstantiateWithParams(out: *mut usize, graph: usize, params: *mut c_void) = cuGraphInstantiateWithParams needs out;
    fn cudaGraphInstantiateWithParams_ptsz(out: *mut usize, graph: usize, params: *mut c_void) = cuGraphInstantiateWithParams_ptsz needs out;
    fn cudaGraphExecUpdate(handle: usize, graph: usize, result: *mut c_void) = cuGraphExecUpdate_v2 needs result;
    fn cudaGraphNodeFindInClone(out: *mut usize, original: usize, clone: usize) = cuGraphNodeFindInClone needs out;
    fn cudaGraphExecDestroy(graph: usize) = cuGraphExecDestroy;
    fn cudaGraphExecGetFlags(graph: usize, out: *mut u64) = cuGraphExecGetFlags needs out;
    fn cudaGraphLaunch, cudaGraphLaunch_ptsz(graph: usize, stream: usize) in stream = cuGraphLaunch;
    fn cudaGraphUpload, cudaGraphUpload_ptsz(graph: usize, stream: usize) in stream = cuGraphUpload;
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
    fn cudaGraphExecHostNodeSetParams(graph: usize, node: usize, params: *const c_void) = cuGraphExecHostNodeSetParams needs params;
    fn cudaGraphDebugDotPrint(graph: usize, path: *const c_char, flags: c_uint) = cuGraphDebugDotPrint;
}
