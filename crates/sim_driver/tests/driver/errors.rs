//! What a launch that goes wrong leaves: the code that a GPU gives, in its own context only.

use std::sync::atomic::{AtomicU32, Ordering};

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::launch::*;
use sim_driver::api::memory::*;
use sim_driver::api::stream::*;

use crate::client::{Client, Parameter, ok};

#[track_caller]
fn leaves(kernel: &str, params: &[&dyn Parameter], expected: Status) {
    let other = Client::new();
    let client = Client::new();
    client.launch(kernel, 1, 1, params);
    let mut address = 0;
    unsafe {
        assert_eq!(cuCtxSynchronize(), expected.0, "{kernel}");
        // It stays.
        assert_eq!(cuMemAlloc_v2(&mut address, 16), expected.0);
        assert_eq!(cuStreamSynchronize(0), expected.0);
        assert_eq!(cuCtxSynchronize(), expected.0);
        // Others have nothing to do with it.
        ok(cuCtxSetCurrent(other.context));
        ok(cuCtxSynchronize());
        ok(cuMemAlloc_v2(&mut address, 16));
        ok(cuCtxSetCurrent(client.context));
        ok(cuCtxDestroy_v2(client.context));
    }
}

#[test]
fn faults_have_the_codes_of_a_gpu() {
    leaves("store_at", &[&0x1234_5678_u64], Status::ILLEGAL_ADDRESS);
    leaves("store_at", &[&0_u64], Status::ILLEGAL_ADDRESS);
    leaves("fail", &[], Status::ASSERT);
    leaves("trap_now", &[], Status::LAUNCH_FAILED);
}

#[test]
fn misaligned_and_freed_memory() {
    let client = Client::new();
    let buffer = client.alloc(64);
    client.launch("store_at", 1, 1, &[&(buffer + 2)]);
    assert_eq!(unsafe { cuCtxSynchronize() }, Status::MISALIGNED_ADDRESS.0);
    let client = Client::new();
    let buffer = client.alloc(64);
    ok(unsafe { cuMemFree_v2(buffer) });
    client.launch("store_at", 1, 1, &[&buffer]);
    assert_eq!(unsafe { cuCtxSynchronize() }, Status::ILLEGAL_ADDRESS.0);
}

#[test]
fn a_kernel_that_does_not_end_times_out() {
    let client = Client::new();
    client.launch("forever", 1, 1, &[]);
    assert_eq!(unsafe { cuCtxSynchronize() }, Status::LAUNCH_TIMEOUT.0);
}

#[test]
fn launches_that_no_device_can_do_are_refused() {
    let client = Client::new();
    let function = client.function("bump");
    let launch = |grid: [u32; 3], block: [u32; 3], shared| unsafe {
        let null = std::ptr::null();
        cuLaunchKernel(
            function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, 0, null,
            null,
        )
    };
    const INVALID: u32 = Status::INVALID_VALUE.0;
    assert_eq!(launch([0, 1, 1], [1, 1, 1], 0), INVALID);
    assert_eq!(launch([1, 1, 1], [1, 0, 1], 0), INVALID);
    assert_eq!(launch([1, 1, 1], [1025, 1, 1], 0), INVALID);
    assert_eq!(
        launch([1, 1, 1], [u32::MAX, u32::MAX, u32::MAX], 0),
        INVALID
    );
    assert_eq!(launch([1, 1, 1], [1, 1, 128], 0), INVALID);
    assert_eq!(launch([1, 65536, 1], [1, 1, 1], 0), INVALID);
    assert_eq!(launch([1, 1, 1], [1, 1, 1], (48 << 10) + 1), INVALID);
    ok(launch([1, 1, 1], [1, 1, 1], 48 << 10));
    // None of that fails the context.
    ok(unsafe { cuCtxSynchronize() });
}

#[test]
fn a_destroyed_context_says_so() {
    let client = Client::new();
    let mut address = 0;
    unsafe {
        ok(cuCtxPushCurrent_v2(client.context));
        ok(cuCtxDestroy_v2(client.context));
        assert_eq!(
            cuMemAlloc_v2(&mut address, 4),
            Status::CONTEXT_IS_DESTROYED.0
        );
        assert_eq!(cuCtxDestroy_v2(client.context), Status::INVALID_CONTEXT.0);
        assert_eq!(cuCtxSetCurrent(client.context), Status::INVALID_CONTEXT.0);
        ok(cuCtxSetCurrent(0));
        assert_eq!(cuMemAlloc_v2(&mut address, 4), Status::INVALID_CONTEXT.0);
    }
}

/// Calls the driver when its thread has ended.
struct Late;

static LATE_ANSWERS: [AtomicU32; 3] = [const { AtomicU32::new(99) }; 3];

impl Drop for Late {
    fn drop(&mut self) {
        let (mut address, mut context) = (0, 0);
        let answers = unsafe {
            [
                cuMemAlloc_v2(&mut address, 4),
                cuCtxGetCurrent(&mut context),
                cuStreamSynchronize(2),
            ]
        };
        for (to, answer) in LATE_ANSWERS.iter().zip(answers) {
            to.store(answer, Ordering::Relaxed);
        }
    }
}

thread_local! {
    static LATE: Late = const { Late };
}

/// As of a program's static objects, which end after the main thread's own.
#[test]
fn calls_after_a_threads_end_are_answered() {
    let thread = std::thread::spawn(|| {
        // What a thread used first ends last.
        LATE.with(|_| ());
        drop(Client::new());
    });
    thread.join().expect("it ends");
    let answers = LATE_ANSWERS.each_ref().map(|a| a.load(Ordering::Relaxed));
    let gone = Status::DEINITIALIZED.0;
    assert_eq!(answers, [gone, 0, gone]);
}
