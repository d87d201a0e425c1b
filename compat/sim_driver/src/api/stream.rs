//! Streams: creation, waiting, capture.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::{api, put, put_if, uncaptured, usable};
use crate::capture::Capture;
use crate::context::Context;
use crate::event::{Event, State};
use crate::graph::{Graph, Work};
use crate::operation::{HostCall, Operation};
use crate::session;
use crate::status::{Outcome, Status};
use crate::stream::{NON_BLOCKING, Stream, StreamKind};

/// Priorities: the least and the most urgent.
const PRIORITIES: std::ops::RangeInclusive<i32> = -5..=0;

/// `CU_EVENT_WAIT_EXTERNAL`
const EXTERNAL: u32 = 1;

/// Creates a stream in the current context.
fn create(flags: u32, priority: i32) -> Outcome<usize> {
    let context = Context::current()?;
    Status::INVALID_VALUE.when(flags & !NON_BLOCKING != 0)?;
    let kind = match flags & NON_BLOCKING {
        0 => StreamKind::Blocking,
        _ => StreamKind::NonBlocking,
    };
    let priority = priority.clamp(*PRIORITIES.start(), *PRIORITIES.end());
    context.add_stream(kind, priority)
}

/// A call made by a stream, as for `cuStreamAddCallback`: with the stream and a status.
struct Callback {
    function: unsafe extern "C" fn(usize, u32, *mut c_void),
    stream: usize,
    data: *mut c_void,
}

unsafe extern "C" fn call_back(callback: *mut c_void) {
    let callback = unsafe { Box::from_raw(callback.cast::<Callback>()) };
    unsafe { (callback.function)(callback.stream, 0, callback.data) };
}

