//! Work recorded from a stream, which the device can run without the host.

use super::sys::{self, Handle};
use cuda_driver::{DriverError, check};

/// The recorded work.
pub(crate) struct Graph {
    /// Null if nothing could be recorded.
    handle: Handle,
}

/// A graph, ready to run.
pub(crate) struct GraphExec {
    handle: Handle,
}

impl Graph {
    pub(super) fn of(handle: Handle) -> Self {
        Self { handle }
    }

    /// Prepares it to run.
    pub(crate) fn instantiate(&self) -> Result<GraphExec, DriverError> {
        let mut exec = std::ptr::null_mut();
        // SAFETY: the graph is alive, and the instance is a copy.
        check("cuGraphInstantiate", unsafe {
            sys::cuGraphInstantiateWithFlags(&mut exec, self.handle, 0)
        })?;
        Ok(GraphExec { handle: exec })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: it is ours.
            let _ = unsafe { sys::cuGraphDestroy(self.handle) };
        }
    }
}

impl GraphExec {
    pub(super) fn raw(&self) -> Handle {
        self.handle
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        // SAFETY: it is ours; the driver keeps what is still running.
        let _ = unsafe { sys::cuGraphExecDestroy(self.handle) };
    }
}
