//! Wrong, freed and foreign handles: each is an error, and nothing else.

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::event::*;
use sim_driver::api::graph::*;
use sim_driver::api::kernel::*;
use sim_driver::api::launch::*;
use sim_driver::api::library::*;
use sim_driver::api::memory::*;
use sim_driver::api::module::*;
use sim_driver::api::stream::*;

use crate::client::Client;
use crate::under_test::{call, fails, is_real, ok};

const HANDLE: u32 = Status::INVALID_HANDLE.0;

#[test]
fn wrong_handles_are_told() {
    // A real driver takes a handle for the address that it is.
    if is_real() {
        return;
    }
    let client = Client::new();
    let (stream, event, function) = (client.stream(0), client.event(), client.function("bump"));
    let null = std::ptr::null();
    let (mut number, mut address) = (0, 0);
    for wrong in [3, 0xdead_beef, usize::MAX, stream + 1, client.context] {
        fails!(cuStreamSynchronize(wrong) with INVALID_HANDLE);
        fails!(cuStreamDestroy_v2(wrong) with INVALID_HANDLE);
        fails!(cuEventRecord(wrong, stream) with INVALID_HANDLE);
        fails!(cuEventRecord(event, wrong) with INVALID_HANDLE);
        fails!(cuEventSynchronize(wrong) with INVALID_HANDLE);
        fails!(cuModuleUnload(wrong) with INVALID_HANDLE);
        fails!(cuLibraryUnload(wrong) with INVALID_HANDLE);
        fails!(cuFuncGetAttribute(&mut number, 0, wrong) with INVALID_HANDLE);
        fails!(cuGraphDestroy(wrong) with INVALID_VALUE);
        fails!(cuGraphLaunch(wrong, stream) with INVALID_VALUE);
        let launch = |function, stream| {
            call! { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, null, null) }
        };
        assert_eq!(launch(wrong, stream), HANDLE);
        assert_eq!(launch(function, wrong), HANDLE);
        let mut found = 0;
        fails!(cuModuleGetFunction(&mut found, wrong, c"bump".as_ptr()) with INVALID_HANDLE);
    }
    fails!(cuStreamSynchronize(event) with INVALID_HANDLE);
    fails!(cuEventSynchronize(stream) with INVALID_HANDLE);
    fails!(cuCtxSetCurrent(stream) with INVALID_CONTEXT);
    fails!(cuMemFree_v2(client.alloc(8) + 4) with INVALID_VALUE);
    fails!(cuMemFree_v2(12345) with INVALID_VALUE);
    fails!(cuMemAlloc_v2(std::ptr::null_mut(), 4) with INVALID_VALUE);
    fails!(cuMemAlloc_v2(&mut address, 0) with INVALID_VALUE);
    fails!(cuMemAlloc_v2(&mut address, 1 << 42) with OUT_OF_MEMORY);
    ok!(cuCtxSynchronize());
}

#[test]
fn freed_handles_are_told() {
    // A real driver takes a handle for the address that it is.
    if is_real() {
        return;
    }
    let client = Client::new();
    let (stream, event, function) = (client.stream(0), client.event(), client.function("bump"));
    let address = client.alloc(16);
    let null = std::ptr::null();
    ok!(cuStreamDestroy_v2(stream));
    fails!(cuStreamDestroy_v2(stream) with INVALID_HANDLE);
    fails!(cuStreamQuery(stream) with INVALID_HANDLE);
    ok!(cuEventDestroy_v2(event));
    fails!(cuEventDestroy_v2(event) with INVALID_HANDLE);
    fails!(cuEventQuery(event) with INVALID_HANDLE);
    ok!(cuMemFree_v2(address));
    fails!(cuMemFree_v2(address) with INVALID_VALUE);
    ok!(cuModuleUnload(client.module));
    fails!(cuModuleUnload(client.module) with INVALID_HANDLE);
    fails!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, null, null) with INVALID_HANDLE);
}

#[test]
fn other_contexts_functions_and_events_are_refused() {
    let first = Client::new();
    let (function, event) = (first.function("bump"), first.event());
    let second = Client::new();
    let null = std::ptr::null();
    fails!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, null, null) with INVALID_HANDLE);
    fails!(cuEventRecord(event, 0) with INVALID_HANDLE);
    ok!(cuCtxSetCurrent(first.context));
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, null, null));
    ok!(cuCtxSetCurrent(second.context));
}
