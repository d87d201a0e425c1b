//! Graphs, made by hand and captured.

use std::ffi::c_void;
use std::process::Command;

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::event::*;
use sim_driver::api::graph::*;
use sim_driver::api::graph_node::*;
use sim_driver::api::memory::*;
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
    ok!(cuStreamBeginCapture_v2(first, 2));
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
    ok!(cuStreamBeginCapture_v2(first, 2));
    ok!(cuEventRecord(fork, first));
    ok!(cuStreamWaitEvent(second, fork, 0));
    ok(client.try_launch("bump", (1, 1, second), &[]));
    fails!(cuStreamEndCapture(first, &mut graph) with STREAM_CAPTURE_UNJOINED);
    ok!(cuStreamSynchronize(first));
    ok!(cuCtxSynchronize());
}

/// `CU_STREAM_CAPTURE_STATUS_…`: none, active, invalidated.
fn status_of(stream: usize) -> u32 {
    got!(status of cuStreamIsCapturing(stream, &mut status))
}

/// Captures a stream and does something, which invalidates the capture.
#[track_caller]
fn spoils(stream: usize, mode: u32, work: impl FnOnce()) {
    let mut graph = 0;
    ok!(cuStreamBeginCapture_v2(stream, mode));
    work();
    assert_eq!(status_of(stream), 2);
    fails!(cuStreamEndCapture(stream, &mut graph) with STREAM_CAPTURE_INVALIDATED);
    assert_eq!(status_of(stream), 0);
}

/// The same for something that does not.
#[track_caller]
fn spares(stream: usize, mode: u32, work: impl FnOnce()) {
    ok!(cuStreamBeginCapture_v2(stream, mode));
    work();
    got!(graph of cuStreamEndCapture(stream, &mut graph));
}

fn alloc() -> u32 {
    let mut address = 0;
    call!(cuMemAlloc_v2(&mut address, 64))
}

const UNSUPPORTED: u32 = Status::STREAM_CAPTURE_UNSUPPORTED.0;

#[test]
fn the_legacy_stream_cannot_wait_for_a_captured_one() {
    let client = Client::new();
    let launch = |stream| client.try_launch("bump", (1, 1, stream), &[]);
    let (stream, other) = (client.stream(0), client.stream(1));
    spoils(stream, 2, || {
        let mut status = 9;
        fails!(cuStreamIsCapturing(0, &mut status) with STREAM_CAPTURE_IMPLICIT);
        assert_eq!(status_of(stream), 1);
        assert_eq!(launch(0), Status::STREAM_CAPTURE_IMPLICIT.0);
        assert_eq!(launch(stream), Status::STREAM_CAPTURE_INVALIDATED.0);
    });
    let event = client.event();
    spoils(
        stream,
        2,
        || fails!(cuStreamQuery(0) with STREAM_CAPTURE_IMPLICIT),
    );
    spoils(
        stream,
        2,
        || fails!(cuEventRecord(event, 0) with STREAM_CAPTURE_IMPLICIT),
    );
    spares(other, 2, || ok(launch(0)));
    // Nor for one that is destroyed.
    ok!(cuStreamBeginCapture_v2(stream, 2));
    ok!(cuStreamDestroy_v2(stream));
    ok(launch(0));
    ok!(cuCtxSynchronize());
}

