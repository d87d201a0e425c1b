//! Streams and events: what waits for what, and what does not.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::event::*;
use sim_driver::api::host::*;
use sim_driver::api::stream::*;

use crate::client::{Client, ok};
use crate::under_test::{call, fails, got, is_real, ok};

/// A number that host and device share, from pinned memory.
pub struct Flag {
    pub address: u64,
}

impl Flag {
    pub fn new() -> Self {
        let mut pointer = std::ptr::null_mut();
        ok!(cuMemHostAlloc(&mut pointer, 4, 0));
        Self {
            address: pointer as u64,
        }
    }

    fn number(&self) -> &AtomicU32 {
        unsafe { AtomicU32::from_ptr(self.address as *mut u32) }
    }

    pub fn raise(&self) {
        self.number().store(1, Ordering::Release);
    }

    fn value(&self) -> u32 {
        self.number().load(Ordering::Acquire)
    }
}

#[test]
fn an_event_is_not_complete_until_it_is() {
    let client = Client::new();
    let (flag, out) = (Flag::new(), client.upload(&[0]));
    let (stream, event) = (client.stream(1), client.event());
    ok!(cuEventQuery(event));
    let params: [&dyn crate::client::Parameter; 3] = [&flag.address, &out, &9_u32];
    ok(client.try_launch("wait_then_store", (1, 1, stream), &params));
    ok!(cuEventRecord(event, stream));
    std::thread::sleep(Duration::from_millis(10));
    fails!(cuEventQuery(event) with NOT_READY);
    fails!(cuStreamQuery(stream) with NOT_READY);
    let mut milliseconds = 0.0;
    fails!(cuEventElapsedTime(&mut milliseconds, event, event) with NOT_READY);
    // Another stream continues meanwhile.
    let (other, buffer) = (client.stream(1), client.upload(&[1, 2]));
    ok(client.try_launch("add_one", (1, 2, other), &[&buffer, &2_u32]));
    ok!(cuStreamSynchronize(other));
    fails!(cuEventQuery(event) with NOT_READY);
    flag.raise();
    ok!(cuEventSynchronize(event));
    ok!(cuStreamQuery(stream));
    assert_eq!(client.download(out, 1), [9]);
    assert_eq!(client.download(buffer, 2), [2, 3]);
}

/// Makes a kernel wait in one stream, and submits to others, with whether each should be done
/// first.
fn check_beside(client: &Client, waiting: usize, streams: &[(usize, bool)]) {
    let (flag, out) = (Flag::new(), client.upload(&[0]));
    let params: [&dyn crate::client::Parameter; 3] = [&flag.address, &out, &9_u32];
    ok(client.try_launch("wait_then_store", (1, 1, waiting), &params));
    let buffer = client.alloc(4);
    for &(stream, done) in streams {
        let event = client.event();
        ok(client.try_launch("store_at", (1, 1, stream), &[&buffer]));
        ok!(cuEventRecord(event, stream));
        assert_eq!(is_done(event, done), done, "{stream} beside {waiting}");
    }
    flag.raise();
    ok!(cuCtxSynchronize());
}

/// Whether an event is complete: after a moment; if that is `expected`, after as long as a busy
/// machine may need.
fn is_done(event: usize, expected: bool) -> bool {
    let limit = Duration::from_millis(if expected { 10_000 } else { 30 });
    let started = Instant::now();
    while call!(cuEventQuery(event)) != 0 {
        if started.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// A copy between two devices in the legacy stream of one runs concurrently with nothing on the
/// other, as CUDA's programming guide says.
#[test]
fn a_copy_between_devices_is_ordered_on_both() {
    // With one GPU there is no other.
    if is_real() {
        return;
    }
    let first = Client::new();
    let (a, done) = (first.upload(&[1]), first.event());
    let second = Client::on(1);
    let (b, out, flag) = (second.upload(&[0]), second.upload(&[0]), Flag::new());
    let params: [&dyn crate::client::Parameter; 3] = [&flag.address, &b, &9_u32];
    // Its kernel writes what the copy overwrites; later work sees the copy.
    ok(second.try_launch("wait_then_store", (1, 1, 0), &params));
    ok!(cuCtxSetCurrent(first.context));
    ok!(cuMemcpyDtoDAsync_v2(b, a, 4, 0));
    ok!(cuEventRecord(done, 0));
    ok!(cuCtxSetCurrent(second.context));
    ok(second.try_launch("add_one", (1, 1, second.stream(0)), &[&b, &1_u32]));
    ok!(cuMemcpyDtoDAsync_v2(out, b, 4, 0));
    std::thread::sleep(Duration::from_millis(30));
    fails!(cuEventQuery(done) with NOT_READY);
    flag.raise();
    ok!(cuCtxSynchronize());
    // Not on the second device, which need not have waited for it.
    ok!(cuEventSynchronize(done));
    assert_eq!(second.download(b, 1), [2]);
    assert_eq!(second.download(out, 1), [2]);
}

const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

#[test]
fn the_legacy_stream_waits_for_blocking_ones_and_they_for_it() {
    let client = Client::new();
    let (blocking, other, free) = (client.stream(0), client.stream(0), client.stream(1));
    let check = |waiting, streams: &[(usize, bool)]| check_beside(&client, waiting, streams);
    check(blocking, &[(other, true), (free, true), (0, false)]);
    check(
        LEGACY,
        &[(blocking, false), (PER_THREAD, false), (free, true)],
    );
    check(PER_THREAD, &[(blocking, true), (LEGACY, false)]);
    check(
        free,
        &[(LEGACY, true), (blocking, true), (PER_THREAD, true)],
    );
}

#[test]
fn the_context_waits_for_destroyed_streams() {
    let client = Client::new();
    let (flag, out) = (Flag::new(), Flag::new());
    let stream = client.stream(1);
    let params: [&dyn crate::client::Parameter; 3] = [&flag.address, &out.address, &9_u32];
    ok(client.try_launch("wait_then_store", (1, 1, stream), &params));
    ok!(cuStreamDestroy_v2(stream));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            flag.raise();
        });
        ok!(cuCtxSynchronize());
        assert_eq!(out.value(), 9);
    });
}

