//! Events: points in streams, complete once everything before them is.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::handles::{Kind, Table};
use crate::session::{self, Session};
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
        /// When it was completed.
        at: Arc<OnceLock<Instant>>,
    },
    /// In a stream that is captured.
    Captured(Captured),
}

/// A point in a capture.
#[derive(Clone)]
pub struct Captured {
    /// The capture.
    pub session: Arc<Session>,
    /// The handle of the graph that it makes.
    pub graph: usize,
    /// Handles of the nodes that come before.
    pub nodes: Vec<usize>,
}

/// `CUevent`
static EVENTS: Table<Event> = Table::new(Kind::Event);

impl Event {
    /// Creates one in a context, never recorded, and returns its handle.
    pub fn create(context: usize, flags: u32) -> usize {
        let handle = EVENTS.reserve();
        let event = Self {
            handle,
            flags,
            context,
            state: Mutex::default(),
        };
        EVENTS.insert(handle, Arc::new(event));
        handle
    }

    /// Invalidates the handle.
    pub fn destroy(handle: usize) -> Outcome {
        EVENTS.remove(handle).map(drop)
    }

    /// Invalidates the handles of a context that ends.
    pub(crate) fn forget_all(context: usize) {
        EVENTS.retain(|event| event.context != context);
    }

    /// The event with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        EVENTS.get(handle)
    }

    /// Where it was last recorded.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What completes it, if it has been recorded. In a capture nothing does: asking for it
    /// invalidates the capture.
    pub fn task(&self) -> Outcome<Option<Arc<Task>>> {
        match &*self.state() {
            State::Captured(captured) => {
                let status = captured.session.status_of_event();
                captured.session.invalidate();
                Err(status)
            }
            State::Never => session::permit().map(|()| None),
            State::Recorded { task, .. } => session::permit().map(|()| Some(Arc::clone(task))),
        }
    }

    /// When it was completed, as the client asks: then it knows that it is.
    pub fn known_time(&self) -> Outcome<Instant> {
        let time = self.time()?;
        if let State::Recorded { task, .. } = &*self.state() {
            task.wait();
        }
        Ok(time)
    }

    /// When it was completed.
    fn time(&self) -> Outcome<Instant> {
        Status::INVALID_HANDLE.when(self.flags & DISABLE_TIMING != 0)?;
        match &*self.state() {
            State::Never => Err(Status::INVALID_HANDLE),
            State::Recorded { at, .. } => at.get().copied().ok_or(Status::NOT_READY),
            State::Captured(captured) => Err(captured.session.status_of_event()),
        }
    }
}
