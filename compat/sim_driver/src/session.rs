//! Captures, as known to everything that takes part in one, and what they forbid meanwhile.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::status::{Outcome, Status};

/// `CU_STREAM_CAPTURE_MODE_…`: whose calls a capture forbids, those of all threads, of its own or
/// of none; and whose captures may forbid a thread's calls.
const GLOBAL: u32 = 0;
const RELAXED: u32 = 2;

/// The captures that are not over.
static UNDER_WAY: Mutex<Vec<Arc<Session>>> = Mutex::new(Vec::new());
static N_UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MODE: Cell<u32> = const { Cell::new(GLOBAL) };
}

/// A capture.
pub struct Session {
    /// Its number.
    pub id: u64,
    /// The context of the stream that it began in.
    context: usize,
    mode: u32,
    /// Where it began.
    thread: ThreadId,
    /// Whether something was requested that invalidates it.
    invalid: AtomicBool,
    /// Whether it is over.
    ended: AtomicBool,
}

fn under_way() -> MutexGuard<'static, Vec<Arc<Session>>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether anything is captured.
pub fn is_any() -> bool {
    N_UNDER_WAY.load(Ordering::Relaxed) > 0
}

/// Sets this thread's mode; returns the one that it had.
pub fn exchange_mode(mode: u32) -> u32 {
    MODE.replace(mode)
}

/// An error if a capture forbids this thread calls on which captured work could depend. That
/// invalidates the capture.
pub fn permit() -> Outcome {
    refuse(Session::forbids)
}

/// An error if anything in a context is captured: then the context cannot be waited for. That
/// invalidates the capture.
pub fn permit_wait(context: usize) -> Outcome {
    refuse(|session| session.context == context)
}

fn refuse(is_in_the_way: impl Fn(&Session) -> bool) -> Outcome {
    if !is_any() {
        return Ok(());
    }
    let sessions = under_way();
    let in_the_way: Vec<_> = sessions.iter().filter(|s| is_in_the_way(s)).collect();
    in_the_way.iter().for_each(|session| session.invalidate());
    Status::STREAM_CAPTURE_UNSUPPORTED.when(!in_the_way.is_empty())
}

impl Session {
    /// One that begins on this thread, in a stream of a context.
    pub fn begin(context: usize, mode: u32) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let session = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            context,
            mode,
            thread: thread::current().id(),
            invalid: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        });
        let mut sessions = under_way();
        sessions.push(Arc::clone(&session));
        N_UNDER_WAY.store(sessions.len(), Ordering::Relaxed);
        session
    }

    /// Whether it forbids calls of this thread.
    fn forbids(&self) -> bool {
        let mode = MODE.get();
        let is_own = self.mode != RELAXED && self.is_of_this_thread();
        mode != RELAXED && is_own || mode == GLOBAL && self.mode == GLOBAL
    }

    fn is_of_this_thread(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Whether this thread may end it.
    pub fn may_end(&self) -> bool {
        self.mode == RELAXED || self.is_of_this_thread()
    }

    /// Ends it in all its streams, without a graph.
    pub fn invalidate(&self) {
        self.invalid.store(true, Ordering::Relaxed);
    }

    /// Ends it.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        let mut sessions = under_way();
        sessions.retain(|session| session.id != self.id);
        N_UNDER_WAY.store(sessions.len(), Ordering::Relaxed);
    }

    /// The status for a query of an event that was recorded in it.
    pub fn status_of_event(&self) -> Status {
        match self.is_over() {
            true => Status::INVALID_VALUE,
            false => Status::CAPTURED_EVENT,
        }
    }

    /// Whether it will not result in a graph.
    pub fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Relaxed)
    }

    /// Whether nothing more can be added to it.
    pub fn is_over(&self) -> bool {
        self.is_invalid() || self.ended.load(Ordering::Relaxed)
    }
}
