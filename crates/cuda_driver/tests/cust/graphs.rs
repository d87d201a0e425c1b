//! Graphs: recorded from a `cust` stream, or made node by node. `cust` does not export its own
//! wrapper, so these use the driver's functions, through `cust::sys`.

use std::ffi::c_void;
use std::ptr::null_mut;

use cust::memory::DeviceBuffer;
use cust::stream::Stream;
use cust::sys::{self, CUgraph, CUgraphExec, CUgraphNode, CUstreamCaptureMode};

use crate::{Program, values};

/// Asserts that a call has succeeded.
#[track_caller]
fn ok(code: sys::cudaError_enum) {
    assert_eq!(code, sys::cudaError_enum::CUDA_SUCCESS);
}

// Newer than the bindings of `cust`.
unsafe extern "C" {
    fn cuGraphInstantiateWithFlags(
        exec: *mut CUgraphExec,
        graph: CUgraph,
        flags: u64,
    ) -> sys::cudaError_enum;
}

/// Runs a graph several times, and destroys it.
fn run(graph: CUgraph, stream: &Stream, n_runs: usize) {
    let mut exec = null_mut();
    // SAFETY: the graph is complete, and its buffers outlive the runs.
    unsafe {
        ok(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        for _ in 0..n_runs {
            ok(sys::cuGraphLaunch(exec, stream.as_inner()));
        }
        stream.synchronize().expect("done");
        ok(sys::cuGraphExecDestroy(exec));
        ok(sys::cuGraphDestroy(graph));
    }
}

#[test]
fn what_a_stream_records_runs_as_often_as_launched() {
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[1.0_f32; 100]).expect("room");
    let stream = &program.stream;
    let mut graph = null_mut();
    // SAFETY: the stream lives, and is recorded by this thread only.
    unsafe {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        ok(sys::cuStreamBeginCapture_v2(stream.as_inner(), mode));
        program.saxpy(stream, 1.0, &x, &x);
        program.saxpy(stream, 0.5, &x, &x);
        ok(sys::cuStreamEndCapture(stream.as_inner(), &mut graph));
    }
    assert_eq!(values(&x), [1.0; 100]);
    run(graph, stream, 4);
    assert_eq!(values(&x), [81.0; 100]);
}

/// Adds `y = a * x + y` as a node.
fn add_saxpy(
    program: &Program,
    graph: CUgraph,
    after: &[CUgraphNode],
    mut params: [*mut c_void; 4],
) -> CUgraphNode {
    let function = program.module.get_function("saxpy").expect("it is there");
    let params = sys::CUDA_KERNEL_NODE_PARAMS {
        func: function.to_raw(),
        gridDimX: 8,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 128,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: params.as_mut_ptr(),
        extra: null_mut(),
    };
    let mut node = null_mut();
    // SAFETY: the driver copies what it is given before it returns.
    ok(unsafe {
        sys::cuGraphAddKernelNode(&mut node, graph, after.as_ptr(), after.len(), &params)
    });
    node
}

#[test]
fn nodes_run_after_those_that_they_depend_on() {
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[1.0_f32; 1000]).expect("room");
    let y = DeviceBuffer::from_slice(&[0.0_f32; 1000]).expect("room");
    let (mut x_at, mut y_at) = (x.as_device_ptr(), y.as_device_ptr());
    let (mut two, mut half, mut n) = (2.0_f32, 0.5_f32, 1000_u32);
    let n = (&raw mut n).cast();
    let (x_at, y_at): (*mut c_void, *mut c_void) = ((&raw mut x_at).cast(), (&raw mut y_at).cast());
    let mut graph = null_mut();
    // SAFETY: it writes the graph's handle.
    ok(unsafe { sys::cuGraphCreate(&mut graph, 0) });
    let first = add_saxpy(&program, graph, &[], [x_at, y_at, (&raw mut two).cast(), n]);
    add_saxpy(
        &program,
        graph,
        &[first],
        [y_at, y_at, (&raw mut half).cast(), n],
    );
    let mut n_nodes = 0;
    // SAFETY: it writes the number only.
    ok(unsafe { sys::cuGraphGetNodes(graph, null_mut(), &mut n_nodes) });
    assert_eq!(n_nodes, 2);
    run(graph, &program.stream, 3);
    let expected = (0..3).fold(0.0_f32, |y, _| (y + 2.0) * 1.5);
    assert_eq!(values(&y), [expected; 1000]);
}
