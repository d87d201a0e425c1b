//! What nodes of graphs do: told, asked and changed.

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
    fn cudaGraphMemsetNodeGetParams(node: usize, out: *mut c_void) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphMemsetNodeGetParams(node, out)
    }
    fn cudaGraphMemsetNodeSetParams(node: usize, params: *const c_void) {
        needed(params)?;
        current::ready()?;
        driver::cuGraphMemsetNodeSetParams(node, params)
    }
    fn cudaGraphHostNodeGetParams(node: usize, out: *mut c_void) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphHostNodeGetParams(node, out)
    }
    fn cudaGraphHostNodeSetParams(node: usize, params: *const c_void) {
        needed(params)?;
        current::ready()?;
        driver::cuGraphHostNodeSetParams(node, params)
    }
    fn cudaGraphChildGraphNodeGetGraph(node: usize, out: *mut usize) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphChildGraphNodeGetGraph(node, out)
    }
    fn cudaGraphExecChildGraphNodeSetParams(handle: usize, node: usize, child: usize) {
        current::ready()?;
        driver::cuGraphExecChildGraphNodeSetParams(handle, node, child)
    }
    fn cudaGraphAddEventRecordNode(out: *mut usize, graph: usize, after: *const usize, n: usize, event: usize) {
        current::ready()?;
        driver::cuGraphAddEventRecordNode(out, graph, after, n, event)
    }
    fn cudaGraphEventRecordNodeGetEvent(node: usize, out: *mut usize) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphEventRecordNodeGetEvent(node, out)
    }
    fn cudaGraphEventRecordNodeSetEvent(node: usize, event: usize) {
        current::ready()?;
        driver::cuGraphEventRecordNodeSetEvent(node, event)
    }
    fn cudaGraphExecEventRecordNodeSetEvent(handle: usize, node: usize, event: usize) {
        current::ready()?;
        driver::cuGraphExecEventRecordNodeSetEvent(handle, node, event)
    }
    fn cudaGraphAddEventWaitNode(out: *mut usize, graph: usize, after: *const usize, n: usize, event: usize) {
        current::ready()?;
        driver::cuGraphAddEventWaitNode(out, graph, after, n, event)
    }
    fn cudaGraphEventWaitNodeGetEvent(node: usize, out: *mut usize) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphEventWaitNodeGetEvent(node, out)
    }
    fn cudaGraphEventWaitNodeSetEvent(node: usize, event: usize) {
        current::ready()?;
        driver::cuGraphEventWaitNodeSetEvent(node, event)
    }
    fn cudaGraphExecEventWaitNodeSetEvent(handle: usize, node: usize, event: usize) {
        current::ready()?;
        driver::cuGraphExecEventWaitNodeSetEvent(handle, node, event)
    }
    fn cudaGraphNodeSetEnabled(handle: usize, node: usize, enabled: c_uint) {
        current::ready()?;
        driver::cuGraphNodeSetEnabled(handle, node, enabled)
    }
    fn cudaGraphNodeGetEnabled(handle: usize, node: usize, out: *mut c_uint) {
        needed(out)?;
        current::ready()?;
        driver::cuGraphNodeGetEnabled(handle, node, out)
    }
}
