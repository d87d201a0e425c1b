//! Events.

use std::ffi::c_uint;
use std::sync::{Arc, OnceLock};

use super::{api, put};
use crate::context::Context;
use crate::event::{Event, State};
use crate::graph::Work;
use crate::operation::Operation;
use crate::status::{Outcome, Status};

/// Flags that an event may have.
const FLAGS: u32 = 7;
/// `CU_EVENT_RECORD_EXTERNAL`
const EXTERNAL: u32 = 1;
/// `CU_EVENT_INTERPROCESS`
const INTERPROCESS: u32 = 4;

fn record(event: usize, stream: usize, flags: u32) -> Outcome {
    let event = Event::of(event)?;
    let (context, stream) = super::usable(stream)?;
    Status::INVALID_HANDLE.when(event.context != context.handle)?;
    let mut capture = stream.open_capture()?;
    if flags == EXTERNAL {
        let capture = capture.as_mut().ok_or(Status::ILLEGAL_STATE)?;
        capture.add_work(Work::Record(event));
        return Ok(());
    }
    if let Some(capture) = &*capture {
        *event.state() = State::Captured(capture.so_far()?);
        return Ok(());
    }
    drop(capture);
    let at = Arc::new(OnceLock::new());
    let task = stream.submit(&context, Operation::Note(Arc::clone(&at)));
    *event.state() = State::Recorded { task, at };
    Ok(())
}

unsafe fn elapsed(out: *mut f32, from: usize, to: usize) -> Outcome {
    let (from, to) = (Event::of(from)?, Event::of(to)?);
    let device = |event: &Event| Context::of(event.context).map(|context| context.device.ordinal);
    Status::INVALID_HANDLE.when(device(&from)? != device(&to)?)?;
    let (from, to) = (from.known_time()?, to.known_time()?);
    let milliseconds = match to.checked_duration_since(from) {
        Some(span) => span.as_secs_f32() * 1e3,
        None => from.duration_since(to).as_secs_f32() * -1e3,
    };
    unsafe { put(out, milliseconds) }
}

api! {
    fn cuEventCreate(out: *mut usize, flags: c_uint) {
        let context = Context::current()?;
        // An event that other processes see has no time.
        let alone = flags & INTERPROCESS != 0 && flags & crate::event::DISABLE_TIMING == 0;
        Status::INVALID_VALUE.when(out.is_null() || flags & !FLAGS != 0 || alone)?;
        put(out, Event::create(context.handle, flags))
    }
    fn cuEventDestroy_v2(event: usize) {
        Event::destroy(event)
    }
    fn cuEventRecord, cuEventRecord_ptsz(event: usize, stream: usize) in stream {
        record(event, stream, 0)
    }
    fn cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz(event: usize, stream: usize, flags: c_uint) in stream {
        Status::INVALID_VALUE.when(flags > EXTERNAL)?;
        record(event, stream, flags)
    }
    fn cuEventQuery(event: usize) {
        let event = Event::of(event)?;
        let task = event.task()?;
        Status::NOT_READY.when(task.as_ref().is_some_and(|task| !task.is_done()))?;
        // It is done: now the client knows.
        task.iter().for_each(|task| task.wait());
        Context::of(event.context)?.check()
    }
    fn cuEventSynchronize(event: usize) {
        let event = Event::of(event)?;
        event.task()?.iter().for_each(|task| task.wait());
        Context::of(event.context)?.check()
    }
    fn cuEventElapsedTime(out: *mut f32, from: usize, to: usize) {
        elapsed(out, from, to)
    }
    fn cuEventElapsedTime_v2(out: *mut f32, from: usize, to: usize) = cuEventElapsedTime;
}
