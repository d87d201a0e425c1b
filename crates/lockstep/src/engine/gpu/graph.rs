//! Many launches as one: what would go into the stream is recorded as a graph,
//! which the device then runs without the host. `cust` has no call for it.

use super::session::RunError;
use cuda_driver::DriverError;
use cust::stream::Stream;
use std::ffi::{c_int, c_ulonglong, c_void};

unsafe extern "C" {
    fn cuStreamBeginCapture_v2(stream: *mut c_void, mode: c_int) -> c_int;
    fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) -> c_int;
    fn cuGraphInstantiateWithFlags(
        exec: *mut *mut c_void,
        graph: *mut c_void,
        flags: c_ulonglong,
    ) -> c_int;
    fn cuGraphLaunch(exec: *mut c_void, stream: *mut c_void) -> c_int;
    fn cuGraphExecDestroy(exec: *mut c_void) -> c_int;
    fn cuGraphDestroy(graph: *mut c_void) -> c_int;
}

/// `CU_STREAM_CAPTURE_MODE_RELAXED`, part of the driver's ABI: a library may make
/// other calls while it is recorded.
const CAPTURE_MODE_RELAXED: c_int = 2;

fn check(call: &'static str, code: c_int) -> Result<(), RunError> {
    if code == 0 {
        return Ok(());
    }
    Err(RunError::Engine(DriverError::new(call, code).into()))
}

/// A graph, ready to run.
pub(super) struct Graph {
    exec: *mut c_void,
}

impl Graph {
    /// Of what `enqueue` puts into the stream, which does not run now.
    pub(super) fn of(
        stream: &Stream,
        enqueue: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<Self, RunError> {
        let raw = stream.as_inner().cast();
        // SAFETY: the stream is alive.
        check("cuStreamBeginCapture", unsafe {
            cuStreamBeginCapture_v2(raw, CAPTURE_MODE_RELAXED)
        })?;
        let enqueued = enqueue();
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is recorded, which ends here whatever went wrong.
        let ended = check("cuStreamEndCapture", unsafe {
            cuStreamEndCapture(raw, &mut graph)
        });
        let mut exec = std::ptr::null_mut();
        let made = enqueued.and(ended).and_then(|()| {
            // SAFETY: the graph was just made.
            check("cuGraphInstantiate", unsafe {
                cuGraphInstantiateWithFlags(&mut exec, graph, 0)
            })
        });
        if !graph.is_null() {
            // SAFETY: the graph is ours, and what was made of it is a copy.
            unsafe { cuGraphDestroy(graph) };
        }
        made.map(|()| Self { exec })
    }

    /// Puts one run of it into the stream.
    pub(super) fn enqueue(&self, stream: &Stream) -> Result<(), RunError> {
        // SAFETY: both are alive.
        check("cuGraphLaunch", unsafe {
            cuGraphLaunch(self.exec, stream.as_inner().cast())
        })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: it is ours; the driver keeps what still runs.
        unsafe { cuGraphExecDestroy(self.exec) };
    }
}
