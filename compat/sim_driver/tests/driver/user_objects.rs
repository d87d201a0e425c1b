//! Objects that graphs keep: destroyed once, when neither the client nor any graph refers to
//! them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sim_driver::api::graph::*;
use sim_driver::api::graph_node::*;
use sim_driver::api::stream::*;
use sim_driver::api::user_object::*;

use crate::client::Client;
use crate::under_test::{fails, got, ok};

unsafe extern "C" fn count(n: *mut c_void) {
    // SAFETY: it is a counter of the test, which waits for this.
    unsafe { (*n.cast::<AtomicU32>()).fetch_add(1, Ordering::SeqCst) };
}

/// An object that counts how often it is destroyed.
fn object(n_destroyed: &AtomicU32, n: u32) -> usize {
    let data = std::ptr::from_ref(n_destroyed).cast_mut().cast();
    got!(object of cuUserObjectCreate(&mut object, data, Some(count), n, 1))
}

/// Waits until an object is destroyed, which another thread does.
fn is_destroyed(n_destroyed: &AtomicU32) -> bool {
    let started = Instant::now();
    while n_destroyed.load(Ordering::SeqCst) == 0 && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    n_destroyed.load(Ordering::SeqCst) == 1
}

#[test]
fn the_last_reference_destroys_an_object() {
    let _client = Client::new();
    let n_destroyed = AtomicU32::new(0);
    let object = object(&n_destroyed, 2);
    ok!(cuUserObjectRetain(object, 3));
    ok!(cuUserObjectRelease(object, 4));
    assert_eq!(n_destroyed.load(Ordering::SeqCst), 0);
    ok!(cuUserObjectRelease(object, 1));
    assert!(is_destroyed(&n_destroyed));
}

#[test]
fn graphs_and_what_is_made_of_them_keep_an_object() {
    let client = Client::new();
    let stream = client.stream(1);
    let n_destroyed = AtomicU32::new(0);
    let object = object(&n_destroyed, 1);
    let (mut graph, mut clone, mut node, mut exec) = (0, 0, 0, 0);
    ok!(cuGraphCreate(&mut graph, 0));
    let none = std::ptr::null();
    ok!(cuGraphAddEmptyNode(&mut node, graph, none, 0));
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    ok!(cuGraphClone(&mut clone, graph));
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphInstantiateWithFlags(&mut exec, clone, 0));
    ok!(cuGraphDestroy(clone));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(n_destroyed.load(Ordering::SeqCst), 0);
    ok!(cuGraphExecDestroy(exec));
    assert!(is_destroyed(&n_destroyed));
}

#[test]
fn wrong_references_are_refused() {
    let _client = Client::new();
    let n_destroyed = AtomicU32::new(0);
    let object = object(&n_destroyed, 1);
    let (mut graph, mut other) = (0, 0);
    let data = std::ptr::null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    fails!(cuUserObjectCreate(&mut other, data, None, 1, 1) with INVALID_VALUE);
    fails!(cuUserObjectCreate(&mut other, data, Some(count), 0, 1) with INVALID_VALUE);
    fails!(cuUserObjectCreate(&mut other, data, Some(count), 1, 0) with INVALID_VALUE);
    fails!(cuUserObjectRetain(object, 0) with INVALID_VALUE);
    fails!(cuGraphRetainUserObject(graph, object, 1, 2) with INVALID_VALUE);
    ok!(cuGraphRetainUserObject(graph, object, 2, 0));
    ok!(cuGraphReleaseUserObject(graph, object, 2));
    ok!(cuUserObjectRelease(object, 1));
    ok!(cuGraphDestroy(graph));
    assert!(is_destroyed(&n_destroyed));
}