api! {
    fn cuStreamCreate(out: *mut usize, flags: c_uint) {
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, create(flags, 0)?)
    }
    fn cuStreamCreateWithPriority(out: *mut usize, flags: c_uint, priority: c_int) {
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, create(flags, priority)?)
    }
    fn cuStreamDestroy_v2(handle: usize) {
        Stream::destroy(handle)
    }
    fn cuStreamQuery, cuStreamQuery_ptsz(handle: usize) in handle {
        let (context, stream) = uncaptured(handle)?;
        session::permit()?;
        let others = match stream.kind {
            StreamKind::Legacy => context.all_streams(),
            _ => Vec::new(),
        };
        let mut blocking = others.iter().filter(|s| s.kind == StreamKind::Blocking);
        if stream.is_known_idle() && blocking.all(|stream| stream.is_known_idle()) {
            return context.check();
        }
        Err(Status::NOT_READY)
    }
    fn cuStreamSynchronize, cuStreamSynchronize_ptsz(handle: usize) in handle {
        let (context, stream) = uncaptured(handle)?;
        session::permit()?;
        if stream.kind == StreamKind::Legacy {
            for stream in context.all_streams() {
                if stream.kind == StreamKind::Blocking {
                    stream.wait();
                }
            }
        }
        stream.wait();
        context.check()
    }
    fn cuStreamWaitEvent, cuStreamWaitEvent_ptsz(handle: usize, event: usize, flags: c_uint) in handle {
        let (_, stream) = usable(handle)?;
        let event = Event::of(event)?;
        Status::INVALID_VALUE.when(flags > 1)?;
        wait_event(&stream, event, flags)
    }
    fn cuStreamGetFlags, cuStreamGetFlags_ptsz(handle: usize, out: *mut c_uint) in handle {
        let (_, stream) = uncaptured(handle)?;
        put(out, c_uint::from(stream.kind == StreamKind::NonBlocking))
    }
    fn cuStreamGetPriority, cuStreamGetPriority_ptsz(handle: usize, out: *mut c_int) in handle {
        put(out, Stream::of(handle)?.1.priority)
    }
    fn cuStreamGetCtx, cuStreamGetCtx_ptsz(handle: usize, out: *mut usize) in handle {
        put(out, Stream::of(handle)?.0.handle)
    }
    fn cuStreamGetDevice, cuStreamGetDevice_ptsz(handle: usize, out: *mut c_int) in handle {
        put(out, uncaptured(handle)?.0.device.ordinal as c_int)
    }
    fn cuStreamGetId, cuStreamGetId_ptsz(handle: usize, out: *mut u64) in handle {
        put(out, uncaptured(handle)?.1.id)
    }
    fn cuStreamGetAttribute, cuStreamGetAttribute_ptsz(handle: usize, _number: c_uint, out: *mut c_void) in handle {
        Stream::of(handle)?;
        put(out.cast::<[u64; 8]>(), [0; 8])
    }
    fn cuStreamSetAttribute, cuStreamSetAttribute_ptsz(handle: usize, _number: c_uint, _value: *const c_void) in handle {
        Stream::of(handle).map(drop)
    }
    fn cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz(to: usize, from: usize) in to, from {
        Stream::of(to)?;
        Stream::of(from).map(drop)
    }
    fn cuLaunchHostFunc, cuLaunchHostFunc_ptsz(handle: usize, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) in handle {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        super::submit(handle, Operation::Call(HostCall::new(function, data)))
    }
    fn cuStreamAddCallback, cuStreamAddCallback_ptsz(handle: usize, function: Option<unsafe extern "C" fn(usize, u32, *mut c_void)>, data: *mut c_void, flags: c_uint) in handle {
        let function = function.ok_or(Status::INVALID_VALUE)?;
        uncaptured(handle)?;
        Status::INVALID_VALUE.when(flags != 0)?;
        let callback = Box::new(Callback { function, stream: handle, data });
        let call = HostCall::new(call_back, Box::into_raw(callback).cast());
        super::submit(handle, Operation::Call(call))
    }

    fn cuStreamBeginCapture, cuStreamBeginCapture_ptsz(handle: usize) in handle {
        begin_capture(handle, 0)
    }
    fn cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz(handle: usize, mode: c_uint) in handle {
        begin_capture(handle, mode)
    }
    fn cuStreamEndCapture, cuStreamEndCapture_ptsz(handle: usize, out: *mut usize) in handle {
        let graph = end_capture(handle)?.handle()?;
        put_if(out, graph);
        Ok(())
    }
    fn cuStreamIsCapturing, cuStreamIsCapturing_ptsz(handle: usize, out: *mut c_uint) in handle {
        put(out, capture_status(&observed(handle)?.capture()))
    }
    fn cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz(handle: usize, status: *mut c_uint, id: *mut u64) in handle {
        capture_info(handle, status, id, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut())
    }
    fn cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz(handle: usize, status: *mut c_uint, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, n: *mut usize) in handle {
        capture_info(handle, status, id, graph, nodes, n)
    }
    fn cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz(handle: usize, status: *mut c_uint, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, edges: *mut *const c_void, n: *mut usize) in handle {
        put_if(edges, std::ptr::null());
        capture_info(handle, status, id, graph, nodes, n)
    }
    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) {
        let new = super::get(mode)?;
        Status::INVALID_VALUE.when(new > 2)?;
        put(mode, session::exchange_mode(new))
    }
}

fn begin_capture(handle: usize, mode: u32) -> Outcome {
    let (context, stream) = Stream::of(handle)?;
    Status::INVALID_VALUE.when(mode > 2)?;
    Status::STREAM_CAPTURE_UNSUPPORTED.when(stream.kind == StreamKind::Legacy)?;
    let mut capture = stream.capture();
    Status::ILLEGAL_STATE.when(capture.is_some())?;
    *capture = Some(Capture::begin(context.handle, mode));
    Ok(())
}

/// Ends the capture that began in a stream; returns its graph.
fn end_capture(handle: usize) -> Outcome<Arc<Graph>> {
    let (context, stream) = Stream::of(handle)?;
    let ended = {
        let mut capture = stream.capture();
        let part = capture.as_ref().ok_or(Status::ILLEGAL_STATE)?;
        if !part.is_origin {
            part.session.invalidate();
            return Err(Status::STREAM_CAPTURE_UNMATCHED);
        }
        capture.take().ok_or(Status::ILLEGAL_STATE)?
    };
    let others = context.take_captures(ended.session.id);
    let mut lasts = others.iter().flat_map(|part| &part.last);
    let failure = if ended.session.is_invalid() {
        Status::STREAM_CAPTURE_INVALIDATED
    } else if !ended.session.may_end() {
        Status::STREAM_CAPTURE_WRONG_THREAD
    } else if !lasts.all(|&node| comes_before(&ended, node)) {
        Status::STREAM_CAPTURE_UNJOINED
    } else {
        return Ok(Arc::clone(&ended.graph));
    };
    ended.graph.forget()?;
    Err(failure)
}

