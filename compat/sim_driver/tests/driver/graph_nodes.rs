//! Nodes of graphs: queried, changed, and changed in executable graphs.

use std::ffi::c_void;
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering};

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::event::*;
use sim_driver::api::graph::*;
use sim_driver::api::graph_node::*;
use sim_driver::api::stream::*;

use crate::client::{Client, ok};
use crate::graphs::{Kernel, add_node, instantiated};
use crate::order::Flag;
use crate::under_test::{call, fails, got, is_real, ok};

/// `CUDA_MEMSET_NODE_PARAMS`, as C lays it out.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fill {
    to: u64,
    pitch: usize,
    value: u32,
    element_bytes: u32,
    width: usize,
    height: usize,
}

impl Fill {
    fn words(to: u64, value: u32, n: usize) -> Self {
        Self {
            to,
            pitch: 0,
            value,
            element_bytes: 4,
            width: n,
            height: 1,
        }
    }
}

/// `CUDA_MEMSET_NODE_PARAMS_v2`, as C lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
struct FillIn {
    fill: Fill,
    context: usize,
}

/// `CUDA_HOST_NODE_PARAMS`, as C lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
struct Host {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

/// `CUDA_MEMCPY3D`, as C lays it out, of bytes from one device address to another.
fn copy(to: u64, from: u64, n_bytes: u64) -> [u64; 25] {
    let mut copy = [0; 25];
    (copy[4], copy[6]) = (2, from);
    (copy[15], copy[17]) = (2, to);
    (copy[22], copy[23], copy[24]) = (n_bytes, 1, 1);
    copy
}

/// `CUgraphNodeParams`, as C lays it out.
#[repr(C)]
struct Any {
    kind: u32,
    reserved: [u32; 3],
    params: [u64; 30],
}

impl Any {
    fn of<T: Copy>(kind: u32, params: T) -> Self {
        let mut any = Self {
            kind,
            reserved: [0; 3],
            params: [0; 30],
        };
        assert!(size_of::<T>() <= 29 * 8);
        unsafe { any.params.as_mut_ptr().cast::<T>().write(params) };
        any
    }
}

fn new_graph() -> usize {
    got!(graph of cuGraphCreate(&mut graph, 0))
}

fn add_fill(client: &Client, graph: usize, after: &[usize], fill: Fill) -> usize {
    let (mut node, fill) = (0, (&raw const fill).cast());
    let (first, n) = (after.as_ptr(), after.len());
    let context = client.context;
    ok! { cuGraphAddMemsetNode(&mut node, graph, first, n, fill, context) }
    node
}

fn add_any(graph: usize, after: &[usize], mut any: Any) -> usize {
    let (mut node, any) = (0, (&raw mut any).cast());
    let (first, n) = (after.as_ptr(), after.len());
    ok!(cuGraphAddNode(&mut node, graph, first, n, any));
    node
}

fn kind_of(node: usize) -> u32 {
    let mut kind = 9;
    ok!(cuGraphNodeGetType(node, &mut kind));
    kind
}

fn launch(executable: usize) {
    ok!(cuGraphLaunch(executable, 0));
}

/// A graph that fills words and then adds one to them, and its nodes.
fn filled_and_added(client: &Client, buffer: u64, value: u32) -> (usize, [usize; 2]) {
    let graph = new_graph();
    let first = add_fill(client, graph, &[], Fill::words(buffer, value, 4));
    let (status, second) = add_node(client, graph, &[first], buffer, 4);
    ok(status);
    (graph, [first, second])
}

/// Updates a graph; returns the status, and what has changed in which node.
fn updated(executable: usize, graph: usize) -> (u32, u32, usize) {
    /// `CUgraphExecUpdateResultInfo`
    #[repr(C)]
    struct Told {
        result: u32,
        node: usize,
        from: usize,
    }
    let mut told = Told {
        result: 9,
        node: 9,
        from: 9,
    };
    let out = (&raw mut told).cast();
    let status = call!(cuGraphExecUpdate_v2(executable, graph, out));
    (status, told.result, told.node)
}

#[test]
fn a_graph_is_updated_by_one_of_its_shape() {
    let client = Client::new();
    let (a, b) = (client.upload(&[0; 4]), client.upload(&[0; 4]));
    let (graph, _) = filled_and_added(&client, a, 10);
    let executable = instantiated(graph);
    launch(executable);
    let (other, nodes) = filled_and_added(&client, b, 20);
    assert_eq!(updated(executable, other), (0, 0, 0));
    launch(executable);
    assert_eq!(client.download(a, 4), [11; 4]);
    assert_eq!(client.download(b, 4), [21; 4]);

    let failure = Status::GRAPH_EXEC_UPDATE_FAILURE.0;
    let (status, third) = add_node(&client, other, &nodes[..1], b, 4);
    ok(status);
    let (status, changed, _) = updated(executable, other);
    assert_eq!((status, changed), (failure, 2), "another node");
    ok!(cuGraphDestroyNode(third));
    ok!(cuGraphRemoveDependencies(other, &nodes[0], &nodes[1], 1));
    let (status, changed, node) = updated(executable, other);
    assert_eq!(
        (status, changed, node),
        (failure, 2, nodes[1]),
        "another edge"
    );

    let swapped = new_graph();
    let first = add_fill(&client, swapped, &[], Fill::words(b, 1, 4));
    let second = add_fill(&client, swapped, &[first], Fill::words(b, 1, 4));
    let (status, changed, node) = updated(executable, swapped);
    assert_eq!(
        (status, changed, node),
        (failure, 3, second),
        "another kind"
    );
    // None of it was done.
    launch(executable);
    assert_eq!(client.download(b, 4), [21; 4]);
}

#[test]
fn kernel_nodes_tell_and_take_their_parameters() {
    let client = Client::new();
    let (a, b) = (client.upload(&[0; 4]), client.upload(&[0; 4]));
    let graph = new_graph();
    let (status, node) = add_node(&client, graph, &[], a, 4);
    ok(status);
    let mut kernel = Kernel::of(0, 0, &[]);
    let executable = instantiated(graph);
    let out = (&raw mut kernel).cast();
    ok!(cuGraphKernelNodeGetParams_v2(node, out));
    assert_eq!(kernel.function, client.function("add_one"));
    assert_eq!((kernel.grid, kernel.block), ([1; 3], [4, 1, 1]));
    let of = |i| unsafe { *kernel.params.add(i) };
    assert_eq!(unsafe { *of(0).cast::<u64>() }, a);
    assert_eq!(unsafe { *of(1).cast::<u32>() }, 4);
    // What was read can be set again, with another buffer.
    let params = [(&raw const b).cast_mut().cast(), of(1)];
    let new = Kernel {
        params: params.as_ptr(),
        ..kernel
    };
    let given = (&raw const new).cast();
    ok!(cuGraphKernelNodeSetParams_v2(node, given));
    launch(executable);
    assert_eq!(client.download(b, 4), [0; 4], "it was made before");
    launch(instantiated(graph));
    assert_eq!(client.download(b, 4), [1; 4]);
    ok!(cuGraphExecKernelNodeSetParams_v2(executable, node, given));
    launch(executable);
    assert_eq!(client.download(b, 4), [2; 4]);
    assert_eq!(client.download(a, 4), [1; 4]);
    let mut fill = Fill::default();
    let out = (&raw mut fill).cast();
    fails!(cuGraphMemsetNodeGetParams(node, out) with INVALID_VALUE);
}

unsafe extern "C" fn count(data: *mut c_void) {
    let count = unsafe { &*data.cast::<AtomicU32>() };
    count.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn other_nodes_tell_and_take_theirs() {
    let client = Client::new();
    let (a, b) = (client.upload(&[0; 4]), client.upload(&[0; 4]));
    let graph = new_graph();
    let filling = Fill::words(a, 7, 4);
    let first = add_fill(&client, graph, &[], filling);
    let (mut second, mut third) = (0, 0);
    let counts = [const { AtomicU32::new(0) }; 2];
    let host = |i: usize| Host {
        function: count,
        data: (&raw const counts[i]).cast_mut().cast(),
    };
    let (copying, calling) = (copy(b, a, 16), host(0));
    let context = client.context;
    let (from, call_back) = (copying.as_ptr().cast(), (&raw const calling).cast());
    ok! { cuGraphAddMemcpyNode(&mut second, graph, &first, 1, from, context) }
    ok!(cuGraphAddHostNode(&mut third, graph, &second, 1, call_back));
    let (mut fill, mut copied, mut called) = (Fill::default(), [0_u64; 25], host(1));
    ok!(cuGraphMemsetNodeGetParams(first, (&raw mut fill).cast()));
    assert_eq!((fill.to, fill.value, fill.element_bytes), (a, 7, 4));
    assert_eq!((fill.width, fill.height), (4, 1));
    ok! { cuGraphMemcpyNodeGetParams(second, copied.as_mut_ptr().cast()) }
    assert_eq!((copied[6], copied[17]), (a, b));
    assert_eq!(copied[22..], [16, 1, 1]);
    ok!(cuGraphHostNodeGetParams(third, (&raw mut called).cast()));
    assert_eq!(called.data, calling.data);

    let executable = instantiated(graph);
    let (new_fill, new_copy, new_call) = (Fill::words(a, 8, 2), copy(b, a, 8), host(1));
    let fill = (&raw const new_fill).cast();
    let copy_2 = new_copy.as_ptr().cast();
    let call_2 = (&raw const new_call).cast();
    ok!(cuGraphMemsetNodeSetParams(first, fill));
    ok!(cuGraphMemcpyNodeSetParams(second, copy_2));
    ok!(cuGraphHostNodeSetParams(third, call_2));
    launch(executable);
    assert_eq!(client.download(b, 4), [7; 4]);
    ok! { cuGraphExecMemsetNodeSetParams(executable, first, fill, context) }
    ok! { cuGraphExecMemcpyNodeSetParams(executable, second, copy_2, context) }
    ok!(cuGraphExecHostNodeSetParams(executable, third, call_2));
    launch(executable);
    assert_eq!(client.download(b, 4), [8, 8, 7, 7]);
    let counted = counts.each_ref().map(|n| n.load(Ordering::Relaxed));
    assert_eq!(counted, [1, 1]);
}

#[test]
fn graphs_record_and_await_events() {
    let client = Client::new();
    let (flag, out, event) = (Flag::new(), client.upload(&[0]), client.event());
    let (buffer, value, n) = (client.upload(&[0]), 9_u32, 1_u32);
    let streams = [client.stream(1), client.stream(1)];
    let params = [
        (&raw const flag.address).cast_mut().cast(),
        (&raw const out).cast_mut().cast(),
        (&raw const value).cast_mut().cast(),
    ];
    let kernel = Kernel::of(client.function("wait_then_store"), 1, &params);
    let (recording, waiting) = (new_graph(), new_graph());
    let (mut node, mut record, mut wait) = (0, 0, 0);
    let given = (&raw const kernel).cast();
    ok! { cuGraphAddKernelNode_v2(&mut node, recording, null(), 0, given) }
    ok! { cuGraphAddEventRecordNode(&mut record, recording, &node, 1, event) }
    ok! { cuGraphAddEventWaitNode(&mut wait, waiting, null(), 0, event) }
    ok(add_node(&client, waiting, &[wait], buffer, n).0);
    assert_eq!([record, wait].map(kind_of), [7, 6]);
    let recorded = got!(event of cuGraphEventRecordNodeGetEvent(record, &mut event));
    let awaited = got!(event of cuGraphEventWaitNodeGetEvent(wait, &mut event));
    assert_eq!((recorded, awaited), (event, event));

    ok!(cuGraphLaunch(instantiated(recording), streams[0]));
    ok!(cuGraphLaunch(instantiated(waiting), streams[1]));
    std::thread::sleep(std::time::Duration::from_millis(20));
    fails!(cuEventQuery(event) with NOT_READY);
    fails!(cuStreamQuery(streams[1]) with NOT_READY);
    flag.raise();
    ok!(cuStreamSynchronize(streams[1]));
    ok!(cuEventQuery(event));
    ok!(cuStreamSynchronize(streams[0]));
    assert_eq!(
        (client.download(out, 1), client.download(buffer, 1)),
        (vec![9], vec![1])
    );
}

#[test]
fn captured_events_can_be_nodes() {
    let client = Client::new();
    let (stream, event) = (client.stream(1), client.event());
    let (mut graph, mut n, mut nodes) = (0, 2, [0; 2]);
    let state = Status::ILLEGAL_STATE.0;
    assert_eq!(call!(cuEventRecordWithFlags(event, stream, 1)), state);
    assert_eq!(call!(cuStreamWaitEvent(stream, event, 1)), state);
    ok!(cuStreamBeginCapture_v2(stream, 2));
    ok!(cuEventRecordWithFlags(event, stream, 1));
    ok!(cuStreamWaitEvent(stream, event, 1));
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut n));
    assert_eq!(n, 2);
    assert_eq!(nodes.map(kind_of), [7, 6]);
}

