//! Buffers that are used before a stream's work on them has been waited for.

use super::{Rank, message, ranks};
use crate::behaviour::kernels::{self, PTX};
use lockstep::collectives::Operator;
use lockstep::{Buffer, Device, LaunchConfig, Simulator, Together};

/// A sum over two ranks that has been put into their streams.
fn begun(all: &[Rank]) -> Vec<Buffer<u32>> {
    let buffers: Vec<_> = all.iter().map(|rank| rank.give(&[1_u32; 64])).collect();
    for (Rank { rank, stream, .. }, buffer) in all.iter().zip(&buffers) {
        // SAFETY: the buffers live as long as the streams.
        unsafe { rank.all_reduce(stream, buffer, buffer, Operator::Sum) }.expect("it fits");
    }
    buffers
}

/// Every use of the buffer names the call, and both places.
fn names_both(text: &str) {
    assert!(text.contains("all_reduce (sum) of 64 u32 at"), "{text}");
    assert!(text.contains("tests/collective/pending.rs:"), "{text}");
}

#[test]
fn a_kernel_in_another_stream_is_found() {
    let all = ranks(2);
    let buffers = begun(&all);
    let module = all[0].device.load(PTX).expect("it loads");
    let config = LaunchConfig::linear(64, 64);
    let args = || (buffers[0].as_mut_ptr(), 64);
    // SAFETY: the buffer has 64 numbers.
    let launched = unsafe { module.launch(kernels::increment, config, args()) };
    let text = launched.expect_err("nobody has waited").to_string();
    names_both(&text);
    assert!(text.contains("not waited for: load of 4 bytes"), "{text}");
    assert!(
        text.contains("kernel `increment`") && text.contains("`given`"),
        "{text}"
    );
    // In the same stream, in one that waits for it, and after the host has waited, it is right.
    let other = all[0].device.stream().expect("there is one");
    // SAFETY: as above.
    unsafe {
        all[0]
            .stream
            .launch(&module, kernels::increment, config, args())
            .expect("the same stream");
        other
            .wait(&all[0].stream.record().expect("put in"))
            .expect("put in");
        other
            .launch(&module, kernels::increment, config, args())
            .expect("it comes after");
        all[0].rank.synchronize(&all[0].stream).expect("it ends");
        other.synchronize().expect("it ends");
        module
            .launch(kernels::increment, config, args())
            .expect("it has ended");
    }
}

#[test]
fn the_host_and_other_calls_are_found() {
    let all = ranks(2);
    let buffers = begun(&all);
    let text = buffers[1]
        .read()
        .expect_err("nobody has waited")
        .to_string();
    names_both(&text);
    assert!(
        text.starts_with("stream: a read by the host does not wait for"),
        "{text}"
    );
    names_both(&message(buffers[1].write(&[0; 64])));
    let other = all[1].device.stream().expect("there is one");
    let copy = all[1].room::<u32>(64);
    // SAFETY: the buffers live as long as the streams.
    let (copied, called) = unsafe {
        let copied = other.copy(&copy, &buffers[1]);
        let called = all[1].rank.broadcast(&other, &buffers[1], 0);
        (copied, called)
    };
    for text in [message(copied), message(called)] {
        names_both(&text);
        assert_eq!(
            text.matches("tests/collective/pending.rs:").count(),
            2,
            "{text}"
        );
    }
    all[1].rank.synchronize(&all[1].stream).expect("it ends");
    assert_eq!(buffers[1].read().expect("it is there"), [2; 64]);
}

#[test]
fn who_asks_an_event_until_it_has_passed_has_waited() {
    let all = ranks(2);
    let buffers = begun(&all);
    let end = all[0].stream.record().expect("put in");
    assert!(end.is_passed().expect("it is known"));
    assert_eq!(buffers[0].read().expect("it has ended"), [2; 64]);
}

