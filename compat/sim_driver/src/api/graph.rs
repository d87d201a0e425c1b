//! Graphs.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::{api, get, list, put, put_if, put_list};
use crate::executable::Executable;
use crate::graph::{Graph, Work};
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::Stream;

/// `CUgraphExecUpdateResultInfo`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UpdateResult {
    result: u32,
    node: usize,
    from: usize,
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

fn instantiate(graph: usize, flags: u64) -> Outcome<usize> {
    // A graph launched by the device does not free anything automatically.
    Status::INVALID_VALUE.when(
        flags & !FLAGS != 0 || flags & (AUTO_FREE | DEVICE_LAUNCH) == AUTO_FREE | DEVICE_LAUNCH,
    )?;
    Status::NOT_SUPPORTED.when(flags & DEVICE_LAUNCH != 0)?;
    Executable::create(&*Graph::of(graph)?, flags)
}

/// Updates an executable graph; returns the contents of `CUgraphExecUpdateResultInfo`.
fn update(handle: usize, graph: usize) -> Outcome<UpdateResult> {
    let mismatch = Executable::of(handle)?.update(&*Graph::of(graph)?).err();
    Ok(UpdateResult {
        result: mismatch.map_or(0, |mismatch| mismatch.change as u32),
        node: mismatch.map_or(0, |mismatch| mismatch.node),
        from: mismatch.map_or(0, |mismatch| mismatch.from),
    })
}

/// The status of an update.
fn updated(result: UpdateResult) -> Outcome {
    match result.result {
        0 => Ok(()),
        _ => Err(Status::GRAPH_EXEC_UPDATE_FAILURE),
    }
}

/// A node's label in a drawing.
fn label(work: &Work) -> String {
    match work {
        Work::Operation(Operation::Launch(launch)) => launch.function().name().to_owned(),
        _ => {
            let kinds = [
                "KERNEL", "MEMCPY", "MEMSET", "HOST", "GRAPH", "EMPTY", "WAIT", "RECORD",
            ];
            let name = kinds.get(work.kind() as usize).copied();
            name.unwrap_or("MEM_FREE").to_owned()
        }
    }
}

/// The graph in Graphviz's language.
fn dot(graph: &Graph) -> String {
    use std::fmt::Write;
    let mut text = String::from("digraph {\n");
    for node in graph.nodes().iter() {
        let label = label(&node.work).replace('"', "");
        let _ = writeln!(text, "  n{:x} [label=\"{label}\"];", node.handle);
    }
    for (from, to) in edges(graph) {
        let _ = writeln!(text, "  n{from:x} -> n{to:x};");
    }
    text + "}\n"
}

/// The nodes that come after this one.
fn dependents(node: usize) -> Outcome<Vec<usize>> {
    let all = edges(&*Graph::home(node)?).into_iter();
    Ok(all
        .filter(|edge| edge.0 == node)
        .map(|edge| edge.1)
        .collect())
}

/// The nodes that this one comes after.
fn dependencies(node: usize) -> Outcome<Vec<usize>> {
    let graph = Graph::home(node)?;
    let nodes = graph.nodes();
    let found = nodes.iter().find(|other| other.handle == node);
    Ok(found.map_or(Vec::new(), |node| node.after.clone()))
}

fn edges(graph: &Graph) -> Vec<(usize, usize)> {
    let nodes = graph.nodes();
    let all = nodes
        .iter()
        .flat_map(|node| node.after.iter().map(|&from| (from, node.handle)));
    all.collect()
}