#[test]
fn clones_and_graphs_in_graphs_are_graphs_of_their_own() {
    let client = Client::new();
    let (a, b) = (client.upload(&[0; 4]), client.upload(&[0; 4]));
    let (graph, [first, _]) = filled_and_added(&client, a, 10);
    let (mut clone, mut copy, outer, mut node, mut inner) = (0, 0, new_graph(), 0, 0);
    let other = Fill::words(b, 1, 4);
    let set = |node| {
        let fill = (&raw const other).cast();
        ok!(cuGraphMemsetNodeSetParams(node, fill));
    };
    ok!(cuGraphClone(&mut clone, graph));
    ok!(cuGraphAddChildGraphNode(&mut node, outer, null(), 0, graph));
    set(first);
    ok!(cuGraphNodeFindInClone(&mut copy, first, clone));
    assert_ne!(copy, first);
    launch(instantiated(clone));
    launch(instantiated(outer));
    assert_eq!(client.download(a, 4), [11; 4]);
    assert_eq!(client.download(b, 4), [0; 4]);

    ok!(cuGraphChildGraphNodeGetGraph(node, &mut inner));
    let (mut nodes, mut n) = ([0; 2], 2);
    ok!(cuGraphGetNodes(inner, nodes.as_mut_ptr(), &mut n));
    let executable = instantiated(outer);
    set(nodes[0]);
    launch(executable);
    assert_eq!(client.download(b, 4), [0; 4]);
    let changed = instantiated(outer);
    launch(changed);
    assert_eq!(client.download(b, 4), [1; 4]);
    assert_eq!(client.download(a, 4), [12; 4]);
    // The executable graph takes the work of a whole graph for its node.
    ok!(cuGraphExecChildGraphNodeSetParams(executable, node, graph));
    client.launch("add_one", 1, 4, &[&b, &4_u32]);
    launch(executable);
    assert_eq!(client.download(b, 4), [1; 4]);
    assert_eq!(client.download(a, 4), [13; 4]);
}