/// A simulator does everything at once, and cannot go on with what other ranks have not done.
#[test]
fn a_stream_does_not_go_on_before_all_ranks_have_called() {
    let all = ranks(2);
    let buffer = all[0].give(&[1_u32; 64]);
    let Rank { rank, stream, .. } = &all[0];
    // SAFETY: the buffer lives as long as the stream.
    unsafe { rank.all_reduce(stream, &buffer, &buffer, Operator::Sum) }.expect("it fits");
    // SAFETY: as above.
    let filled = unsafe { stream.fill(&buffer, 0) };
    for text in [message(stream.synchronize()), message(filled)] {
        names_both(&text);
        assert!(text.contains("which other ranks have not made"), "{text}");
    }
}

#[test]
fn launches_together_come_after_a_stream_if_that_is_said() {
    let all = ranks(2);
    let buffers = begun(&all);
    let add = |says_so: bool| {
        let mut together = Together::new();
        for (Rank { stream, device, .. }, buffer) in all.iter().zip(&buffers) {
            let module = device.load(PTX).expect("it loads");
            let (config, args) = (LaunchConfig::linear(64, 64), (buffer.as_mut_ptr(), 64));
            // SAFETY: the buffer has 64 numbers.
            let added = unsafe {
                match says_so {
                    true => together.add_after(stream, &module, kernels::increment, config, args),
                    false => together.add(&module, kernels::increment, config, args),
                }
            };
            added.expect("allowed");
        }
        together.run()
    };
    names_both(&add(false).expect_err("nobody has waited").to_string());
    add(true).expect("both come after it");
    // They have ended, so that the host comes after it, too.
    let numbers = buffers[1].read().expect("it has ended");
    assert_eq!(numbers.len(), 64);
}

#[test]
fn what_only_reads_may_meet_what_reads() {
    let settings = Simulator {
        check: true,
        ..Simulator::default()
    };
    let devices = Device::simulators_with(2, settings);
    let from = devices[0].upload("from", &[7_u32; 8]).expect("room");
    let to = devices[1].zeroed::<u32>("to", 8).expect("room");
    let stream = devices[0].stream().expect("there is one");
    // SAFETY: the buffers live as long as the stream.
    unsafe { stream.copy(&to, &from) }.expect("put in");
    assert_eq!(from.read().expect("it is only read"), [7; 8]);
    let text = to.read().expect_err("it is written").to_string();
    assert!(
        text.contains("the copy at") && text.contains("may still be writing"),
        "{text}"
    );
    // A stream of the other device that waits hands it on to the host.
    let other = devices[1].stream().expect("there is one");
    other
        .wait(&stream.record().expect("put in"))
        .expect("put in");
    other.synchronize().expect("it ends");
    assert_eq!(to.read().expect("it has come"), [7; 8]);
    // Without checks nothing is said.
    let plain = Device::simulator();
    let (from, to) = (
        plain.upload("a", &[1_u8]).expect("room"),
        plain.zeroed::<u8>("b", 1).expect("room"),
    );
    let stream = plain.stream().expect("there is one");
    // SAFETY: as above.
    unsafe { stream.copy(&to, &from) }.expect("put in");
    assert_eq!(to.read().expect("it is there"), [1]);
}

/// Launches of `increment` on 64 numbers, in two streams of a device that checks.
struct Streams {
    device: Device,
    module: lockstep::Module,
    streams: [lockstep::Stream; 2],
}

impl Streams {
    fn new() -> Self {
        let device = Device::simulator_with(Simulator {
            check: true,
            ..Simulator::default()
        });
        Self {
            module: device.load(PTX).expect("it loads"),
            streams: [(); 2].map(|()| device.stream().expect("there is one")),
            device,
        }
    }

    /// Increments 64 numbers from `first` on, in one of the streams.
    fn increment(
        &self,
        stream: usize,
        x: &Buffer<u32>,
        first: usize,
    ) -> Result<(), lockstep::Error> {
        let args = (x.ptr_mut_at(first), 64);
        let config = LaunchConfig::linear(64, 64);
        // SAFETY: the buffer is long enough, and lives as long as the streams.
        unsafe { self.streams[stream].launch(&self.module, kernels::increment, config, args) }
    }
}

