//! A clock: when something began, and how long ago that was.
//!
//! WebAssembly alone has no clock (`std`'s panics). There time is a counter that goes on by
//! a microsecond with each reading: a kernel that waits for the clock still ends, and
//! durations mean nothing.

use std::time::Duration;

/// A moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started(Moment);

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
type Moment = std::time::Instant;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
impl Started {
    /// This moment.
    pub fn now() -> Self {
        Self(Moment::now())
    }

    /// The time since then.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Readings before it.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
type Moment = u64;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
impl Started {
    /// This moment.
    pub fn now() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static READINGS: AtomicU64 = AtomicU64::new(0);
        Self(READINGS.fetch_add(1, Ordering::Relaxed))
    }

    /// The time since then.
    pub fn elapsed(self) -> Duration {
        Duration::from_micros(Self::now().0 - self.0)
    }
}