#[test]
fn nodes_of_any_kind_are_added_by_one_function() {
    let client = Client::new();
    let (buffer, n, graph) = (client.upload(&[0; 4]), 4_u32, new_graph());
    let params = [
        (&raw const buffer).cast_mut().cast(),
        (&raw const n).cast_mut().cast(),
    ];
    let kernel = Kernel::of(client.function("add_one"), n, &params);
    let event = client.event();
    let filled_with = |value| FillIn {
        fill: Fill::words(buffer, value, 4),
        context: client.context,
    };
    let empty = add_any(graph, &[], Any::of(5, 0_u64));
    let fill = add_any(graph, &[empty], Any::of(2, filled_with(5)));
    let added = add_any(graph, &[fill], Any::of(0, kernel));
    let record = add_any(graph, &[added], Any::of(7, event));
    assert_eq!([empty, fill, added, record].map(kind_of), [5, 2, 0, 7]);
    let executable = instantiated(graph);
    launch(executable);
    assert_eq!(client.download(buffer, 4), [6; 4]);
    ok!(cuEventSynchronize(event));
    let mut new = Any::of(2, filled_with(8));
    let given = (&raw mut new).cast();
    ok!(cuGraphExecNodeSetParams(executable, fill, given));
    launch(executable);
    assert_eq!(client.download(buffer, 4), [9; 4]);
    let mut enabled = 9;
    ok!(cuGraphNodeSetEnabled(executable, added, 0));
    ok!(cuGraphNodeGetEnabled(executable, added, &mut enabled));
    assert_eq!(enabled, 0);
    launch(executable);
    assert_eq!(client.download(buffer, 4), [8; 4]);
}

