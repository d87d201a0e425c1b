//! Contexts: which one a thread uses; and that they leave nothing behind.

use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sim_driver::api::context::*;
use sim_driver::api::library::*;
use sim_driver::api::memory::*;

use crate::client::{Client, load_library, load_module};
use crate::under_test::{call, fails, got, is_real, ok};

/// Keeps tests apart that use the primary context, or much memory. The other tests need little
/// memory on this device.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device of these tests.
fn device() -> i32 {
    if is_real() { 0 } else { 1 }
}

/// A module with a variable of a megabyte.
const LARGE: &CStr = c".version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .b8 large[1048576];";
const LARGE_BYTES: usize = 1 << 20;

/// More contexts than the simulated device has memory for such variables; fewer on a GPU, where
/// each takes long.
fn n_contexts() -> usize {
    if is_real() { 20 } else { 2000 }
}

/// Bytes free on the current context's device.
fn free_bytes() -> usize {
    got!(free of cuMemGetInfo_v2(&mut free, null_mut()))
}

/// Checks that work uses up no memory, however often it is repeated.
#[track_caller]
fn leaves_nothing(mut once: impl FnMut()) {
    let before = free_bytes();
    (0..n_contexts()).for_each(|_| once());
    let lost = before.saturating_sub(free_bytes());
    assert!(lost < LARGE_BYTES, "{lost} bytes are lost");
}

/// Places a library's variable in the current context.
fn place(library: usize) {
    let (mut address, mut n_bytes) = (0, 0);
    ok! { cuLibraryGetGlobal(&mut address, &mut n_bytes, library, c"large".as_ptr()) }
    assert_eq!(n_bytes, LARGE_BYTES);
}

#[test]
fn contexts_are_a_stack_of_each_thread() {
    let first = Client::new();
    let second = Client::on(1);
    let current = || {
        let mut context = 7;
        ok!(cuCtxGetCurrent(&mut context));
        context
    };
    assert_eq!(current(), second.context);
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(current(), 0));
    });
    let popped = got!(popped of cuCtxPopCurrent_v2(&mut popped));
    assert_eq!((popped, current()), (second.context, first.context));
    let mut device = 9;
    ok!(cuCtxGetDevice(&mut device));
    assert_eq!(device, 0);
    ok!(cuCtxPushCurrent_v2(second.context));
    ok!(cuCtxGetDevice(&mut device));
    assert_eq!(device, 1);
}

#[test]
fn the_primary_context_is_one_and_counted() {
    let (_alone, _client) = (alone(), Client::new());
    let (mut a, mut b) = (0, 0);
    ok!(cuDevicePrimaryCtxRetain(&mut a, 1));
    ok!(cuDevicePrimaryCtxRetain(&mut b, 1));
    assert_eq!(a, b);
    ok!(cuDevicePrimaryCtxRelease_v2(1));
    ok!(cuCtxPushCurrent_v2(a));
    ok!(cuCtxSynchronize());
    got!(popped of cuCtxPopCurrent_v2(&mut popped));
    ok!(cuDevicePrimaryCtxRelease_v2(1));
    fails!(cuDevicePrimaryCtxRelease_v2(1) with INVALID_CONTEXT);
}

#[test]
fn memory_comes_back_with_the_context() {
    let (_alone, _client) = (alone(), Client::on(device()));
    let library = load_library(LARGE);
    leaves_nothing(|| {
        let context = got!(context of cuCtxCreate_v2(&mut context, 0, device()));
        load_module(LARGE);
        place(library);
        ok!(cuCtxDestroy_v2(context));
    });
    ok!(cuLibraryUnload(library));
}

#[test]
fn memory_comes_back_with_the_primary_context() {
    let (_alone, client) = (alone(), Client::on(device()));
    leaves_nothing(|| {
        let mut primary = 0;
        ok!(cuDevicePrimaryCtxRetain(&mut primary, device()));
        ok!(cuCtxSetCurrent(primary));
        load_module(LARGE);
        ok!(cuDevicePrimaryCtxRelease_v2(device()));
        ok!(cuDevicePrimaryCtxRetain(&mut primary, device()));
        ok!(cuCtxSetCurrent(primary));
        load_module(LARGE);
        ok!(cuDevicePrimaryCtxReset_v2(device()));
        // Released in case it is still retained.
        call!(cuDevicePrimaryCtxRelease_v2(device()));
        ok!(cuCtxSetCurrent(client.context));
    });
}

#[test]
fn libraries_outlive_contexts() {
    let (_alone, client) = (alone(), Client::on(device()));
    let before = free_bytes();
    let library = load_library(LARGE);
    let second = Client::on(device());
    place(library);
    drop(second);
    ok!(cuCtxSetCurrent(client.context));
    place(library);
    ok!(cuLibraryUnload(library));
    let lost = before.saturating_sub(free_bytes());
    assert!(lost < LARGE_BYTES, "{lost} bytes are lost");
}
