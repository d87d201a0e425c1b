//! Operations that functions submit to streams.

use std::sync::Arc;

use crate::context::Context;
use crate::driver::driver;
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::{Stream, StreamKind};
use crate::tasks::Task;

/// Submits an operation to a stream, or captures it.
pub(super) fn submit(stream: usize, operation: Operation) -> Outcome {
    let (context, stream) = Stream::of(stream)?;
    if let Some(capture) = &mut *stream.capture() {
        capture.add(operation);
        return Ok(());
    }
    submit_to(&context, &stream, operation);
    Ok(())
}

/// Submits an operation to a stream that is not captured.
fn submit_to(context: &Arc<Context>, stream: &Stream, operation: Operation) -> Arc<Task> {
    let others = others(context, stream, &operation);
    for other in &others {
        stream.wait_for(other.fence());
    }
    let task = stream.submit(context, operation);
    for other in &others {
        other.wait_for(&task);
    }
    task
}

/// The contexts of other devices that an operation of the legacy stream waits for, and that wait
/// for it: what copies between devices there runs concurrently with nothing on either.
fn others(context: &Context, stream: &Stream, operation: &Operation) -> Vec<Arc<Context>> {
    let (Operation::Copy(copy), StreamKind::Legacy, Ok(driver)) =
        (operation, stream.kind, driver())
    else {
        return Vec::new();
    };
    let [Some(to), Some(from)] =
        [copy.to, copy.from].map(|side| driver.device_of_address(side.address))
    else {
        return Vec::new();
    };
    let (own, ends) = (context.device.ordinal, [to.ordinal, from.ordinal]);
    if ends == [own, own] {
        return Vec::new();
    }
    let mut all = Context::all();
    all.retain(|other| {
        let ordinal = other.device.ordinal;
        ordinal != own && ends.contains(&ordinal)
    });
    all
}

/// Runs an operation in a default stream, and waits for it.
pub(super) fn run(stream: usize, operation: Operation) -> Outcome {
    let (context, stream) = Stream::of(stream)?;
    match stream.kind {
        StreamKind::Legacy => not_captured(&context)?,
        _ => not_capturing(&stream)?,
    }
    match others(&context, &stream, &operation).is_empty() {
        true => stream.run(&context, operation),
        false => submit_to(&context, &stream, operation).wait(),
    }
    context.check()
}

/// An error if a stream is captured, which also ends that capture.
pub(super) fn not_capturing(stream: &Stream) -> Outcome {
    match &*stream.capture() {
        Some(capture) => {
            capture.session.invalidate();
            Err(Status::STREAM_CAPTURE_UNSUPPORTED)
        }
        None => Ok(()),
    }
}

/// An error if a captured stream is one that the legacy stream would have to wait for.
pub(super) fn not_captured(context: &Context) -> Outcome {
    let streams = context.all_streams();
    let waits = |s: &Arc<Stream>| s.kind == StreamKind::Blocking && s.capture().is_some();
    Status::STREAM_CAPTURE_IMPLICIT.when(streams.iter().any(waits))?;
    Ok(())
}