#[test]
fn a_stream_waits_for_another_streams_event() {
    let client = Client::new();
    let (first, second) = (client.stream(1), client.stream(1));
    let (flag, a, b) = (Flag::new(), client.upload(&[0]), client.upload(&[7]));
    let event = client.event();
    let params: [&dyn crate::client::Parameter; 3] = [&flag.address, &a, &9_u32];
    ok(client.try_launch("wait_then_store", (1, 1, first), &params));
    ok!(cuEventRecord(event, first));
    ok!(cuStreamWaitEvent(second, event, 0));
    ok(client.try_launch("copy_one", (1, 1, second), &[&b, &a]));
    fails!(cuStreamQuery(second) with NOT_READY);
    flag.raise();
    ok!(cuStreamSynchronize(second));
    assert_eq!(client.download(b, 1), [9]);
}

#[test]
fn calls_come_in_their_streams_order() {
    static ORDER: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn note(data: *mut c_void) {
        let digit = data.addr() as u32;
        let _ = ORDER.try_update(Ordering::AcqRel, Ordering::Acquire, |n| {
            Some(10 * n + digit)
        });
    }
    unsafe extern "C" fn note_status(_stream: usize, status: u32, data: *mut c_void) {
        assert_eq!(status, 0);
        unsafe { note(data) };
    }
    let client = Client::new();
    let stream = client.stream(0);
    let digit = std::ptr::without_provenance_mut::<c_void>;
    ok!(cuLaunchHostFunc(stream, Some(note), digit(1)));
    ok!(cuStreamAddCallback(stream, Some(note_status), digit(2), 0));
    ok!(cuLaunchHostFunc(stream, Some(note), digit(3)));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(ORDER.load(Ordering::Acquire), 123);
}

#[test]
fn many_launches_keep_their_order() {
    let client = Client::new();
    let stream = client.stream(1);
    let buffer = client.upload(&[0; 32]);
    for _ in 0..3000 {
        ok(client.try_launch("add_one", (1, 32, stream), &[&buffer, &32_u32]));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(client.download(buffer, 32), [3000; 32]);
}

#[test]
fn several_threads_launch_at_once() {
    let client = Client::new();
    let buffers: Vec<u64> = (0..4).map(|_| client.upload(&[0; 8])).collect();
    std::thread::scope(|scope| {
        for &buffer in &buffers {
            let client = &client;
            scope.spawn(move || {
                ok!(cuCtxSetCurrent(client.context));
                for _ in 0..200 {
                    let launch = (1, 8, PER_THREAD);
                    ok(client.try_launch("add_one", launch, &[&buffer, &8_u32]));
                }
                ok!(cuStreamSynchronize(PER_THREAD));
            });
        }
    });
    for buffer in buffers {
        assert_eq!(client.download(buffer, 8), [200; 8]);
    }
}

#[test]
fn times_are_those_between_events() {
    let client = Client::new();
    let (before, after) = (client.event(), client.event());
    let mut milliseconds = 0.0;
    fails!(cuEventElapsedTime(&mut milliseconds, before, after) with INVALID_HANDLE);
    ok!(cuEventRecord(before, 0));
    client.launch("bump", 1, 1, &[]);
    ok!(cuEventRecord(after, 0));
    ok!(cuEventSynchronize(after));
    ok!(cuEventElapsedTime(&mut milliseconds, before, after));
    assert!(milliseconds > 0.0);
    let untimed = got!(untimed of cuEventCreate(&mut untimed, 2));
    ok!(cuEventRecord(untimed, 0));
    fails!(cuEventElapsedTime(&mut milliseconds, before, untimed) with INVALID_HANDLE);
}