/// Each kernel runs in the context of its module, whichever context launches the graph: on several
/// devices here, or on one GPU where that is tested.
#[test]
fn a_graph_has_kernels_of_several_contexts() {
    let first = Client::new();
    let a = first.upload(&[5; 32]);
    let second = Client::on(i32::from(!is_real()));
    let b = second.upload(&[0; 32]);
    let graph = new_graph();
    let (status, added) = add_node(&first, graph, &[], a, 32);
    ok(status);
    let (mut copied, copy, context) = (0, copy(b, a, 128), first.context);
    let copy = (&raw const copy).cast();
    ok! { cuGraphAddMemcpyNode(&mut copied, graph, &added, 1, copy, context) }
    ok(add_node(&second, graph, &[copied], b, 32).0);
    let executable = instantiated(graph);
    for (n, context) in [(1, first.context), (2, second.context)] {
        ok!(cuCtxSetCurrent(context));
        launch(executable);
        assert_eq!(second.download(a, 32), [5 + n; 32]);
        assert_eq!(second.download(b, 32), [6 + n; 32]);
    }
    // A kernel stays in its context.
    let params = [
        (&raw const b).cast_mut().cast(),
        (&raw const a).cast_mut().cast(),
    ];
    let foreign = Kernel::of(second.function("add_one"), 32, &params);
    let foreign = (&raw const foreign).cast();
    fails!(cuGraphExecKernelNodeSetParams_v2(executable, added, foreign) with INVALID_VALUE);
}

