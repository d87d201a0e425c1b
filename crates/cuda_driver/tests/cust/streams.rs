//! Streams: concurrent with each other, in order within, with priorities and callbacks.

use std::sync::mpsc;

use cust::context::CurrentContext;
use cust::memory::{DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamFlags};

use crate::{Program, values};

#[test]
fn work_of_one_stream_is_done_in_order() {
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[1.0_f32; 500]).expect("room");
    let y = DeviceBuffer::from_slice(&[0.0_f32; 500]).expect("room");
    for _ in 0..50 {
        program.saxpy(&program.stream, 2.0, &x, &y);
        program.saxpy(&program.stream, 0.5, &y, &y);
    }
    program.stream.synchronize().expect("done");
    let expected = (0..50).fold(0.0_f32, |y, _| (y + 2.0) * 1.5);
    assert_eq!(values(&y), [expected; 500]);
}

#[test]
fn streams_run_beside_each_other() {
    let program = Program::new();
    let other = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let flag = LockedBuffer::new(&0_u32, 1).expect("room");
    let x = DeviceBuffer::from_slice(&[1.0_f32; 32]).expect("room");
    let out = DeviceBuffer::from_slice(&[0_u32]).expect("room");
    let kernel = program
        .module
        .get_function("wait_then_store")
        .expect("it is there");
    let (stream, address) = (&program.stream, flag.as_slice().as_ptr() as u64);
    // SAFETY: both outlive the launch; pinned memory has one address.
    unsafe { cust::launch!(kernel<<<1, 1, 0, stream>>>(address, out.as_device_ptr(), 11_u32)) }
        .expect("launched");
    // The first kernel waits for what comes after all of the second stream's work.
    program.saxpy(&other, 1.0, &x, &x);
    other.synchronize().expect("done");
    // SAFETY: the kernel reads it as volatile.
    unsafe { flag.as_slice().as_ptr().cast_mut().write_volatile(1) };
    CurrentContext::synchronize().expect("done");
    assert_eq!((values(&out), values(&x)), (vec![11], vec![2.0; 32]));
}

#[test]
fn a_callback_comes_after_what_was_submitted_before() {
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[1.0_f32; 64]).expect("room");
    program.saxpy(&program.stream, 1.0, &x, &x);
    let (sender, receiver) = mpsc::channel();
    program
        .stream
        .add_callback(Box::new(move || sender.send(5).expect("received")))
        .expect("submitted");
    assert_eq!(receiver.recv(), Ok(5));
    program.stream.synchronize().expect("done");
    assert_eq!(values(&x), [2.0; 64]);
}

#[test]
fn flags_and_priorities_are_told_back() {
    let _program = Program::new();
    let range = CurrentContext::get_stream_priority_range().expect("reported");
    assert!(range.greatest < range.least);
    let stream = Stream::new(StreamFlags::NON_BLOCKING, Some(range.greatest)).expect("a stream");
    assert_eq!(stream.get_priority().ok(), Some(range.greatest));
    // `cust` makes blocking streams, whatever it is asked for.
    assert_eq!(stream.get_flags().ok(), Some(StreamFlags::DEFAULT));
}
