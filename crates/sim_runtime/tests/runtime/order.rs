//! Streams, events, graphs, calls of the host.

use std::ffi::c_void;

use sim_runtime::api::copy::*;
use sim_runtime::api::event::*;
use sim_runtime::api::graph::*;
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
        ok(cudaStreamCreateWithFlags(&mut stream, 1));
        ok(cudaMallocAsync(&mut buffer, 4, stream));
        ok(cudaMemsetAsync(buffer, 0, 4, stream));
        ok(cudaStreamBeginCapture(stream, 0));
        for value in [1_i32, 10] {
            let params = [buffer.address(), value.address()];
            let params = params.as_ptr();
            ok(cudaLaunchKernel(program.add(), ONE, ONE, params, 0, stream));
        }
        ok(cudaLaunchHostFunc(
            stream,
            Some(count),
            (&raw mut n_calls).cast(),
        ));
        ok(cudaStreamEndCapture(stream, &mut graph));
        ok(cudaGraphInstantiate(&mut executable, graph, 0));
        for _ in 0..3 {
            ok(cudaGraphLaunch(executable, stream));
        }
        ok(cudaMemcpyAsync(&raw mut back as u64, buffer, 4, 2, stream));
        ok(cudaStreamSynchronize(stream));
        assert_eq!((back, n_calls), (33, 3));
        ok(cudaGraphExecDestroy(executable));
        ok(cudaGraphDestroy(graph));
        ok(cudaFreeAsync(buffer, stream));
        ok(cudaStreamDestroy(stream));
        assert_eq!(cudaStreamSynchronize(stream), 400);
    }
}

#[test]
fn twins_use_the_threads_own_stream() {
    let program = Program::new();
    let (mut own, mut legacy, mut explicit) = (0, 0, 0);
    let buffer = program.upload(&[0]);
    let mut back = 0;
    unsafe {
        ok(cudaStreamGetId(0, &mut legacy));
        ok(cudaStreamGetId_ptsz(0, &mut own));
        ok(cudaStreamGetId(2, &mut explicit));
        assert!(own == explicit && own != legacy);
        ok(cudaStreamGetId_ptsz(1, &mut explicit));
        assert_eq!(explicit, legacy);
        let value = 4_i32;
        let params = [buffer.address(), value.address()];
        ok(cudaLaunchKernel_ptsz(
            program.add(),
            ONE,
            ONE,
            params.as_ptr(),
            0,
            0,
        ));
        ok(cudaMemcpy_ptds(&raw mut back as u64, buffer, 4, 4));
    }
    assert_eq!(back, 4);
}

#[test]
fn events_tell_the_time_between_them() {
    let program = Program::new();
    let buffer = program.upload(&[0]);
    let (mut start, mut end, mut milliseconds) = (0, 0, -1.0);
    unsafe {
        ok(cudaEventCreate(&mut start));
        ok(cudaEventCreateWithFlags(&mut end, 1));
        ok(cudaEventRecord(start, 0));
        ok(program.launch(&program.add, 1, &[&buffer, &1_i32]));
        ok(cudaEventRecord(end, 0));
        ok(cudaEventSynchronize(end));
        ok(cudaEventQuery(end));
        ok(cudaEventElapsedTime(&mut milliseconds, start, end));
        assert!(milliseconds >= 0.0);
        ok(cudaEventDestroy(start));
        assert_eq!(cudaEventDestroy(start), 400);
        ok(cudaEventDestroy(end));
    }
}
