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
use crate::under_test::{call, is_real, ok};

const HANDLE: u32 = Status::INVALID_HANDLE.0;
const VALUE: u32 = Status::INVALID_VALUE.0;

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
        assert_eq!(call!(cuStreamSynchronize(wrong)), HANDLE);
        assert_eq!(call!(cuStreamDestroy_v2(wrong)), HANDLE);
        assert_eq!(call!(cuEventRecord(wrong, stream)), HANDLE);
        assert_eq!(call!(cuEventRecord(event, wrong)), HANDLE);
        assert_eq!(call!(cuEventSynchronize(wrong)), HANDLE);
        assert_eq!(call!(cuModuleUnload(wrong)), HANDLE);
        assert_eq!(call!(cuLibraryUnload(wrong)), HANDLE);
        assert_eq!(call!(cuFuncGetAttribute(&mut number, 0, wrong)), HANDLE);
        assert_eq!(call!(cuGraphDestroy(wrong)), VALUE);
        assert_eq!(call!(cuGraphLaunch(wrong, stream)), VALUE);
        let launch = |function, stream| {
            call!(cuLaunchKernel(
                function, 1, 1, 1, 1, 1, 1, 0, stream, null, null
            ))
        };
        assert_eq!(launch(wrong, stream), HANDLE);
        assert_eq!(launch(function, wrong), HANDLE);
        let mut found = 0;
        assert_eq!(
            call!(cuModuleGetFunction(&mut found, wrong, c"bump".as_ptr())),
            HANDLE
        );
    }
    assert_eq!(call!(cuStreamSynchronize(event)), HANDLE);
    assert_eq!(call!(cuEventSynchronize(stream)), HANDLE);
    assert_eq!(call!(cuCtxSetCurrent(stream)), Status::INVALID_CONTEXT.0);
    assert_eq!(call!(cuMemFree_v2(client.alloc(8) + 4)), VALUE);
    assert_eq!(call!(cuMemFree_v2(12345)), VALUE);
    assert_eq!(call!(cuMemAlloc_v2(std::ptr::null_mut(), 4)), VALUE);
    assert_eq!(call!(cuMemAlloc_v2(&mut address, 0)), VALUE);
    assert_eq!(
        call!(cuMemAlloc_v2(&mut address, 1 << 42)),
        Status::OUT_OF_MEMORY.0
    );
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
    assert_eq!(call!(cuStreamDestroy_v2(stream)), HANDLE);
    assert_eq!(call!(cuStreamQuery(stream)), HANDLE);
    ok!(cuEventDestroy_v2(event));
    assert_eq!(call!(cuEventDestroy_v2(event)), HANDLE);
    assert_eq!(call!(cuEventQuery(event)), HANDLE);
    ok!(cuMemFree_v2(address));
    assert_eq!(call!(cuMemFree_v2(address)), VALUE);
    ok!(cuModuleUnload(client.module));
    assert_eq!(call!(cuModuleUnload(client.module)), HANDLE);
    let launched = call!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, null, null));
    assert_eq!(launched, HANDLE);
}

#[test]
fn other_contexts_functions_and_events_are_refused() {
    let first = Client::new();
    let (function, event) = (first.function("bump"), first.event());
    let second = Client::new();
    let null = std::ptr::null();
    let launched = call!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, null, null));
    assert_eq!(launched, HANDLE);
    assert_eq!(call!(cuEventRecord(event, 0)), HANDLE);
    ok!(cuCtxSetCurrent(first.context));
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, null, null));
    ok!(cuCtxSetCurrent(second.context));
}
