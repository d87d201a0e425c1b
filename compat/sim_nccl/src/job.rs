//! Work in flight.

use std::collections::VecDeque;

use crate::driver::{cuEventCreate, cuEventDestroy_v2, cuEventQuery, cuEventSynchronize};
use crate::exchange::Exchange;
use crate::result::Outcome;

/// `CU_EVENT_DISABLE_TIMING`
const NO_TIME: u32 = 2;

/// What is in flight, in the order in which it was submitted.
pub type Jobs = VecDeque<Job>;

/// Calls that a rank has submitted together.
pub struct Job {
    /// What the stream calls, and uses until the event.
    pub exchange: *mut Exchange,
    /// Complete once all is done.
    pub event: usize,
}

// SAFETY: what it points to is its own, and only changed by the stream.
unsafe impl Send for Job {}

impl Job {
    /// Waits until it is done.
    pub fn wait(&self) {
        // SAFETY: it takes no pointers.
        let _ = unsafe { cuEventSynchronize(self.event) };
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        // SAFETY: it takes no pointers.
        unsafe { cuEventQuery(self.event) }.is_ok()
    }

    /// Gives back what it used, once it is done.
    pub fn release(self) {
        // SAFETY: it takes no pointers.
        let _ = unsafe { cuEventDestroy_v2(self.event) };
        // SAFETY: it is ours, and the stream has called it.
        let exchange = unsafe { Box::from_raw(self.exchange) };
        exchange.staging.give();
    }
}

/// A new event.
///
/// # Errors
/// Those of the driver.
pub fn new_event() -> Outcome<usize> {
    let mut event = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { cuEventCreate(&mut event, NO_TIME)? };
    Ok(event)
}
