//! Events: complete when they are, waited for by streams and hosts, and the time between two.

use cust::event::{Event, EventFlags, EventStatus};
use cust::memory::{DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};

use crate::{Program, values};

#[test]
fn an_event_is_complete_when_its_stream_got_there() {
    let program = Program::new();
    let flag = LockedBuffer::new(&0_u32, 1).expect("room");
    let out = DeviceBuffer::from_slice(&[0_u32]).expect("room");
    let kernel = program
        .module
        .get_function("wait_then_store")
        .expect("it is there");
    let (stream, address) = (&program.stream, flag.as_slice().as_ptr() as u64);
    // SAFETY: both outlive the launch; pinned memory has one address.
    unsafe { cust::launch!(kernel<<<1, 1, 0, stream>>>(address, out.as_device_ptr(), 1_u32)) }
        .expect("launched");
    let event = Event::new(EventFlags::DEFAULT).expect("an event");
    event.record(stream).expect("submitted");
    assert!(matches!(event.query(), Ok(EventStatus::NotReady)));
    // SAFETY: the kernel reads it as volatile.
    unsafe { flag.as_slice().as_ptr().cast_mut().write_volatile(1) };
    event.synchronize().expect("done");
    assert!(matches!(event.query(), Ok(EventStatus::Ready)));
    assert_eq!(values(&out), [1]);
}

#[test]
fn a_stream_waits_for_an_event_of_another() {
    let program = Program::new();
    let other = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let x = DeviceBuffer::from_slice(&[1.0_f32; 4096]).expect("room");
    for _ in 0..20 {
        program.saxpy(&program.stream, 1.0, &x, &x);
        let event = Event::new(EventFlags::DISABLE_TIMING).expect("an event");
        event.record(&program.stream).expect("submitted");
        other
            .wait_event(event, StreamWaitEventFlags::DEFAULT)
            .expect("submitted");
        program.saxpy(&other, -0.5, &x, &x);
        let event = Event::new(EventFlags::DISABLE_TIMING).expect("an event");
        event.record(&other).expect("submitted");
        program
            .stream
            .wait_event(event, StreamWaitEventFlags::DEFAULT)
            .expect("submitted");
    }
    program.stream.synchronize().expect("done");
    assert_eq!(values(&x), [1.0; 4096]);
}

#[test]
fn the_time_between_events_is_told() {
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[1.0_f32; 4096]).expect("room");
    let [start, end] = [(); 2].map(|()| Event::new(EventFlags::DEFAULT).expect("an event"));
    start.record(&program.stream).expect("submitted");
    program.saxpy(&program.stream, 1.0, &x, &x);
    end.record(&program.stream).expect("submitted");
    end.synchronize().expect("done");
    assert!(end.elapsed_time_f32(&start).expect("both are complete") > 0.0);
}
