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
    let (context, stream) = usable(stream)?;
    if let Some(capture) = &mut *stream.open_capture()? {
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
    let (context, stream) = uncaptured(stream)?;
    match others(&context, &stream, &operation).is_empty() {
        true => stream.run(&context, operation),
        // Copies between devices, which a GPU may go on with.
        false => submit_to(&context, &stream, operation).wait_quietly(),
    }
    context.check()
}

/// The stream with this handle, and its context. The legacy stream is an error while a stream is
/// captured that it would have to wait for; that invalidates the capture.
pub(super) fn usable(handle: usize) -> Outcome<(Arc<Context>, Arc<Stream>)> {
    let (context, stream) = Stream::of(handle)?;
    if stream.kind == StreamKind::Legacy {
        let captures = context.blocking_captures();
        captures.iter().for_each(|session| session.invalidate());
        Status::STREAM_CAPTURE_IMPLICIT.when(!captures.is_empty())?;
    }
    Ok((context, stream))
}

/// The same, for what cannot be captured: an error if the stream is, and its capture invalid then.
pub(super) fn uncaptured(handle: usize) -> Outcome<(Arc<Context>, Arc<Stream>)> {
    let (context, stream) = usable(handle)?;
    if let Some(capture) = &*stream.capture() {
        capture.session.invalidate();
        return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
    }
    Ok((context, stream))
}
