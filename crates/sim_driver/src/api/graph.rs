//! Graphs.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::copy::Memcpy3D;
use super::{api, get, list, put, put_if, put_list};
use crate::context::Context;
use crate::copies::Fill;
use crate::driver::driver;
use crate::graph::{Executable, Graph, Work};
use crate::launch::{KernelLaunch, Shape};
use crate::operation::{HostCall, Operation};
use crate::status::{Outcome, Status};
use crate::stream::Stream;

/// `CUDA_KERNEL_NODE_PARAMS`, of both versions: the second has a kernel and a context behind.
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

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InstantiateParams {
    flags: u64,
    upload_stream: usize,
    error_node: usize,
    result: u32,
}

/// `CUDA_GRAPH_INSTANTIATE_FLAG_…`
const AUTO_FREE: u64 = 1;
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const FLAGS: u64 = 15;

/// `CUDA_GRAPH_INSTANTIATE_…`
const INSTANTIATED: u32 = 0;
const INSTANTIATE_ERROR: u32 = 1;
const INVALID_STRUCTURE: u32 = 2;

fn graph_of(handle: usize) -> Outcome<Arc<Graph>> {
    driver()?.graphs.get(handle).ok_or(Status::INVALID_VALUE)
}

fn executable(handle: usize) -> Outcome<Arc<Executable>> {
    driver()?
        .executables
        .get(handle)
        .ok_or(Status::INVALID_VALUE)
}

unsafe fn add(out: *mut usize, graph: usize, after: (*const usize, usize), work: Work) -> Outcome {
    let graph = graph_of(graph)?;
    let after = unsafe { list(after.0, after.1)? };
    if out.is_null() || !graph.has(&after) {
        return Err(Status::INVALID_VALUE);
    }
    unsafe { put(out, graph.add_work(work, after)) }
}

unsafe fn kernel(params: *const KernelParams) -> Outcome<Operation> {
    let given = unsafe { get(params)? };
    let shape = Shape {
        grid: given.grid,
        block: given.block,
        shared_bytes: given.shared_bytes,
        cooperative: false,
    };
    let launch = unsafe { KernelLaunch::gather(given.function, shape, given.params, given.extra)? };
    Ok(Operation::Launch(Arc::new(launch)))
}

unsafe fn copy(params: *const Memcpy3D) -> Outcome<Operation> {
    let copy = unsafe { get(params)? }.transfer()?;
    copy.check()?;
    Ok(Operation::Copy(copy))
}

unsafe fn fill(params: *const MemsetParams) -> Outcome<Operation> {
    let given = unsafe { get(params)? };
    let fill = Fill {
        address: given.to,
        pitch: given.pitch as u64,
        value: given.value,
        element_bytes: given.element_bytes,
        extent: [given.width as u64, given.height as u64],
    };
    fill.check()?;
    Ok(Operation::Fill(fill))
}

unsafe fn call(params: *const HostParams) -> Outcome<Operation> {
    let given = unsafe { get(params)? };
    let function = given.function.ok_or(Status::INVALID_VALUE)?;
    Ok(Operation::Call(unsafe {
        HostCall::new(function, given.data)
    }))
}

fn instantiate(graph: usize, flags: u64) -> Outcome<usize> {
    // A graph that the device launches frees nothing by itself.
    if flags & !FLAGS != 0 || flags & (AUTO_FREE | DEVICE_LAUNCH) == AUTO_FREE | DEVICE_LAUNCH {
        return Err(Status::INVALID_VALUE);
    }
    if flags & DEVICE_LAUNCH != 0 {
        return Err(Status::NOT_SUPPORTED);
    }
    let executable = Executable::new(&*graph_of(graph)?, flags)?;
    Ok(driver()?.executables.add(Arc::new(executable)))
}

/// `CU_GRAPH_NODE_TYPE_…`
fn kind(work: &Work) -> u32 {
    match work {
        Work::Graph(_) => 4,
        Work::Operation(operation) => match operation {
            Operation::Launch(_) => 0,
            Operation::Copy(_) => 1,
            Operation::Fill(_) => 2,
            Operation::Call(_) => 3,
            Operation::Nothing => 5,
            Operation::Note(_) => 7,
            Operation::Free(_) => 11,
        },
    }
}

/// The graph that has a node.
fn home(node: usize) -> Outcome<Arc<Graph>> {
    let all = driver()?.graphs.all();
    let found = all.into_iter().find(|graph| graph.has(&[node]));
    found.ok_or(Status::INVALID_VALUE)
}

fn edges(graph: &Graph) -> Vec<(usize, usize)> {
    let nodes = graph.nodes();
    let of = |node: &crate::graph::Node| {
        let to = node.handle;
        node.after
            .iter()
            .map(move |&from| (from, to))
            .collect::<Vec<_>>()
    };
    nodes.iter().flat_map(of).collect()
}

