//! Streams, events, graphs, host calls.

use std::ffi::c_void;

use sim_runtime::api::copy::*;
use sim_runtime::api::graph::*;
use sim_runtime::api::graph_node::*;
use sim_runtime::api::launch::*;
use sim_runtime::api::memory::*;
use sim_runtime::api::set::*;
use sim_runtime::api::stream::*;
use sim_runtime::layouts::Dim3;

use crate::client::{Parameter, Program, ok};

const ONE: Dim3 = Dim3 { x: 1, y: 1, z: 1 };

unsafe extern "C" fn count(data: *mut c_void) {
    unsafe { *data.cast::<u32>() += 1 };
}

#[test]
fn a_captured_graph_runs_as_often_as_launched() {
    let program = Program::new();
    let (mut stream, mut graph, mut executable, mut buffer) = (0, 0, 0, 0);
    let (mut n_calls, mut back) = (0_u32, 0);
    unsafe {
        ok!(cudaStreamCreateWithFlags(&mut stream, 1));
        ok!(cudaMallocAsync(&mut buffer, 4, stream));
        ok!(cudaMemsetAsync(buffer, 0, 4, stream));
        ok!(cudaStreamBeginCapture(stream, 2));
        for value in [1_i32, 10] {
            let params = [buffer.address(), value.address()];
            let params = params.as_ptr();
            ok!(cudaLaunchKernel(program.add(), ONE, ONE, params, 0, stream));
        }
        ok! { cudaLaunchHostFunc(stream, Some(count), (&raw mut n_calls).cast()) }
        ok!(cudaStreamEndCapture(stream, &mut graph));
        ok!(cudaGraphInstantiate(&mut executable, graph, 0));
        for _ in 0..3 {
            ok!(cudaGraphLaunch(executable, stream));
        }
        ok!(cudaMemcpyAsync(&raw mut back as u64, buffer, 4, 2, stream));
        ok!(cudaStreamSynchronize(stream));
        assert_eq!((back, n_calls), (33, 3));
        ok!(cudaGraphExecDestroy(executable));
        ok!(cudaGraphDestroy(graph));
        ok!(cudaFreeAsync(buffer, stream));
        ok!(cudaStreamDestroy(stream));
        assert_eq!(cudaStreamSynchronize(stream), 400);
    }
}

/// `cudaKernelNodeParams`, as C lays it out.
#[repr(C)]
struct Kernel {
    function: usize,
    grid: Dim3,
    block: Dim3,
    shared_bytes: u32,
    params: *const *mut c_void,
    extra: *const *mut c_void,
}

/// A graph that adds a value to a word once it is copied, and its nodes.
fn copied_and_added(program: &Program, to: u64, from: u64, value: i32) -> (usize, [usize; 2]) {
    let (mut graph, mut nodes, none) = (0, [0; 2], std::ptr::null());
    let params = [to.address(), value.address()];
    let kernel = Kernel {
        function: program.add(),
        grid: ONE,
        block: ONE,
        shared_bytes: 0,
        params: params.as_ptr(),
        extra: std::ptr::null(),
    };
    ok!(cudaGraphCreate(&mut graph, 0));
    ok! { cudaGraphAddMemcpyNode1D(&mut nodes[0], graph, none, 0, to, from, 4, 3) }
    let kernel = (&raw const kernel).cast();
    let (first, second) = nodes.split_at_mut(1);
    ok! { cudaGraphAddKernelNode(&mut second[0], graph, first.as_ptr(), 1, kernel) }
    (graph, nodes)
}

#[test]
fn a_graph_is_updated_and_its_nodes_are_asked() {
    let program = Program::new();
    let (from, to) = (program.upload(&[5]), program.upload(&[0]));
    let (graph, nodes) = copied_and_added(&program, to, from, 1);
    let (other, _) = copied_and_added(&program, to, from, 10);
    let mut executable = 0;
    let mut told = [9_usize; 3];
    unsafe {
        ok!(cudaGraphInstantiate(&mut executable, graph, 0));
        ok!(cudaGraphLaunch(executable, 0));
        assert_eq!(program.download(to, 1), [6]);
        ok! { cudaGraphExecUpdate(executable, other, told.as_mut_ptr().cast()) }
        ok!(cudaGraphLaunch(executable, 0));
        assert_eq!(program.download(to, 1), [15]);

        let mut kernel = std::mem::zeroed::<Kernel>();
        ok! { cudaGraphKernelNodeGetParams(nodes[1], (&raw mut kernel).cast()) }
        assert_eq!((kernel.function, kernel.block), (program.add(), ONE));
        assert_eq!(*(*kernel.params.add(1)).cast::<i32>(), 1);
        let value = 100_i32;
        let params = [*kernel.params, value.address()];
        kernel.params = params.as_ptr();
        ok! { cudaGraphKernelNodeSetParams(nodes[1], (&raw const kernel).cast()) }
        // `cudaMemcpy3DParms`: arrays, positions and pitched pointers, twice; extent and kind.
        let mut copy = [0_u64; 20];
        ok! { cudaGraphMemcpyNodeGetParams(nodes[0], copy.as_mut_ptr().cast()) }
        assert_eq!(
            (copy[4], copy[12], &copy[16..19]),
            (from, to, &[4, 1, 1][..])
        );
        ok!(cudaGraphMemcpyNodeSetParams(nodes[0], copy.as_ptr().cast()));
        ok! { cudaGraphExecUpdate(executable, graph, told.as_mut_ptr().cast()) }
        ok!(cudaGraphLaunch(executable, 0));
        assert_eq!(program.download(to, 1), [105]);
        ok!(cudaGraphDestroyNode(nodes[1]));
        let changed = cudaGraphExecUpdate(executable, graph, told.as_mut_ptr().cast());
        assert_eq!((changed, told[0] as u32), (910, 2));
    }
}

#[test]
fn variants_use_the_threads_own_stream() {
    let program = Program::new();
    let (mut own, mut legacy, mut explicit) = (0, 0, 0);
    let buffer = program.upload(&[0]);
    let mut back = 0;
    ok!(cudaStreamGetId(0, &mut legacy));
    ok!(cudaStreamGetId_ptsz(0, &mut own));
    ok!(cudaStreamGetId(2, &mut explicit));
    assert!(own == explicit && own != legacy);
    ok!(cudaStreamGetId_ptsz(1, &mut explicit));
    assert_eq!(explicit, legacy);
    let value = 4_i32;
    let params = [buffer.address(), value.address()];
    ok! { cudaLaunchKernel_ptsz(program.add(), ONE, ONE, params.as_ptr(), 0, 0) }
    ok!(cudaMemcpy_ptds(&raw mut back as u64, buffer, 4, 4));
    assert_eq!(back, 4);
}

#[test]
fn events_tell_the_time_between_them() {
    let program = Program::new();
    let buffer = program.upload(&[0]);
    let (mut start, mut end, mut milliseconds) = (0, 0, -1.0);
    unsafe {
        ok!(cudaEventCreate(&mut start));
        ok!(cudaEventCreateWithFlags(&mut end, 1));
        ok!(cudaEventRecord(start, 0));
        ok(program.launch(&program.add, 1, &[&buffer, &1_i32]));
        ok!(cudaEventRecord(end, 0));
        ok!(cudaEventSynchronize(end));
        ok!(cudaEventQuery(end));
        ok!(cudaEventElapsedTime(&mut milliseconds, start, end));
        assert!(milliseconds >= 0.0);
        ok!(cudaEventDestroy(start));
        assert_eq!(cudaEventDestroy(start), 400);
        ok!(cudaEventDestroy(end));
    }
}