#[test]
fn what_a_kernel_in_a_stream_uses_is_its_own_until_someone_has_waited() {
    let all = Streams::new();
    let x = all.device.zeroed::<u32>("x", 128).expect("room");
    let y = all.device.zeroed::<u32>("y", 128).expect("room");
    all.increment(0, &x, 0).expect("nobody else works on it");
    // The rest is free, also for a kernel; and so is the same stream.
    all.increment(1, &x, 64).expect("other numbers");
    all.increment(0, &x, 0).expect("the same stream");
    let kernel = "the kernel `increment` launched at crates/lockstep/tests/collective/pending.rs:";
    let refused = |text: String| {
        assert!(text.contains(kernel), "{text}");
        assert!(text.contains("may still be writ"), "{text}");
        text
    };
    let text = refused(
        all.increment(1, &x, 63)
            .expect_err("one is both")
            .to_string(),
    );
    assert!(text.contains("not waited for: load of 4 bytes"), "{text}");
    refused(x.read().expect_err("nobody has waited").to_string());
    refused(message(x.write(&[0; 128])));
    let [_, other] = &all.streams;
    // SAFETY: the buffers live as long as the streams.
    let (copied, filled, part) = unsafe {
        let copied = other.copy(&y, &x);
        let filled = other.fill(&x, 0);
        (copied, filled, other.copy_part(&y, 0, &x, 64..128))
    };
    refused(message(copied));
    refused(message(filled));
    part.expect("those were its own");
    // A kernel in no stream is the host's.
    let args = (x.as_mut_ptr(), 64);
    // SAFETY: as above.
    let launched = unsafe {
        let config = LaunchConfig::linear(64, 64);
        all.module.launch(kernels::increment, config, args)
    };
    refused(launched.expect_err("nobody has waited").to_string());
    // Whoever waits may use all of it.
    other
        .wait(&all.streams[0].record().expect("put in"))
        .expect("put in");
    all.increment(1, &x, 0).expect("it comes after");
    other.synchronize().expect("it ends");
    x.read().expect("all is done");
}

#[test]
fn kernels_that_only_read_may_do_so_together() {
    let all = Streams::new();
    let x = all.device.upload("x", &[1.0_f32; 64]).expect("room");
    let y = [(); 2].map(|()| all.device.zeroed::<f32>("y", 64).expect("room"));
    for (stream, y) in all.streams.iter().zip(&y) {
        let config = LaunchConfig::linear(64, 64);
        let args = (x.as_slice(), y.as_mut_ptr(), 2.0);
        // SAFETY: the buffers are long enough, and live as long as the streams.
        unsafe { stream.launch(&all.module, kernels::scale, config, args) }.expect("it is read");
    }
    assert_eq!(x.read().expect("it is only read"), [1.0; 64]);
    let text = message(x.write(&[0.0; 64]));
    assert!(
        text.contains("`scale`") && text.contains("may still be reading"),
        "{text}"
    );
}

#[test]
fn memory_that_was_freed_is_nobodys() {
    let all = Streams::new();
    let x = all.device.zeroed::<u32>("x", 64).expect("room");
    all.increment(0, &x, 0).expect("it is its own");
    drop(x);
    let y = all
        .device
        .zeroed::<u32>("y", 64)
        .expect("what was there is gone");
    assert_eq!(y.read().expect("it is another's"), [0; 64]);
    // What was recorded is the stream's once it runs.
    let graph = all.streams[0]
        .record_graph(|| all.increment(0, &y, 0))
        .expect("recorded");
    y.write(&[5; 64]).expect("it has not run");
    // SAFETY: the buffer lives as long as the streams.
    unsafe { all.streams[0].launch_graph(&graph) }.expect("it runs");
    assert!(y.read().is_err());
    all.streams[0].synchronize().expect("it ends");
    assert_eq!(y.read().expect("it has run"), [6; 64]);
}
