//! Uses of the same memory by streams that do not wait for each other.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::event::*;
use sim_driver::api::graph::*;
use sim_driver::api::host::*;
use sim_driver::api::launch::*;
use sim_driver::api::memory::*;
use sim_driver::api::stream::*;

use crate::client::{Client, Parameter, load_module, ok};
use crate::under_test::{call, got, ok};
use crate::{findings, run};

/// `CU_STREAM_PER_THREAD`
const PER_THREAD: usize = 2;
/// Numbers in a buffer.
const N: u32 = 64;
const N_BYTES: usize = 4 * N as usize;

struct Streams {
    client: Client,
    /// Those that do not wait for the legacy stream.
    streams: [usize; 2],
    /// As many numbers, pinned.
    host: u64,
}

impl Streams {
    fn new() -> Self {
        let client = Client::new();
        let streams = [client.stream(1), client.stream(1)];
        let mut host = null_mut::<c_void>();
        ok!(cuMemHostAlloc(&mut host, N_BYTES, 0));
        unsafe { host.write_bytes(0, N_BYTES) };
        Self {
            client,
            streams,
            host: host as u64,
        }
    }

    fn buffer(&self) -> u64 {
        self.client.upload(&[1; N as usize])
    }

    /// Adds 1 to some of the numbers.
    fn add_one(&self, stream: usize, address: u64, n: u32) {
        let params: [&dyn Parameter; 2] = [&address, &n];
        ok(self.client.try_launch("add_one", (1, n, stream), &params));
    }

    fn to_device(&self, stream: usize, address: u64) {
        ok!(cuMemcpyHtoDAsync_v2(address, self.host, N_BYTES, stream));
    }

    fn to_host(&self, stream: usize, address: u64) {
        ok!(cuMemcpyDtoHAsync_v2(self.host, address, N_BYTES, stream));
    }

    fn set(&self, stream: usize, address: u64) {
        ok!(cuMemsetD8Async(address, 3, N_BYTES, stream));
    }

    /// Makes one stream wait for another.
    fn wait(&self, stream: usize, for_stream: usize) {
        let event = self.client.event();
        ok!(cuEventRecord(event, for_stream));
        ok!(cuStreamWaitEvent(stream, event, 0));
        ok!(cuEventDestroy_v2(event));
    }

    /// A graph that adds 1 to all numbers of a buffer, and sets those of another.
    fn graph(&self, address: u64, other: u64) -> usize {
        let [stream, _] = self.streams;
        ok!(cuStreamBeginCapture_v2(stream, 0));
        self.add_one(stream, address, N);
        self.set(stream, other);
        let graph = got!(graph of cuStreamEndCapture(stream, &mut graph));
        got!(executable of cuGraphInstantiateWithFlags(&mut executable, graph, 0))
    }
}

#[test]
#[ignore = "is a program that the other test runs"]
fn program_that_forgets_to_wait() {
    let all = Streams::new();
    let [a, b] = all.streams;
    type Case<'a> = (&'a str, &'a dyn Fn(u64));
    let graph = all.buffer();
    let graph = (graph, all.graph(graph, all.buffer()));
    let cases: [Case<'_>; 9] = [
        ("a copy by the host", &|x| {
            all.add_one(a, x, N);
            all.client.download(x, N as usize);
        }),
        ("a kernel after a copy", &|x| {
            all.to_device(a, x);
            all.add_one(b, x, N);
        }),
        ("a kernel after a kernel", &|x| {
            all.add_one(a, x, N);
            all.add_one(b, x + 4, N - 1);
        }),
        ("a memset after a copy that reads", &|x| {
            all.to_host(a, x);
            all.set(b, x);
        }),
        ("pinned memory that a copy reads", &|x| {
            let other = all.buffer();
            all.to_host(a, x);
            all.to_device(b, other);
        }),
        ("an event of too early a time", &|x| {
            all.wait(b, a);
            all.add_one(a, x, N);
            all.set(b, x);
        }),
        ("a graph", &|_| {
            ok!(cuGraphLaunch(graph.1, a));
            all.set(b, graph.0);
        }),
        ("a memset that only seems to be waited for", &|x| {
            ok!(cuMemsetD8_v2(x, 3, N_BYTES));
            all.add_one(b, x, N);
        }),
        ("a stream that waits for the legacy one", &|x| {
            all.add_one(all.client.stream(0), x, N);
            all.set(b, x);
        }),
    ];
    for (name, case) in cases {
        let buffer = all.buffer();
        ok!(cuCtxSynchronize());
        println!("{name}: []");
        case(buffer);
        ok!(cuCtxSynchronize());
    }
}

