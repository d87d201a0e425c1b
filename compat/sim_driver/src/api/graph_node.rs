//! Nodes of graphs: adding, querying and changing what they do.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::copy::Memcpy3D;
use super::graph::EdgeData;
use super::{api, get, list, put};
use crate::context::Context;
use crate::copies::Fill;
use crate::event::Event;
use crate::executable::Executable;
use crate::graph::{Graph, Work};
use crate::launch::{KernelLaunch, Shape};
use crate::module::Function;
use crate::operation::{HostCall, Operation};
use crate::status::{Outcome, Status};

/// `CUDA_KERNEL_NODE_PARAMS_v1`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParams {
    function: usize,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    params: *const *mut c_void,
    extra: *const *mut c_void,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`, and `…_v3`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParams2 {
    first: KernelParams,
    /// What is launched if `function` is null.
    kernel: usize,
    context: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemsetParams {
    to: u64,
    pitch: usize,
    value: u32,
    element_bytes: u32,
    width: usize,
    height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostParams {
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
}

/// `CUDA_MEMCPY_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyParams {
    flags: c_int,
    reserved: c_int,
    context: usize,
    copy: Memcpy3D,
}

/// `CUgraphNodeParams`: the kind of a node, and the parameters of that kind, with this much room.
#[repr(C)]
pub struct NodeParams {
    kind: u32,
    reserved: [u32; 3],
    params: [u64; 29],
    reserved_2: u64,
}

unsafe fn kernel(given: KernelParams, context: usize) -> Outcome<Work> {
    let shape = Shape::new(given.grid, given.block, given.shared_bytes);
    let module = Function::of(given.function)?.module_of_node(context)?;
    let function = (given.function, module);
    let launch = unsafe { KernelLaunch::gather(function, shape, given.params, given.extra)? };
    Ok(Work::Operation(Operation::Launch(Arc::new(launch))))
}

unsafe fn kernel_2(given: KernelParams2) -> Outcome<Work> {
    let function = match given.first.function {
        0 => given.kernel,
        function => function,
    };
    let first = KernelParams {
        function,
        ..given.first
    };
    unsafe { kernel(first, given.context) }
}

fn copy(given: Memcpy3D) -> Outcome<Work> {
    let copy = given.transfer()?;
    copy.check()?;
    Ok(Work::Operation(Operation::Copy(copy)))
}

fn fill(given: MemsetParams) -> Outcome<Work> {
    let fill = Fill {
        address: given.to,
        pitch: given.pitch as u64,
        value: given.value,
        element_bytes: given.element_bytes,
        extent: [given.width as u64, given.height as u64],
    };
    fill.check()?;
    Ok(Work::Operation(Operation::Fill(fill)))
}

fn call(given: HostParams) -> Outcome<Work> {
    let function = given.function.ok_or(Status::INVALID_VALUE)?;
    // SAFETY: the client passes both for the graph to use.
    let call = unsafe { HostCall::new(function, given.data) };
    Ok(Work::Operation(Operation::Call(call)))
}

fn child(graph: usize) -> Outcome<Work> {
    Ok(Work::Graph(Arc::new(Graph::of(graph)?.copied())))
}

fn nothing() -> Work {
    Work::Operation(Operation::Nothing)
}

/// What a node of any kind does.
unsafe fn any(params: *const NodeParams) -> Outcome<Work> {
    Status::INVALID_VALUE.when(params.is_null())?;
    unsafe {
        let kind = (&raw const (*params).kind).read_unaligned();
        let params = (&raw const (*params).params).cast::<c_void>();
        match kind {
            0 => kernel_2(get(params.cast())?),
            1 => copy(get::<MemcpyParams>(params.cast())?.copy),
            2 => fill(get(params.cast())?),
            3 => call(get(params.cast())?),
            4 => child(get(params.cast())?),
            5 => Ok(nothing()),
            6 => Ok(Work::Wait(Event::of(get(params.cast())?)?)),
            7 => Ok(Work::Record(Event::of(get(params.cast())?)?)),
            _ => Err(Status::NOT_SUPPORTED),
        }
    }
}

unsafe fn add(out: *mut usize, graph: usize, after: (*const usize, usize), work: Work) -> Outcome {
    let graph = Graph::of(graph)?;
    let after = unsafe { list(after.0, after.1)? };
    Status::INVALID_VALUE.when(out.is_null() || !graph.has(&after))?;
    unsafe { put(out, graph.add_work(work, after)) }
}

