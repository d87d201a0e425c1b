//! Captures, as known to everything that takes part in one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::status::Status;

/// A capture.
pub struct Session {
    /// Its number.
    pub id: u64,
    /// Whether something was requested that invalidates it.
    invalid: AtomicBool,
    /// Whether it is over.
    ended: AtomicBool,
}

impl Session {
    /// One that begins.
    pub fn begin() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            invalid: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        }
    }

    /// Ends it in all its streams, without a graph.
    pub fn invalidate(&self) {
        self.invalid.store(true, Ordering::Relaxed);
    }

    /// Ends it.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// The status for a query of an event that was recorded in it. The query invalidates the
    /// capture.
    pub fn asked_of_event(&self) -> Status {
        let is_over = self.is_invalid() || self.ended.load(Ordering::Relaxed);
        self.invalidate();
        match is_over {
            true => Status::INVALID_VALUE,
            false => Status::CAPTURED_EVENT,
        }
    }

    /// Whether it will not result in a graph.
    pub fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Relaxed)
    }
}