/// Work of streams that are gone is work that the host and the legacy stream wait for.
#[test]
#[ignore = "is a program that the other test runs"]
fn program_of_streams_that_go() {
    let all = Streams::new();
    let [a, b] = all.streams;
    let x = all.buffer();
    ok!(cuCtxSynchronize());
    // Each new stream may be the one for which lists of streams make room.
    let make_others = || {
        for _ in 0..64 {
            all.client.stream(0);
        }
    };
    for (flags, later) in [(1, a), (0, 0)] {
        let stream = all.client.stream(flags);
        all.add_one(stream, x, N);
        let event = all.client.event();
        ok!(cuEventRecord(event, stream));
        ok!(cuStreamDestroy_v2(stream));
        let mut milliseconds = 0.0;
        match flags {
            1 => while call!(cuEventElapsedTime(&mut milliseconds, event, event)) != 0 {},
            _ => make_others(),
        }
        all.add_one(later, x, N);
        ok!(cuCtxSynchronize());
    }
    let context = got!(context of cuCtxGetCurrent(&mut context));
    for _ in 0..4 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ok!(cuCtxSetCurrent(context));
                all.add_one(PER_THREAD, x, N);
            });
        });
        make_others();
        ok!(cuCtxSynchronize());
        all.add_one(b, x, N);
        ok!(cuCtxSynchronize());
    }
    println!("memory: {:?}", all.client.download(x, 1));
}

/// More in flight than the driver lets a client submit without making it wait, which is not the
/// client's waiting.
#[test]
#[ignore = "is a program that the other test runs"]
fn program_that_is_held_back() {
    let all = Streams::new();
    let [a, b] = all.streams;
    let (x, y) = (all.buffer(), all.buffer());
    ok!(cuCtxSynchronize());
    all.set(a, x);
    for _ in 0..3000 {
        all.add_one(a, y, N);
    }
    all.set(b, x);
    ok!(cuCtxSynchronize());
}

/// Says that the host's function was called.
unsafe extern "C" fn called(flag: *mut c_void) {
    unsafe { &*flag.cast::<AtomicBool>() }.store(true, Ordering::Release);
}

#[test]
#[ignore = "is a program that the other test runs"]
fn program_that_waits() {
    let all = Streams::new();
    let ([a, b], client) = (all.streams, &all.client);
    let x = all.buffer();
    // By an event, and on the host: for an event, a stream, a question, a function, all.
    all.add_one(a, x, N);
    all.wait(b, a);
    all.add_one(b, x, N);
    let event = client.event();
    ok!(cuEventRecord(event, b));
    ok!(cuEventSynchronize(event));
    all.set(a, x);
    ok!(cuStreamSynchronize(a));
    all.add_one(b, x, N);
    while call!(cuStreamQuery(b)) != 0 {}
    all.add_one(a, x, N);
    ok!(cuEventRecord(event, a));
    while call!(cuEventQuery(event)) != 0 {}
    all.to_device(b, x);
    let flag = AtomicBool::new(false);
    let data = std::ptr::from_ref(&flag).cast_mut().cast();
    ok!(cuLaunchHostFunc(b, Some(called), data));
    while !flag.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    all.add_one(a, x, N);
    ok!(cuCtxSynchronize());
    println!("memory: {:?}", &client.download(x, 2));
    // The legacy stream and those that wait for it, and it for them.
    let blocking = client.stream(0);
    all.add_one(blocking, x, N);
    all.add_one(0, x, N);
    all.add_one(client.stream(0), x, N);
    println!("memory: {:?}", &client.download(x, 2));
    // What only reads; other numbers of the buffer; what is another's once it was freed.
    let (y, half) = (all.buffer(), N / 2);
    for stream in [a, b] {
        let (to, n) = (all.buffer(), N_BYTES);
        ok!(cuMemcpyDtoDAsync_v2(to, y, n, stream));
    }
    ok!(cuCtxSynchronize());
    all.add_one(a, y, half);
    all.add_one(b, y + u64::from(2 * N), half);
    let z = got!(z of cuMemAllocAsync(&mut z, N_BYTES, a));
    all.set(a, z);
    ok!(cuMemFreeAsync(z, a));
    let z = got!(z of cuMemAllocAsync(&mut z, N_BYTES, b));
    all.set(b, z);
    ok!(cuCtxSynchronize());
    // Rows between each other's, and a graph's own order.
    let rows = got!(rows of cuMemAlloc_v2(&mut rows, 1024));
    ok!(cuMemsetD2D8Async(rows, 64, 1, 32, 16, a));
    ok!(cuMemsetD2D8Async(rows + 32, 64, 2, 32, 16, b));
    ok!(cuCtxSynchronize());
    let graph = all.graph(x, x);
    ok!(cuGraphLaunch(graph, a));
    ok!(cuGraphLaunch(graph, b));
    ok!(cuCtxSynchronize());
    // Atomics of two kernels at one place.
    let text = std::ffi::CString::new(include_str!("kernels.ptx")).expect("no nul");
    let (module, sum) = (load_module(&text), client.upload(&[0]));
    let add_up = crate::client::function_of(module, c"add_up");
    for stream in [a, b] {
        let (mut params, none) = ([sum.address()], null_mut());
        let params = params.as_mut_ptr();
        ok!(cuLaunchKernel(
            add_up, 1, 1, 1, 64, 1, 1, 0, stream, params, none
        ));
    }
    ok!(cuCtxSynchronize());
    println!("memory: {:?}", &client.download(y, 1));
}