/// In legacy streams, a graph's kernels come after earlier work in their own contexts, and before
/// later work there.
#[test]
fn a_graph_in_a_legacy_stream_is_ordered_in_all_its_contexts() {
    // GPUs make no such promise.
    if is_real() {
        return;
    }
    let first = Client::new();
    let second = Client::on(1);
    let (b, out, flag) = (second.upload(&[0]), second.upload(&[0]), Flag::new());
    let params: [&dyn crate::client::Parameter; 3] = [&flag.address, &b, &9_u32];
    let (graph, inner) = (new_graph(), new_graph());
    ok(add_node(&second, inner, &[], b, 1).0);
    got!(node of cuGraphAddChildGraphNode(&mut node, graph, null(), 0, inner));
    let executable = instantiated(graph);
    ok(second.try_launch("wait_then_store", (1, 1, 0), &params));
    ok!(cuCtxSetCurrent(first.context));
    launch(executable);
    ok!(cuCtxSetCurrent(second.context));
    ok!(cuMemcpyDtoDAsync_v2(out, b, 4, second.stream(0)));
    flag.raise();
    assert_eq!(second.download(out, 1), [10]);
}

#[test]
fn graphs_are_drawn() {
    let client = Client::new();
    let buffer = client.upload(&[0; 4]);
    let (graph, _) = filled_and_added(&client, buffer, 1);
    let path = std::env::temp_dir().join(format!("lockstep-{}.dot", std::process::id()));
    let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("no nul");
    ok!(cuGraphDebugDotPrint(graph, name.as_ptr(), 0));
    let drawn = std::fs::read_to_string(&path).expect("it was written");
    std::fs::remove_file(&path).expect("it was written");
    assert!(drawn.starts_with("digraph"), "{drawn}");
    assert!(drawn.contains("->"), "{drawn}");
}