unsafe fn put_edges(
    all: &[(usize, usize)],
    from: *mut usize,
    to: *mut usize,
    n: *mut usize,
) -> Outcome {
    let room = unsafe { get(n)? };
    if from.is_null() != to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    if from.is_null() {
        return unsafe { put(n, all.len()) };
    }
    for (i, &(a, b)) in all.iter().take(room).enumerate() {
        unsafe {
            from.add(i).write(a);
            to.add(i).write(b);
        }
    }
    unsafe { put(n, all.len().min(room)) }
}

unsafe fn change_edges(
    graph: usize,
    from: *const usize,
    to: *const usize,
    n: usize,
    add: bool,
) -> Outcome {
    let graph = graph_of(graph)?;
    let (from, to) = unsafe { (list(from, n)?, list(to, n)?) };
    if !graph.has(&from) || !graph.has(&to) {
        return Err(Status::INVALID_VALUE);
    }
    let mut nodes = graph.nodes();
    for (from, to) in from.into_iter().zip(to) {
        let Some(node) = nodes.iter_mut().find(|node| node.handle == to) else {
            continue;
        };
        let at = node.after.iter().position(|&n| n == from);
        match (add, at) {
            (true, None) if from != to => node.after.push(from),
            (false, Some(at)) => drop(node.after.remove(at)),
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}

api! {
    fn cuGraphCreate(out: *mut usize, flags: c_uint) {
        if out.is_null() || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        put(out, driver()?.graphs.add(Arc::new(Graph::default())))
    }
    fn cuGraphDestroy(graph: usize) {
        driver()?.graphs.remove(graph).ok_or(Status::INVALID_VALUE).map(drop)
    }
    fn cuGraphClone(out: *mut usize, graph: usize) {
        let (copy, _) = graph_of(graph)?.copied();
        put(out, driver()?.graphs.add(Arc::new(copy)))
    }
    fn cuGraphAddKernelNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const KernelParams) {
        add(out, graph, (after, n), Work::Operation(kernel(params)?))
    }
    fn cuGraphAddKernelNode_v2(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const KernelParams) {
        add(out, graph, (after, n), Work::Operation(kernel(params)?))
    }
    fn cuGraphAddMemcpyNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const Memcpy3D, context: usize) {
        Context::of(context)?;
        add(out, graph, (after, n), Work::Operation(copy(params)?))
    }
    fn cuGraphAddMemsetNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const MemsetParams, context: usize) {
        Context::of(context)?;
        add(out, graph, (after, n), Work::Operation(fill(params)?))
    }
    fn cuGraphAddHostNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const HostParams) {
        add(out, graph, (after, n), Work::Operation(call(params)?))
    }
    fn cuGraphAddEmptyNode(out: *mut usize, graph: usize, after: *const usize, n: usize) {
        add(out, graph, (after, n), Work::Operation(Operation::Nothing))
    }
    fn cuGraphAddChildGraphNode(out: *mut usize, graph: usize, after: *const usize, n: usize, child: usize) {
        let nodes = graph_of(child)?.nodes().clone();
        add(out, graph, (after, n), Work::Graph(nodes))
    }
    fn cuGraphDestroyNode(node: usize) {
        let graph = home(node)?;
        let mut nodes = graph.nodes();
        nodes.retain(|n| n.handle != node);
        nodes.iter_mut().for_each(|n| n.after.retain(|&before| before != node));
        Ok(())
    }
    fn cuGraphGetNodes(graph: usize, out: *mut usize, n: *mut usize) {
        let handles: Vec<usize> = graph_of(graph)?.nodes().iter().map(|node| node.handle).collect();
        put_list(&handles, out, n)
    }
    fn cuGraphGetRootNodes(graph: usize, out: *mut usize, n: *mut usize) {
        let graph = graph_of(graph)?;
        let nodes = graph.nodes();
        let roots = nodes.iter().filter(|node| node.after.is_empty());
        let handles: Vec<usize> = roots.map(|node| node.handle).collect();
        put_list(&handles, out, n)
    }
    fn cuGraphGetEdges(graph: usize, from: *mut usize, to: *mut usize, n: *mut usize) {
        put_edges(&edges(&*graph_of(graph)?), from, to, n)
    }
    fn cuGraphGetEdges_v2(graph: usize, from: *mut usize, to: *mut usize, _data: *mut c_void, n: *mut usize) {
        put_edges(&edges(&*graph_of(graph)?), from, to, n)
    }
    fn cuGraphAddDependencies(graph: usize, from: *const usize, to: *const usize, n: usize) {
        change_edges(graph, from, to, n, true)
    }
    fn cuGraphAddDependencies_v2(graph: usize, from: *const usize, to: *const usize, _data: *const c_void, n: usize) {
        change_edges(graph, from, to, n, true)
    }
    fn cuGraphRemoveDependencies(graph: usize, from: *const usize, to: *const usize, n: usize) {
        change_edges(graph, from, to, n, false)
    }
    fn cuGraphRemoveDependencies_v2(graph: usize, from: *const usize, to: *const usize, _data: *const c_void, n: usize) {
        change_edges(graph, from, to, n, false)
    }
    fn cuGraphNodeGetDependencies(node: usize, out: *mut usize, n: *mut usize) {
        let graph = home(node)?;
        let nodes = graph.nodes();
        let found = nodes.iter().find(|other| other.handle == node);
        put_list(found.map_or(&[], |node| &node.after), out, n)
    }
    fn cuGraphNodeGetDependentNodes(node: usize, out: *mut usize, n: *mut usize) {
        let all = edges(&*home(node)?);
        let to: Vec<usize> = all.into_iter().filter(|e| e.0 == node).map(|e| e.1).collect();
        put_list(&to, out, n)
    }
    fn cuGraphNodeGetType(node: usize, out: *mut c_uint) {
        let graph = home(node)?;
        let nodes = graph.nodes();
        let found = nodes.iter().find(|other| other.handle == node);
        put(out, kind(&found.ok_or(Status::INVALID_VALUE)?.work))
    }
    fn cuGraphInstantiate_v2(out: *mut usize, graph: usize, error: *mut usize, _log: *mut c_void, _n: usize) {
        put_if(error, 0);
        put(out, instantiate(graph, 0)?)
    }
    fn cuGraphInstantiateWithFlags(out: *mut usize, graph: usize, flags: u64) {
        put(out, instantiate(graph, flags)?)
    }
    fn cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz(out: *mut usize, graph: usize, params: *mut InstantiateParams) with default {
        let given = get(params)?;
        let made = instantiate(graph, given.flags);
        let result = match made {
            Ok(_) => INSTANTIATED,
            Err(Status::INVALID_VALUE) => INVALID_STRUCTURE,
            Err(_) => INSTANTIATE_ERROR,
        };
        put(params, InstantiateParams { error_node: 0, result, ..given })?;
        put(out, made?)?;
        if given.flags & UPLOAD != 0 {
            Stream::of(if given.upload_stream == 0 { default } else { given.upload_stream })?;
        }
        Ok(())
    }
    fn cuGraphExecDestroy(handle: usize) {
        driver()?.executables.remove(handle).ok_or(Status::INVALID_VALUE).map(drop)
    }
    fn cuGraphExecGetFlags(handle: usize, out: *mut u64) {
        // Uploading does not change what it is.
        put(out, executable(handle)?.flags & !UPLOAD)
    }
    fn cuGraphLaunch, cuGraphLaunch_ptsz(handle: usize, stream: usize) in stream {
        let graph = executable(handle)?;
        let (context, stream) = Stream::of(stream)?;
        let nodes = graph.nodes().clone();
        if let Some(capture) = &mut *stream.capture() {
            let after = std::mem::take(&mut capture.last);
            capture.last = vec![capture.graph.add_work(Work::Graph(nodes), after)];
            return Ok(());
        }
        graph.launch(&context, &stream);
        Ok(())
    }
    fn cuGraphUpload, cuGraphUpload_ptsz(handle: usize, stream: usize) in stream {
        executable(handle)?;
        Stream::of(stream).map(drop)
    }
    fn cuGraphExecKernelNodeSetParams(handle: usize, node: usize, params: *const KernelParams) {
        executable(handle)?.replace(node, kernel(params)?)
    }
    fn cuGraphExecKernelNodeSetParams_v2(handle: usize, node: usize, params: *const KernelParams) {
        executable(handle)?.replace(node, kernel(params)?)
    }
    fn cuGraphExecMemcpyNodeSetParams(handle: usize, node: usize, params: *const Memcpy3D, _context: usize) {
        executable(handle)?.replace(node, copy(params)?)
    }
    fn cuGraphExecMemsetNodeSetParams(handle: usize, node: usize, params: *const MemsetParams, _context: usize) {
        executable(handle)?.replace(node, fill(params)?)
    }
    fn cuGraphExecHostNodeSetParams(handle: usize, node: usize, params: *const HostParams) {
        executable(handle)?.replace(node, call(params)?)
    }
    fn cuGraphDebugDotPrint(graph: usize, path: *const std::ffi::c_char, _flags: c_uint) {
        use std::fmt::Write;
        let graph = graph_of(graph)?;
        let mut dot = String::from("digraph {\n");
        for (from, to) in edges(&graph) {
            let _ = writeln!(dot, "  n{from:x} -> n{to:x};");
        }
        dot.push_str("}\n");
        std::fs::write(super::text(path)?, dot).map_err(|_| Status::OPERATING_SYSTEM)
    }
}