fn checked(name: &str, program: &str) -> (Vec<String>, Value) {
    let program = format!("streams::{program}");
    run(name, &program, &[("LOCKSTEP_SIM_CHECK", "1")])
}

#[test]
fn what_streams_do_not_wait_for_is_found() {
    let (cases, found) = checked("forgets", "program_that_forgets_to_wait");
    let texts: Vec<String> = findings(&found)
        .iter()
        .map(|finding| {
            let text = finding["text"].as_str().expect("a text");
            let line = text.lines().next().expect("there is one");
            format!("{}: {line}", finding["kernel"].as_str().expect("a name"))
        })
        .collect();
    // The line is told unless the kernel happens to run first.
    let (kernel, memset) = ("the kernel `add_one`", "a memset of 256 bytes at 0x");
    let to_host = "a copy of 256 bytes from a device at 0x";
    let to_device = "a copy of 256 bytes from the host to a device at 0x";
    let with_line = "add_one: not waited for: load of 4 bytes at global address";
    let expected = [
        (to_host, kernel, "writing", false),
        (kernel, to_device, "writing", true),
        (kernel, kernel, "writing", true),
        (memset, to_host, "reading", false),
        (to_device, to_host, "writing", false),
        (memset, kernel, "writing", false),
        (memset, kernel, "writing", false),
        (kernel, memset, "writing", true),
        (memset, kernel, "writing", false),
    ];
    assert_eq!(cases.len(), 9, "{cases:?}");
    assert_eq!(texts.len(), expected.len(), "{texts:#?}");
    for (text, (later, earlier, does, may_have_line)) in texts.iter().zip(expected) {
        let names_both = text.starts_with(&format!(": not waited for: {later}"))
            && text.contains(&format!("uses memory that {earlier}"))
            && text.ends_with(&format!("may still be {does}"));
        assert!(
            names_both || may_have_line && text.starts_with(with_line),
            "{text}"
        );
    }
    assert!(
        findings(&found)
            .iter()
            .all(|finding| finding["streams"] == true)
    );
}

#[test]
fn what_is_waited_for_or_apart_is_not() {
    let (printed, found) = checked("waits", "program_that_waits");
    assert_eq!(findings(&found), [] as [Value; 0]);
    assert_eq!(printed, ["memory: [1, 1]", "memory: [4, 4]", "memory: [2]"]);
}

#[test]
fn streams_may_go_before_they_are_waited_for() {
    let (printed, found) = checked("go", "program_of_streams_that_go");
    assert_eq!(findings(&found), [] as [Value; 0]);
    assert_eq!(printed, ["memory: [13]"]);
}

#[test]
fn a_client_that_is_held_back_has_not_waited() {
    let (_, found) = checked("held-back", "program_that_is_held_back");
    let [finding] = findings(&found) else {
        panic!("{found:#}");
    };
    let text = finding["text"].as_str().expect("a text");
    assert_eq!(
        text.matches("a memset of 256 bytes at 0x").count(),
        2,
        "{text}"
    );
}
