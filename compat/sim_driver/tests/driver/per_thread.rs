//! Variants of functions in which each thread has its own default stream.

use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::event::*;
use sim_driver::api::launch::*;
use sim_driver::api::stream::*;

use crate::client::{Client, Parameter, ok};
use crate::order::Flag;
use crate::under_test::{fails, ok};

/// Launches a kernel in the thread's own default stream.
fn launch(client: &Client, name: &str, n_threads: u32, params: &[&dyn Parameter]) {
    let params: Vec<_> = params.iter().map(|p| (**p).address()).collect();
    let (function, null) = (client.function(name), std::ptr::null());
    let params = params.as_ptr();
    ok! { cuLaunchKernel_ptsz(function, 1, 1, 1, n_threads, 1, 1, 0, 0, params, null) }
}

#[test]
fn threads_do_not_wait_for_each_other() {
    let client = Client::new();
    let (flag, out) = (Flag::new(), client.upload(&[0]));
    let (buffer, event) = (client.upload(&[0, 0]), client.event());
    let (launched, done) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ok!(cuCtxSetCurrent(client.context));
            let params: [&dyn Parameter; 3] = [&flag.address, &out, &9_u32];
            launch(&client, "wait_then_store", 1, &params);
            fails!(cuStreamQuery_ptsz(0) with NOT_READY);
            launched.wait();
            done.wait();
            fails!(cuStreamQuery_ptsz(0) with NOT_READY);
            flag.raise();
            ok!(cuStreamSynchronize_ptsz(0));
        });
        launched.wait();
        // None of these returns while the other thread's kernel waits, if both are in the same
        // stream.
        let (from, mut to) = ([3_u32, 4], [0_u32; 2]);
        ok!(cuMemcpyHtoD_v2_ptds(buffer, from.as_ptr() as u64, 8));
        launch(&client, "add_one", 2, &[&buffer, &2_u32]);
        let to_address = to.as_mut_ptr() as u64;
        ok!(cuMemcpyDtoHAsync_v2_ptsz(to_address, buffer, 8, 0));
        ok!(cuEventRecord_ptsz(event, 0));
        ok!(cuEventSynchronize(event));
        ok!(cuStreamSynchronize_ptsz(0));
        assert_eq!(to, [4, 5]);
        ok!(cuMemsetD32_v2_ptds(buffer, 7, 2));
        ok!(cuMemcpyDtoH_v2_ptds(to_address, buffer, 8));
        assert_eq!(to, [7, 7]);
        ok!(cuStreamQuery_ptsz(0));
        done.wait();
    });
    assert_eq!(client.download(out, 1), [9]);
}

#[test]
fn a_thread_waits_for_the_legacy_stream() {
    let client = Client::new();
    let (flag, out) = (Flag::new(), client.upload(&[0]));
    let params: [&dyn Parameter; 3] = [&flag.address, &out, &9_u32];
    ok(client.try_launch("wait_then_store", (1, 1, 0), &params));
    launch(&client, "add_one", 1, &[&out, &1_u32]);
    fails!(cuStreamQuery_ptsz(0) with NOT_READY);
    flag.raise();
    ok!(cuStreamSynchronize_ptsz(0));
    assert_eq!(client.download(out, 1), [10]);
}

#[test]
fn copies_into_a_captured_thread_are_refused() {
    let client = Client::new();
    let (buffer, word) = (client.upload(&[0]), [1_u32]);
    let mut graph = 0;
    ok!(cuStreamBeginCapture_v2_ptsz(0, 2));
    fails!(cuMemcpyHtoD_v2_ptds(buffer, word.as_ptr() as u64, 4) with STREAM_CAPTURE_UNSUPPORTED);
    fails!(cuStreamEndCapture_ptsz(0, &mut graph) with STREAM_CAPTURE_INVALIDATED);
}

/// `functions.txt` lists every name that a driver exports.
#[test]
fn every_simulated_function_has_its_variant() {
    let all = include_str!("../../../sim_driver_library/functions.txt");
    let mut n = 0;
    for name in all.split_whitespace() {
        let base = name.strip_suffix("_ptsz").or(name.strip_suffix("_ptds"));
        let Some(base) = base else { continue };
        let has = |name| sim_driver::function(name).is_some();
        assert_eq!(has(name), has(base), "{name}");
        n += usize::from(has(name));
    }
    assert!(n > 50, "{n} variants are found");
}
