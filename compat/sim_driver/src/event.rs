//! Events: points in streams, complete once everything before them is.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::capture::Capture;
use crate::driver::driver;
use crate::status::{Outcome, Status};
use crate::tasks::Task;

/// `CU_EVENT_DISABLE_TIMING`
pub const DISABLE_TIMING: u32 = 2;

/// An event.
pub struct Event {
    /// Its handle.
    pub handle: usize,
    /// `CU_EVENT_…`
    pub flags: u32,
    /// The handle of its context.
    pub context: usize,
    state: Mutex<State>,
}

/// Where an event was last recorded.
#[derive(Clone, Default)]
pub enum State {
    /// Nowhere: it counts as complete.
    #[default]
    Never,
    /// In a stream.
    Recorded {
        /// Done once the event is complete.
        task: Arc<Task>,
        /// When it was.
        at: Arc<OnceLock<Instant>>,
    },
    /// In a stream that is captured: nodes that come before it, and of which capture.
    Captured {
        /// The stream's part in the capture.
        capture: Capture,
        /// Handles of the nodes.
        nodes: Vec<usize>,
    },
}

impl Event {
    /// Of a context, never recorded.
    pub fn new(handle: usize, context: usize, flags: u32) -> Self {
        Self {
            handle,
            flags,
            context,
            state: Mutex::default(),
        }
    }

    /// The event of a handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        driver()?.events.get(handle).ok_or(Status::INVALID_HANDLE)
    }

    /// Where it was last recorded.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is complete.
    pub fn is_complete(&self) -> Outcome<bool> {
        match &*self.state() {
            State::Never => Ok(true),
            State::Recorded { task, .. } => Ok(task.is_done()),
            State::Captured { capture, .. } => Err(capture.asked_of_event()),
        }
    }

    /// Waits until it is.
    pub fn wait(&self) -> Outcome {
        let state = self.state().clone();
        match state {
            State::Never => Ok(()),
            State::Recorded { task, .. } => {
                task.wait();
                Ok(())
            }
            State::Captured { capture, .. } => Err(capture.asked_of_event()),
        }
    }

    /// When it was complete.
    pub fn time(&self) -> Outcome<Instant> {
        if self.flags & DISABLE_TIMING != 0 {
            return Err(Status::INVALID_HANDLE);
        }
        match &*self.state() {
            State::Never => Err(Status::INVALID_HANDLE),
            State::Recorded { at, .. } => at.get().copied().ok_or(Status::NOT_READY),
            State::Captured { capture, .. } => Err(capture.asked_of_event()),
        }
    }
}
