//! Functions under the names of earlier versions of CUDA.

use std::collections::BTreeSet;

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::event::*;
use sim_driver::api::legacy::*;
use sim_driver::api::stream::*;

use crate::client::Client;
use crate::under_test::{fails, is_real, ok};

/// `functions.txt` lists every name that a driver exports.
#[test]
fn what_has_later_versions_has_a_first_one() {
    let all = include_str!("../../../sim_driver_library/functions.txt");
    let all: BTreeSet<&str> = all.split_whitespace().collect();
    let mut n = 0;
    for name in &all {
        let Some((first, _)) = name.split_once("_v") else {
            continue;
        };
        assert!(all.contains(first), "{first} of {name}");
        let is_simulated = |name| sim_driver::function(name).is_some();
        assert!(is_simulated(first) || !is_simulated(name), "{first}");
        n += 1;
    }
    assert!(n > 100, "{n} later versions are found");
}

#[test]
fn objects_are_destroyed_under_the_first_names() {
    let client = Client::new();
    let (mut event, mut stream) = (0, 0);
    let (mut graph, mut executable, mut context) = (0, 0, 0);
    let null = std::ptr::null_mut();
    ok!(cuEventCreate(&mut event, 0));
    ok!(cuEventDestroy(event));
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuStreamBeginCapture_v2(stream, 2));
    let (mut status, mut id) = (0, 0);
    ok!(cuStreamGetCaptureInfo(stream, &mut status, &mut id));
    assert!(status == 1 && id > 0);
    ok!(cuStreamEndCapture(stream, &mut graph));
    let none = std::ptr::null_mut();
    ok!(cuGraphInstantiate(&mut executable, graph, none, null, 0));
    ok!(cuStreamDestroy(stream));
    ok!(cuCtxPopCurrent(&mut context));
    assert_eq!(context, client.context);
    ok!(cuCtxPushCurrent(context));
    if !is_real() {
        fails!(cuEventDestroy(event) with INVALID_HANDLE);
    }
    ok!(cuCtxDestroy(context));
    fails!(cuCtxSetCurrent(context) with CONTEXT_IS_DESTROYED);
}

/// The results of an H200's driver, in a context from `cuCtxCreate_v2`.
#[test]
fn addresses_of_32_bits_are_for_other_contexts() {
    let _client = Client::new();
    let mut n_bytes = [7_u32; 2];
    ok!(cuDeviceTotalMem(n_bytes.as_mut_ptr(), 0));
    // One of the tests' devices has a gigabyte.
    let least = if is_real() { u32::MAX } else { 1 << 30 };
    assert_eq!(n_bytes, [least, 7]);
    // Declared without their arguments here.
    if is_real() {
        return;
    }
    for function in [cuMemAlloc, cuMemcpyHtoD, cuMemsetD32, cuModuleGetGlobal] {
        assert_eq!(unsafe { function() }, Status::INVALID_CONTEXT.0);
    }
}