/// Makes a stream, or what is captured of it, wait for an event.
fn wait_event(stream: &Stream, event: Arc<Event>, flags: u32) -> Outcome {
    let mut capture = stream.open_capture()?;
    if flags == EXTERNAL {
        let capture = capture.as_mut().ok_or(Status::ILLEGAL_STATE)?;
        capture.add_work(Work::Wait(event));
        return Ok(());
    }
    let state = event.state().clone();
    let refused = match (&state, &mut *capture) {
        (State::Never, _) => return Ok(()),
        (State::Recorded { task, .. }, None) => {
            stream.wait_for(Arc::clone(task));
            return Ok(());
        }
        (State::Recorded { .. }, Some(_)) => Status::STREAM_CAPTURE_ISOLATION,
        (State::Captured(other), _) if other.session.is_over() => Status::INVALID_VALUE,
        (State::Captured(other), Some(own)) if own.session.id == other.session.id => {
            own.join(&other.nodes);
            return Ok(());
        }
        (State::Captured(_), Some(_)) => Status::STREAM_CAPTURE_MERGE,
        (State::Captured(_), None) if stream.kind == StreamKind::Legacy => {
            Status::STREAM_CAPTURE_IMPLICIT
        }
        (State::Captured(other), none) => {
            *none = Some(Capture::forked(other.clone())?);
            return Ok(());
        }
    };
    // Neither capture can go on.
    let own = capture.as_ref().map(|own| &own.session);
    own.into_iter().for_each(|session| session.invalidate());
    if let State::Captured(other) = state {
        other.session.invalidate();
    }
    Err(refused)
}

/// A stream whose capture is only asked about. The legacy stream is an error while it could not be
/// used.
fn observed(handle: usize) -> Outcome<Arc<Stream>> {
    let (context, stream) = Stream::of(handle)?;
    let is_legacy = stream.kind == StreamKind::Legacy;
    let is_in_the_way = is_legacy && !context.blocking_captures().is_empty();
    Status::STREAM_CAPTURE_IMPLICIT.when(is_in_the_way)?;
    Ok(stream)
}

/// `CU_STREAM_CAPTURE_STATUS_…`
fn capture_status(capture: &Option<Capture>) -> c_uint {
    match capture {
        None => 0,
        Some(capture) if capture.session.is_invalid() => 2,
        Some(_) => 1,
    }
}

/// Whether a node is among those that a capture has reached, or comes before them.
fn comes_before(capture: &Capture, node: usize) -> bool {
    let nodes = capture.graph.nodes();
    let mut left = capture.last.clone();
    let mut seen = std::collections::HashSet::new();
    while let Some(at) = left.pop() {
        if at == node {
            return true;
        }
        if seen.insert(at) {
            let found = nodes.iter().find(|n| n.handle == at);
            left.extend(found.into_iter().flat_map(|n| &n.after));
        }
    }
    false
}

unsafe fn capture_info(
    handle: usize,
    status: *mut c_uint,
    id: *mut u64,
    graph: *mut usize,
    nodes: *mut *const usize,
    n: *mut usize,
) -> Outcome {
    let stream = observed(handle)?;
    let capture = stream.capture();
    unsafe {
        put(status, capture_status(&capture))?;
        let Some(capture) = capture
            .as_ref()
            .filter(|capture| !capture.session.is_invalid())
        else {
            return Ok(());
        };
        put_if(id, capture.session.id);
        if !graph.is_null() {
            // Valid while the capture lasts.
            graph.write(capture.graph.handle()?);
        }
        // The list belongs to the capture, and is valid until the stream is used again.
        put_if(nodes, capture.last.as_ptr());
        put_if(n, capture.last.len());
    }
    Ok(())
}
