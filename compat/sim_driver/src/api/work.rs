//! Operations that functions put into streams.

use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::{Stream, StreamKind};

/// Has an operation done by a stream, or captured.
pub(super) fn submit(stream: usize, operation: Operation) -> Outcome {
    let (context, stream) = Stream::of(stream)?;
    if let Some(capture) = &mut *stream.capture() {
        capture.add(operation);
        return Ok(());
    }
    stream.submit(&context, operation);
    Ok(())
}

/// Has an operation done by a default stream, and waits for it.
pub(super) fn run(stream: usize, operation: Operation) -> Outcome {
    let (context, stream) = Stream::of(stream)?;
    match stream.kind {
        StreamKind::Legacy => not_captured(&context)?,
        _ => not_capturing(&stream)?,
    }
    stream.run(&context, operation);
    context.check()
}

/// An error if a stream is captured, and the end of that capture.
pub(super) fn not_capturing(stream: &Stream) -> Outcome {
    match &*stream.capture() {
        Some(capture) => {
            capture.invalidate();
            Err(Status::STREAM_CAPTURE_UNSUPPORTED)
        }
        None => Ok(()),
    }
}

/// An error if a stream is captured that the legacy stream would have to wait for.
pub(super) fn not_captured(context: &crate::context::Context) -> Outcome {
    let streams = context.all_streams();
    let waits =
        |s: &std::sync::Arc<Stream>| s.kind == StreamKind::Blocking && s.capture().is_some();
    if streams.iter().any(waits) {
        return Err(Status::STREAM_CAPTURE_IMPLICIT);
    }
    Ok(())
}