#[test]
fn what_cannot_be_captured_spoils_a_capture() {
    let client = Client::new();
    let (a, b, event) = (client.stream(1), client.stream(1), client.event());
    let (mut graph, mut flags) = (0, 0);
    // The event of a capture that is over.
    spares(a, 2, || ok!(cuEventRecord(event, a)));
    fails!(cuStreamWaitEvent(b, event, 0) with INVALID_VALUE);
    // That of another capture.
    spoils(a, 2, || {
        ok!(cuEventRecord(event, a));
        spoils(
            b,
            2,
            || fails!(cuStreamWaitEvent(b, event, 0) with STREAM_CAPTURE_MERGE),
        );
    });
    spoils(a, 2, || {
        ok!(cuEventRecord(event, a));
        ok!(cuStreamWaitEvent(b, event, 0));
        fails!(cuStreamEndCapture(b, &mut graph) with STREAM_CAPTURE_UNMATCHED);
    });
    ok!(cuEventRecord(event, b));
    spoils(
        a,
        2,
        || fails!(cuStreamWaitEvent(a, event, 0) with STREAM_CAPTURE_ISOLATION),
    );
    let (mut device, mut id) = (0, 0);
    spoils(a, 2, || {
        fails!(cuStreamGetFlags(a, &mut flags) with STREAM_CAPTURE_UNSUPPORTED);
    });
    spoils(a, 2, || {
        fails!(cuStreamGetDevice(a, &mut device) with STREAM_CAPTURE_UNSUPPORTED);
    });
    spoils(a, 2, || {
        fails!(cuStreamGetId(a, &mut id) with STREAM_CAPTURE_UNSUPPORTED);
    });
    spoils(
        a,
        2,
        || fails!(cuCtxSynchronize() with STREAM_CAPTURE_UNSUPPORTED),
    );
    let executable = instantiated(got!(graph of cuGraphCreate(&mut graph, 0)));
    spoils(
        a,
        2,
        || fails!(cuGraphLaunch(executable, a) with STREAM_CAPTURE_UNSUPPORTED),
    );
    spares(a, 2, || {
        let mut milliseconds = 0.0;
        ok!(cuEventRecord(event, a));
        fails!(cuEventElapsedTime(&mut milliseconds, event, event) with CAPTURED_EVENT);
    });
}

#[test]
fn a_capture_forbids_its_thread_what_could_depend_on_it() {
    let client = Client::new();
    let (stream, other, event) = (client.stream(1), client.stream(1), client.event());
    spoils(stream, 1, || assert_eq!(alloc(), UNSUPPORTED));
    spoils(
        stream,
        1,
        || fails!(cuStreamQuery(other) with STREAM_CAPTURE_UNSUPPORTED),
    );
    spoils(
        stream,
        1,
        || fails!(cuEventSynchronize(event) with STREAM_CAPTURE_UNSUPPORTED),
    );
    spares(stream, 1, || {
        client.event();
        ok(client.try_launch("bump", (1, 1, 0), &[]));
        // Another thread may, and this one if it says so.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ok!(cuCtxSetCurrent(client.context));
                ok(alloc());
            });
        });
        let mut mode = 2;
        ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
        ok(alloc());
        ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
        assert_eq!(mode, 2);
    });
    spares(stream, 2, || ok(alloc()));
}

#[test]
fn another_thread_ends_only_relaxed_captures() {
    let client = Client::new();
    let stream = client.stream(0);
    for (mode, expected) in [(1, Status::STREAM_CAPTURE_WRONG_THREAD.0), (2, 0)] {
        ok!(cuStreamBeginCapture_v2(stream, mode));
        let end = || {
            ok!(cuCtxSetCurrent(client.context));
            let mut graph = 0;
            call!(cuStreamEndCapture(stream, &mut graph))
        };
        let ended = std::thread::scope(|scope| scope.spawn(end).join().expect("it ends"));
        assert_eq!(ended, expected);
        let mut graph = 0;
        fails!(cuStreamEndCapture(stream, &mut graph) with ILLEGAL_STATE);
        ok(client.try_launch("bump", (1, 1, 0), &[]));
    }
}

/// It forbids all other tests' threads what it forbids its own.
#[test]
#[ignore = "runs in a process of its own, by the next test"]
fn a_global_capture() {
    let client = Client::new();
    let stream = client.stream(1);
    let elsewhere = |mode: u32| {
        let work = || {
            let mut mode = mode;
            ok!(cuCtxSetCurrent(client.context));
            ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
            alloc()
        };
        std::thread::scope(|scope| scope.spawn(work).join().expect("it ends"))
    };
    spoils(stream, 0, || assert_eq!(elsewhere(0), UNSUPPORTED));
    spares(stream, 0, || ok(elsewhere(1)));
    let mut graph = 0;
    ok!(cuStreamBeginCapture(stream));
    assert_eq!(alloc(), UNSUPPORTED);
    fails!(cuStreamEndCapture(stream, &mut graph) with STREAM_CAPTURE_INVALIDATED);
}

#[test]
fn a_global_capture_forbids_all_threads_the_same() {
    let mut command = Command::new(std::env::current_exe().expect("this one"));
    let status = command.args(["--exact", "graphs::a_global_capture", "--ignored"]);
    assert!(status.status().expect("it runs").success());
}
