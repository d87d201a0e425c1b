//! The error that a failed launch leaves: a GPU's code, and permanent.

use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::graph::*;
use sim_driver::api::launch::*;
use sim_driver::api::memory::*;
use sim_driver::api::occupancy::*;
use sim_driver::api::stream::*;

use crate::client::{Client, Parameter, function_of, launch_block, load_module, ok};
use crate::under_test::{call, fails, got, is_real, ok};

/// Makes a kernel fail a device that no other test uses.
#[track_caller]
fn leaves(number: i32, kernel: &str, params: &[&dyn Parameter], expected: Status) {
    let other = Client::alone(number);
    let client = Client::alone(number);
    client.launch(kernel, 1, 1, params);
    let (mut address, mut context) = (0, 0);
    assert_eq!(call!(cuCtxSynchronize()), expected.0, "{kernel}");
    // It stays.
    assert_eq!(call!(cuMemAlloc_v2(&mut address, 16)), expected.0);
    assert_eq!(call!(cuStreamSynchronize(0)), expected.0);
    assert_eq!(call!(cuCtxSynchronize()), expected.0);
    // Other contexts of the device have it too, and new ones cannot be created.
    ok!(cuCtxSetCurrent(other.context));
    assert_eq!(call!(cuCtxSynchronize()), expected.0);
    let device = if is_real() { 0 } else { number };
    let status = call!(cuCtxCreate_v2(&mut context, 0, device));
    assert_eq!(status, expected.0);
}

#[test]
fn an_illegal_address_fails_the_device() {
    leaves(2, "store_at", &[&0x1234_5678_u64], Status::ILLEGAL_ADDRESS);
}

#[test]
fn an_assertion_fails_the_device() {
    leaves(3, "fail", &[], Status::ASSERT);
}

#[test]
fn a_trap_fails_the_device() {
    leaves(4, "trap_now", &[], Status::LAUNCH_FAILED);
}

#[test]
fn a_misaligned_address_fails_the_device() {
    let client = Client::alone(5);
    let buffer = client.alloc(64);
    client.launch("store_at", 1, 1, &[&(buffer + 2)]);
    fails!(cuCtxSynchronize() with MISALIGNED_ADDRESS);
}

#[test]
fn freed_memory_is_an_illegal_address() {
    // A GPU's pages may still be there.
    if is_real() {
        return;
    }
    let client = Client::alone(6);
    let buffer = client.alloc(64);
    ok!(cuMemFree_v2(buffer));
    client.launch("store_at", 1, 1, &[&buffer]);
    fails!(cuCtxSynchronize() with ILLEGAL_ADDRESS);
}

#[test]
fn a_kernel_that_does_not_end_times_out() {
    if is_real() {
        return;
    }
    let client = Client::alone(7);
    client.launch("forever", 1, 1, &[]);
    fails!(cuCtxSynchronize() with LAUNCH_TIMEOUT);
}

#[test]
fn launches_that_no_device_can_do_are_refused() {
    let client = Client::new();
    let function = client.function("bump");
    let launch = |grid: [u32; 3], block: [u32; 3], shared| {
        let null = std::ptr::null();
        let ([a, b, c], [x, y, z]) = (grid, block);
        call! { cuLaunchKernel(function, a, b, c, x, y, z, shared, 0, null, null) }
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
    ok!(cuCtxSynchronize());
}

/// A kernel that needs at least this many registers per thread.
fn with_values(n: usize) -> CString {
    let lines = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    let loads = lines(&|i| format!("ld.volatile.global.u32 %r{i}, [%rd];\n"));
    let stores = lines(&|i| format!("st.volatile.global.u32 [%rd], %r{i};\n"));
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry many(.param .u64 p)\n{{\n\
         .reg .b32 %r<{n}>;\n.reg .b64 %rd;\nld.param.u64 %rd, [p];\n{loads}bar.sync 0;\n{stores}ret;\n}}"
    );
    CString::new(text).expect("no nul")
}

/// The results of an H200's driver.
#[test]
fn a_block_needs_no_more_registers_than_an_sm_has() {
    let client = Client::new();
    let function = function_of(load_module(&with_values(100)), c"many");
    let mut at = client.alloc(4);
    let params: [*mut c_void; 1] = [(&raw mut at).cast()];
    let launch = |n| launch_block(function, (n, 0), &params);
    let cooperative = |n_blocks, n| {
        let params = params.as_ptr();
        call!(cuLaunchCooperativeKernel(
            function, n_blocks, 1, 1, n, 1, 1, 0, 0, params
        ))
    };
    let blocks = |n: i32| got!(blocks of cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, n, 0));
    let (resources, too_large) = (
        Status::LAUNCH_OUT_OF_RESOURCES.0,
        Status::COOPERATIVE_LAUNCH_TOO_LARGE.0,
    );
    assert_eq!([512, 640, 1024].map(launch), [0, resources, resources]);
    assert_eq!([512, 640].map(|n| cooperative(1, n)), [0, too_large]);
    assert_eq!([256, 512, 640].map(blocks), [2, 1, 0]);
    assert_eq!([264, 265].map(|n| cooperative(n, 256)), [0, too_large]);
    ok!(cuCtxSynchronize());
    // A graph is refused when it is to be launched.
    let (stream, mut executable) = (client.stream(1), 0);
    ok!(cuStreamBeginCapture_v2(stream, 2));
    let none = std::ptr::null();
    ok! { cuLaunchKernel(function, 1, 1, 1, 1024, 1, 1, 0, stream, params.as_ptr(), none) }
    let graph = got!(graph of cuStreamEndCapture(stream, &mut graph));
    fails!(cuGraphInstantiateWithFlags(&mut executable, graph, 0) with LAUNCH_OUT_OF_RESOURCES);
}

#[test]
fn a_destroyed_context_says_so() {
    let client = Client::new();
    let mut address = 0;
    ok!(cuCtxPushCurrent_v2(client.context));
    ok!(cuCtxDestroy_v2(client.context));
    fails!(cuMemAlloc_v2(&mut address, 4) with CONTEXT_IS_DESTROYED);
    fails!(cuCtxDestroy_v2(client.context) with CONTEXT_IS_DESTROYED);
    // A real driver accepts the handle while its memory is there.
    if !is_real() {
        fails!(cuCtxSetCurrent(client.context) with CONTEXT_IS_DESTROYED);
    }
    ok!(cuCtxSetCurrent(0));
    fails!(cuMemAlloc_v2(&mut address, 4) with INVALID_CONTEXT);
}

/// Calls the driver after its thread has ended.
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

/// As for a program's static objects, which are destroyed after the main thread's own.
#[test]
fn calls_after_a_threads_end_are_answered() {
    if is_real() {
        // The calls are the simulator's: at a thread's end nothing can be looked up.
        return;
    }
    let thread = std::thread::spawn(|| {
        // What a thread uses first is destroyed last.
        LATE.with(|_| ());
        drop(Client::new());
    });
    thread.join().expect("it ends");
    let answers = LATE_ANSWERS.each_ref().map(|a| a.load(Ordering::Relaxed));
    let gone = Status::DEINITIALIZED.0;
    assert_eq!(answers, [gone, 0, gone]);
}
