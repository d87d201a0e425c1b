//! Nodes of graphs: created, queried and changed.

use std::ffi::{c_uint, c_void};

use super::{api, get, needed, put};
use crate::current;
use crate::driver;
use crate::layouts::{Copy3D, DriverCopy, DriverKernelNode, KernelNode, check_kind};

api! {
    fn cudaGraphKernelNodeGetParams(node: usize, out: *mut KernelNode) {
        needed(out)?;
        current::ready()?;
        let mut params = DriverKernelNode::default();
        driver::cuGraphKernelNodeGetParams_v2(node, &mut params)?;
        put(out, params.for_runtime())
    }
    fn cudaGraphKernelNodeSetParams(node: usize, params: *const KernelNode) {
        current::ready()?;
        driver::cuGraphKernelNodeSetParams_v2(node, &get(params)?.for_driver()?)
    }
    fn cudaGraphMemcpyNodeGetParams(node: usize, out: *mut Copy3D) {
        needed(out)?;
        current::ready()?;
        let mut params = DriverCopy::default();
        driver::cuGraphMemcpyNodeGetParams(node, &mut params)?;
        put(out, params.for_runtime())
    }
    fn cudaGraphMemcpyNodeSetParams(node: usize, params: *const Copy3D) {
        current::ready()?;
        driver::cuGraphMemcpyNodeSetParams(node, &get(params)?.for_driver()?)
    }
    fn cudaGraphMemcpyNodeSetParams1D(node: usize, to: u64, from: u64, n_bytes: usize, kind: c_uint) {
        check_kind(kind)?;
        current::ready()?;
        driver::cuGraphMemcpyNodeSetParams(node, &DriverCopy::linear(to, from, n_bytes)?)
    }
    fn cudaGraphMemsetNodeGetParams(node: usize, out: *mut c_void) = cuGraphMemsetNodeGetParams needs out;
    fn cudaGraphMemsetNodeSetParams(node: usize, params: *const c_void) = cuGraphMemsetNodeSetParams needs params;
    fn cudaGraphHostNodeGetParams(node: usize, out: *mut c_void) = cuGraphHostNodeGetParams needs out;
    fn cudaGraphHostNodeSetParams(node: usize, params: *const c_void) = cuGraphHostNodeSetParams needs params;
    fn cudaGraphChildGraphNodeGetGraph(node: usize, out: *mut usize) = cuGraphChildGraphNodeGetGraph needs out;
    fn cudaGraphExecChildGraphNodeSetParams(handle: usize, node: usize, child: usize) = cuGraphExecChildGraphNodeSetParams;
    fn cudaGraphAddEventRecordNode(out: *mut usize, graph: usize, after: *const usize, n: usize, event: usize) = cuGraphAddEventRecordNode;
    fn cudaGraphEventRecordNodeGetEvent(node: usize, out: *mut usize) = cuGraphEventRecordNodeGetEvent needs out;
    fn cudaGraphEventRecordNodeSetEvent(node: usize, event: usize) = cuGraphEventRecordNodeSetEvent;
    fn cudaGraphExecEventRecordNodeSetEvent(handle: usize, node: usize, event: usize) = cuGraphExecEventRecordNodeSetEvent;
    fn cudaGraphAddEventWaitNode(out: *mut usize, graph: usize, after: *const usize, n: usize, event: usize) = cuGraphAddEventWaitNode;
    fn cudaGraphEventWaitNodeGetEvent(node: usize, out: *mut usize) = cuGraphEventWaitNodeGetEvent needs out;
    fn cudaGraphEventWaitNodeSetEvent(node: usize, event: usize) = cuGraphEventWaitNodeSetEvent;
    fn cudaGraphExecEventWaitNodeSetEvent(handle: usize, node: usize, event: usize) = cuGraphExecEventWaitNodeSetEvent;
    fn cudaGraphNodeSetEnabled(handle: usize, node: usize, enabled: c_uint) = cuGraphNodeSetEnabled;
    fn cudaGraphNodeGetEnabled(handle: usize, node: usize, out: *mut c_uint) = cuGraphNodeGetEnabled needs out;
}