/// The operation of a node.
fn operation(node: usize) -> Outcome<Operation> {
    match Graph::home(node)?.work(node)? {
        Work::Operation(operation) => Ok(operation),
        _ => Err(Status::INVALID_VALUE),
    }
}

fn kernel_params(node: usize) -> Outcome<KernelParams2> {
    let Operation::Launch(launch) = operation(node)? else {
        return Err(Status::INVALID_VALUE);
    };
    let shape = launch.shape();
    let is_function = launch.function().own_module().is_some();
    let (function, kernel, context) = match is_function {
        true => (launch.handle, 0, 0),
        false => (0, launch.handle, launch.module().context),
    };
    Ok(KernelParams2 {
        first: KernelParams {
            function,
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared_bytes,
            // The node holds the launch, and with it what these point to.
            params: launch.pointers(),
            extra: std::ptr::null(),
        },
        kernel,
        context,
    })
}

api! {
    fn cuGraphAddKernelNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const KernelParams) {
        add(out, graph, (after, n), kernel(get(params)?, 0)?)
    }
    fn cuGraphAddKernelNode_v2(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const KernelParams2) {
        add(out, graph, (after, n), kernel_2(get(params)?)?)
    }
    fn cuGraphAddMemcpyNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const Memcpy3D, context: usize) {
        Context::of(context)?;
        add(out, graph, (after, n), copy(get(params)?)?)
    }
    fn cuGraphAddMemsetNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const MemsetParams, context: usize) {
        Context::of(context)?;
        add(out, graph, (after, n), fill(get(params)?)?)
    }
    fn cuGraphAddHostNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const HostParams) {
        add(out, graph, (after, n), call(get(params)?)?)
    }
    fn cuGraphAddEmptyNode(out: *mut usize, graph: usize, after: *const usize, n: usize) {
        add(out, graph, (after, n), nothing())
    }
    fn cuGraphAddChildGraphNode(out: *mut usize, graph: usize, after: *const usize, n: usize, inner: usize) {
        add(out, graph, (after, n), child(inner)?)
    }
    fn cuGraphAddEventRecordNode(out: *mut usize, graph: usize, after: *const usize, n: usize, event: usize) {
        add(out, graph, (after, n), Work::Record(Event::of(event)?))
    }
    fn cuGraphAddEventWaitNode(out: *mut usize, graph: usize, after: *const usize, n: usize, event: usize) {
        add(out, graph, (after, n), Work::Wait(Event::of(event)?))
    }
    fn cuGraphAddNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *mut NodeParams) {
        add(out, graph, (after, n), any(params)?)
    }
    fn cuGraphAddNode_v2(out: *mut usize, graph: usize, after: *const usize, _data: *const EdgeData, n: usize, params: *mut NodeParams) {
        add(out, graph, (after, n), any(params)?)
    }

    fn cuGraphKernelNodeGetParams(node: usize, out: *mut KernelParams) {
        let params = kernel_params(node)?;
        let function = params.first.function.max(params.kernel);
        put(out, KernelParams { function, ..params.first })
    }
    fn cuGraphKernelNodeGetParams_v2(node: usize, out: *mut KernelParams2) {
        put(out, kernel_params(node)?)
    }
    fn cuGraphMemcpyNodeGetParams(node: usize, out: *mut Memcpy3D) {
        let Operation::Copy(copy) = operation(node)? else {
            return Err(Status::INVALID_VALUE);
        };
        put(out, Memcpy3D::of(&copy)?)
    }
    fn cuGraphMemsetNodeGetParams(node: usize, out: *mut MemsetParams) {
        let Operation::Fill(fill) = operation(node)? else {
            return Err(Status::INVALID_VALUE);
        };
        put(out, MemsetParams {
            to: fill.address,
            pitch: fill.pitch as usize,
            value: fill.value,
            element_bytes: fill.element_bytes,
            width: fill.extent[0] as usize,
            height: fill.extent[1] as usize,
        })
    }
    fn cuGraphHostNodeGetParams(node: usize, out: *mut HostParams) {
        let Operation::Call(call) = operation(node)? else {
            return Err(Status::INVALID_VALUE);
        };
        let (function, data) = call.parts();
        put(out, HostParams { function: Some(function), data })
    }
    fn cuGraphChildGraphNodeGetGraph(node: usize, out: *mut usize) {
        let Work::Graph(graph) = Graph::home(node)?.work(node)? else {
            return Err(Status::INVALID_VALUE);
        };
        put(out, graph.handle()?)
    }
    fn cuGraphEventRecordNodeGetEvent(node: usize, out: *mut usize) {
        let Work::Record(event) = Graph::home(node)?.work(node)? else {
            return Err(Status::INVALID_VALUE);
        };
        put(out, event.handle)
    }
    fn cuGraphEventWaitNodeGetEvent(node: usize, out: *mut usize) {
        let Work::Wait(event) = Graph::home(node)?.work(node)? else {
            return Err(Status::INVALID_VALUE);
        };
        put(out, event.handle)
    }

    fn cuGraphKernelNodeSetParams(node: usize, params: *const KernelParams) {
        Graph::home(node)?.replace(node, kernel(get(params)?, 0)?)
    }
    fn cuGraphKernelNodeSetParams_v2(node: usize, params: *const KernelParams2) {
        Graph::home(node)?.replace(node, kernel_2(get(params)?)?)
    }
    fn cuGraphMemcpyNodeSetParams(node: usize, params: *const Memcpy3D) {
        Graph::home(node)?.replace(node, copy(get(params)?)?)
    }
    fn cuGraphMemsetNodeSetParams(node: usize, params: *const MemsetParams) {
        Graph::home(node)?.replace(node, fill(get(params)?)?)
    }
    fn cuGraphHostNodeSetParams(node: usize, params: *const HostParams) {
        Graph::home(node)?.replace(node, call(get(params)?)?)
    }
    fn cuGraphEventRecordNodeSetEvent(node: usize, event: usize) {
        Graph::home(node)?.replace(node, Work::Record(Event::of(event)?))
    }
    fn cuGraphEventWaitNodeSetEvent(node: usize, event: usize) {
        Graph::home(node)?.replace(node, Work::Wait(Event::of(event)?))
    }
    fn cuGraphNodeSetParams(node: usize, params: *mut NodeParams) {
        Graph::home(node)?.replace(node, any(params)?)
    }

    fn cuGraphExecKernelNodeSetParams(handle: usize, node: usize, params: *const KernelParams) {
        Executable::of(handle)?.replace(node, &kernel(get(params)?, 0)?)
    }
    fn cuGraphExecKernelNodeSetParams_v2(handle: usize, node: usize, params: *const KernelParams2) {
        Executable::of(handle)?.replace(node, &kernel_2(get(params)?)?)
    }
    fn cuGraphExecMemcpyNodeSetParams(handle: usize, node: usize, params: *const Memcpy3D, _context: usize) {
        Executable::of(handle)?.replace(node, &copy(get(params)?)?)
    }
    fn cuGraphExecMemsetNodeSetParams(handle: usize, node: usize, params: *const MemsetParams, _context: usize) {
        Executable::of(handle)?.replace(node, &fill(get(params)?)?)
    }
    fn cuGraphExecHostNodeSetParams(handle: usize, node: usize, params: *const HostParams) {
        Executable::of(handle)?.replace(node, &call(get(params)?)?)
    }
    fn cuGraphExecChildGraphNodeSetParams(handle: usize, node: usize, inner: usize) {
        Executable::of(handle)?.replace(node, &child(inner)?)
    }
    fn cuGraphExecEventRecordNodeSetEvent(handle: usize, node: usize, event: usize) {
        Executable::of(handle)?.replace(node, &Work::Record(Event::of(event)?))
    }
    fn cuGraphExecEventWaitNodeSetEvent(handle: usize, node: usize, event: usize) {
        Executable::of(handle)?.replace(node, &Work::Wait(Event::of(event)?))
    }
    fn cuGraphExecNodeSetParams(handle: usize, node: usize, params: *mut NodeParams) {
        Executable::of(handle)?.replace(node, &any(params)?)
    }
    fn cuGraphNodeSetEnabled(handle: usize, node: usize, enabled: c_uint) {
        Executable::of(handle)?.with_node(node, |node| {
            // Kernels, copies and fills.
            Status::INVALID_VALUE.when(node.work.kind() > 2)?;
            node.is_enabled = enabled != 0;
            Ok(())
        })?
    }
    fn cuGraphNodeGetEnabled(handle: usize, node: usize, out: *mut c_uint) {
        let enabled = Executable::of(handle)?.with_node(node, |node| node.is_enabled)?;
        put(out, c_uint::from(enabled))
    }
}
