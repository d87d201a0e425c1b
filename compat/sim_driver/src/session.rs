//! Captures, as all that has a part in one knows them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::status::Status;

/// A capture, from its beginning on.
pub struct Session {
    /// Its number.
    pub id: u64,
    /// Whether something was asked for that it does not survive.
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

    /// Ends it without a graph, in all its streams.
    pub fn invalidate(&self) {
        self.invalid.store(true, Ordering::Relaxed);
    }

    /// It is over.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// What an event that was recorded in it answers to who asks whether it is complete; a
    /// capture does not survive that.
    pub fn asked_of_event(&self) -> Status {
        let is_over = self.is_invalid() || self.ended.load(Ordering::Relaxed);
        self.invalidate();
        match is_over {
            true => Status::INVALID_VALUE,
            false => Status::CAPTURED_EVENT,
        }
    }

    /// Whether it will not give a graph.
    pub fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Relaxed)
    }
}
