//! Graphs, made by hand and captured.

use std::ffi::c_void;

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::event::*;
use sim_driver::api::graph::*;
use sim_driver::api::graph_node::*;
use sim_driver::api::stream::*;

use crate::client::{Client, ok};
use crate::under_test::{call, fails, got, is_real, ok};

/// `CUDA_KERNEL_NODE_PARAMS_v2`, as C lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Kernel {
    pub function: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub params: *const *mut c_void,
    pub extra: *const *mut c_void,
    pub kernel: usize,
    pub context: usize,
}

impl Kernel {
    /// A launch of one block; null if there is no function.
    pub fn of(function: usize, n_threads: u32, params: &[*mut c_void]) -> Self {
        Self {
            function,
            grid: [1; 3],
            block: [n_threads, 1, 1],
            shared_bytes: 0,
            params: params.as_ptr(),
            extra: std::ptr::null(),
            kernel: 0,
            context: 0,
        }
    }
}

/// Adds a node that adds one to all of `n` words.
pub fn add_node(
    client: &Client,
    graph: usize,
    after: &[usize],
    buffer: u64,
    n: u32,
) -> (u32, usize) {
    let params = [
        (&raw const buffer).cast_mut().cast(),
        (&raw const n).cast_mut().cast(),
    ];
    let kernel = Kernel::of(client.function("add_one"), n, &params);
    let mut node = 0;
    let kernel = (&raw const kernel).cast();
    let status = call! {
        cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), kernel)
    };
    (status, node)
}

pub fn instantiated(graph: usize) -> usize {
    got!(executable of cuGraphInstantiateWithFlags(&mut executable, graph, 0))
}

#[test]
fn nodes_run_after_those_they_depend_on() {
    let client = Client::new();
    let buffer = client.upload(&[0; 8]);
    let graph = got!(graph of cuGraphCreate(&mut graph, 0));
    let mut last = Vec::new();
    for _ in 0..20 {
        let (status, node) = add_node(&client, graph, &last, buffer, 8);
        ok(status);
        last = vec![node];
    }
    // A real driver takes a handle for the address that it is.
    if !is_real() {
        let (status, _) = add_node(&client, graph, &[12345], buffer, 8);
        assert_eq!(status, Status::INVALID_VALUE.0);
    }
    let n = got!(n of cuGraphGetNodes(graph, std::ptr::null_mut(), &mut n));
    assert_eq!(n, 20);
    let executable = instantiated(graph);
    ok!(cuGraphDestroy(graph));
    let stream = client.stream(0);
    for _ in 0..10 {
        ok!(cuGraphLaunch(executable, stream));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(client.download(buffer, 8), [200; 8]);
    ok!(cuGraphExecDestroy(executable));
    if !is_real() {
        fails!(cuGraphLaunch(executable, stream) with INVALID_VALUE);
    }
}

#[test]
fn circles_are_refused() {
    let client = Client::new();
    let buffer = client.upload(&[0; 8]);
    let (mut graph, mut executable) = (0, 0);
    ok!(cuGraphCreate(&mut graph, 0));
    let (_, a) = add_node(&client, graph, &[], buffer, 8);
    let (_, b) = add_node(&client, graph, &[a], buffer, 8);
    ok!(cuGraphAddDependencies(graph, &b, &a, 1));
    fails!(cuGraphInstantiateWithFlags(&mut executable, graph, 0) with INVALID_VALUE);
    ok!(cuGraphRemoveDependencies(graph, &b, &a, 1));
    instantiated(graph);
}

#[test]
fn captured_work_is_done_when_the_graph_is_launched() {
    let client = Client::new();
    let (first, second) = (client.stream(1), client.stream(1));
    let (buffer, other) = (client.upload(&[0; 4]), client.upload(&[0; 4]));
    let (fork, join) = (client.event(), client.event());
    let add = |stream, buffer: u64| {
        ok(client.try_launch("add_one", (1, 4, stream), &[&buffer, &4_u32]));
    };
    let mut graph = 0;
    ok!(cuStreamBeginCapture_v2(first, 0));
    add(first, buffer);
    ok!(cuEventRecord(fork, first));
    ok!(cuStreamWaitEvent(second, fork, 0));
    add(second, other);
    add(first, buffer);
    let capturing = got!(capturing of cuStreamIsCapturing(second, &mut capturing));
    assert_eq!(capturing, 1);
    ok!(cuEventRecord(join, second));
    ok!(cuStreamWaitEvent(first, join, 0));
    ok!(cuStreamEndCapture(first, &mut graph));
    assert_eq!(client.download(buffer, 4), [0; 4]);
    let executable = instantiated(graph);
    ok!(cuGraphLaunch(executable, second));
    ok!(cuStreamSynchronize(second));
    assert_eq!(client.download(buffer, 4), [2; 4]);
    assert_eq!(client.download(other, 4), [1; 4]);
    let mut n = 0;
    ok! { cuGraphGetEdges(graph, std::ptr::null_mut(), std::ptr::null_mut(), &mut n) }
    assert_eq!(n, 2);
}

#[test]
fn waiting_for_what_is_captured_is_refused() {
    let client = Client::new();
    let (stream, event) = (client.stream(1), client.event());
    let mut graph = 0;
    ok!(cuStreamBeginCapture_v2(stream, 2));
    ok!(cuEventRecord(event, stream));
    fails!(cuEventQuery(event) with CAPTURED_EVENT);
    // That ended the capture.
    fails!(cuEventSynchronize(event) with INVALID_VALUE);
    fails!(cuStreamEndCapture(stream, &mut graph) with STREAM_CAPTURE_INVALIDATED);
    fails!(cuEventQuery(event) with INVALID_VALUE);
    ok!(cuStreamBeginCapture_v2(stream, 2));
    fails!(cuStreamSynchronize(stream) with STREAM_CAPTURE_UNSUPPORTED);
    fails!(cuStreamEndCapture(stream, &mut graph) with STREAM_CAPTURE_INVALIDATED);
    ok!(cuStreamSynchronize(stream));
}

#[test]
fn a_capture_that_is_not_joined_is_refused() {
    let client = Client::new();
    let (first, second) = (client.stream(1), client.stream(1));
    let fork = client.event();
    let mut graph = 0;
    fails!(cuStreamEndCapture(first, &mut graph) with ILLEGAL_STATE);
    fails!(cuStreamBeginCapture_v2(0, 0) with STREAM_CAPTURE_UNSUPPORTED);
    ok!(cuStreamBeginCapture_v2(first, 0));
    ok!(cuEventRecord(fork, first));
    ok!(cuStreamWaitEvent(second, fork, 0));
    ok(client.try_launch("bump", (1, 1, second), &[]));
    fails!(cuStreamEndCapture(first, &mut graph) with STREAM_CAPTURE_UNJOINED);
    ok!(cuStreamSynchronize(first));
    ok!(cuCtxSynchronize());
}