unsafe fn put_edges(
    all: &[(usize, usize)],
    from: *mut usize,
    to: *mut usize,
    n: *mut usize,
) -> Outcome {
    let room = unsafe { get(n)? };
    Status::INVALID_VALUE.when(from.is_null() != to.is_null())?;
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

/// `CUgraphEdgeData`, which is zero for an edge between whole nodes. All edges are treated as such:
/// one that may begin within a kernel waits for the kernel's end.
pub type EdgeData = [u8; 8];

/// Writes the data of as many edges as were returned.
unsafe fn put_edge_data(data: *mut EdgeData, given: *const usize, n: *const usize) -> Outcome {
    if data.is_null() || given.is_null() {
        return Ok(());
    }
    let n = unsafe { get(n)? };
    (0..n).for_each(|i| unsafe { data.add(i).write([0; 8]) });
    Ok(())
}

unsafe fn change_edges(
    graph: usize,
    from: *const usize,
    to: *const usize,
    n: usize,
    add: bool,
) -> Outcome {
    let graph = Graph::of(graph)?;
    let (from, to) = unsafe { (list(from, n)?, list(to, n)?) };
    Status::INVALID_VALUE.when(!graph.has(&from) || !graph.has(&to))?;
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
        Status::INVALID_VALUE.when(out.is_null() || flags != 0)?;
        put(out, Arc::new(Graph::default()).handle()?)
    }
    fn cuGraphDestroy(graph: usize) {
        Graph::of(graph)?.forget()
    }
    fn cuGraphClone(out: *mut usize, graph: usize) {
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, Arc::new(Graph::of(graph)?.copied()).handle()?)
    }
    fn cuGraphNodeFindInClone(out: *mut usize, original: usize, clone: usize) {
        let node = Graph::of(clone)?.node_of(original);
        put(out, node.ok_or(Status::INVALID_VALUE)?)
    }
    fn cuGraphDestroyNode(node: usize) {
        let graph = Graph::home(node)?;
        let mut nodes = graph.nodes();
        nodes.iter().filter(|n| n.handle == node).try_for_each(|n| n.forget())?;
        nodes.retain(|n| n.handle != node);
        nodes.iter_mut().for_each(|n| n.after.retain(|&before| before != node));
        Ok(())
    }
    fn cuGraphGetNodes(graph: usize, out: *mut usize, n: *mut usize) {
        let handles: Vec<usize> = Graph::of(graph)?.nodes().iter().map(|node| node.handle).collect();
        put_list(&handles, out, n)
    }
    fn cuGraphGetRootNodes(graph: usize, out: *mut usize, n: *mut usize) {
        let graph = Graph::of(graph)?;
        let nodes = graph.nodes();
        let roots = nodes.iter().filter(|node| node.after.is_empty());
        let handles: Vec<usize> = roots.map(|node| node.handle).collect();
        put_list(&handles, out, n)
    }
    fn cuGraphGetEdges(graph: usize, from: *mut usize, to: *mut usize, n: *mut usize) {
        put_edges(&edges(&*Graph::of(graph)?), from, to, n)
    }
    fn cuGraphGetEdges_v2(graph: usize, from: *mut usize, to: *mut usize, data: *mut EdgeData, n: *mut usize) {
        put_edges(&edges(&*Graph::of(graph)?), from, to, n)?;
        put_edge_data(data, from, n)
    }
    fn cuGraphAddDependencies(graph: usize, from: *const usize, to: *const usize, n: usize) {
        change_edges(graph, from, to, n, true)
    }
    fn cuGraphAddDependencies_v2(graph: usize, from: *const usize, to: *const usize, _data: *const EdgeData, n: usize) {
        change_edges(graph, from, to, n, true)
    }
    fn cuGraphRemoveDependencies(graph: usize, from: *const usize, to: *const usize, n: usize) {
        change_edges(graph, from, to, n, false)
    }
    fn cuGraphRemoveDependencies_v2(graph: usize, from: *const usize, to: *const usize, _data: *const EdgeData, n: usize) {
        change_edges(graph, from, to, n, false)
    }
    fn cuGraphNodeGetDependencies(node: usize, out: *mut usize, n: *mut usize) {
        put_list(&dependencies(node)?, out, n)
    }
    fn cuGraphNodeGetDependencies_v2(node: usize, out: *mut usize, data: *mut EdgeData, n: *mut usize) {
        put_list(&dependencies(node)?, out, n)?;
        put_edge_data(data, out, n)
    }
    fn cuGraphNodeGetDependentNodes(node: usize, out: *mut usize, n: *mut usize) {
        put_list(&dependents(node)?, out, n)
    }
    fn cuGraphNodeGetDependentNodes_v2(node: usize, out: *mut usize, data: *mut EdgeData, n: *mut usize) {
        put_list(&dependents(node)?, out, n)?;
        put_edge_data(data, out, n)
    }
    fn cuGraphNodeGetType(node: usize, out: *mut c_uint) {
        put(out, Graph::home(node)?.work(node)?.kind())
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
        Executable::destroy(handle)
    }
    fn cuGraphExecGetFlags(handle: usize, out: *mut u64) {
        // Uploading does not change the graph.
        put(out, Executable::of(handle)?.flags & !UPLOAD)
    }
    fn cuGraphLaunch, cuGraphLaunch_ptsz(handle: usize, stream: usize) in stream {
        let graph = Executable::of(handle)?;
        let (context, stream) = super::uncaptured(stream)?;
        graph.launch(&context, &stream);
        Ok(())
    }
    fn cuGraphUpload, cuGraphUpload_ptsz(handle: usize, stream: usize) in stream {
        Executable::of(handle)?;
        Stream::of(stream).map(drop)
    }
    fn cuGraphExecUpdate(handle: usize, graph: usize, node: *mut usize, result: *mut c_uint) {
        let told = update(handle, graph)?;
        put_if(node, told.node);
        put(result, told.result)?;
        updated(told)
    }
    fn cuGraphExecUpdate_v2(handle: usize, graph: usize, result: *mut UpdateResult) {
        let told = update(handle, graph)?;
        put(result, told)?;
        updated(told)
    }
    fn cuGraphDebugDotPrint(graph: usize, path: *const std::ffi::c_char, _flags: c_uint) {
        let dot = dot(&*Graph::of(graph)?);
        std::fs::write(super::text(path)?, dot).map_err(|_| Status::OPERATING_SYSTEM)
    }
}
