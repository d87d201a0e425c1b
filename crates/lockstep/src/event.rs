//! Events: points in a stream, to wait for and to measure the time between.

use crate::engine::Machine;
use crate::engine::pending;
use crate::{Device, Error, driver};
use ptx_sim::Clock;
use std::fmt;

/// A point in a stream, from [`Stream::record`](crate::Stream::record).
pub struct Event {
    device: Device,
    /// `None` on the simulator, where everything before it has finished.
    on_device: Option<driver::Event>,
    /// On a simulator that checks, what comes before it.
    pub(crate) known: Clock,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").finish_non_exhaustive()
    }
}

impl Event {
    pub(crate) fn on_gpu(device: &Device, event: driver::Event) -> Self {
        Self {
            device: device.clone(),
            on_device: Some(event),
            known: Clock::default(),
        }
    }

    pub(crate) fn on_simulator(device: &Device, known: Clock) -> Self {
        Self {
            device: device.clone(),
            on_device: None,
            known,
        }
    }

    pub(crate) fn on_device(&self) -> Option<&driver::Event> {
        self.on_device.as_ref()
    }

    /// Whether everything before it in the stream has finished.
    ///
    /// # Errors
    ///
    /// The GPU is lost.
    pub fn is_passed(&self) -> Result<bool, Error> {
        match (&self.on_device, self.device.machine()) {
            (Some(event), Machine::Gpu(gpu)) => gpu.with_stream(|| event.is_passed()),
            _ => {
                pending::passed(&self.known);
                Ok(true)
            }
        }
    }

    /// Milliseconds from `start` to this event, both completed; `None` on the simulator, whose time
    /// says nothing about kernels.
    ///
    /// # Errors
    ///
    /// One of them has not completed or is on another device, or the GPU is lost.
    pub fn ms_since(&self, start: &Self) -> Result<Option<f32>, Error> {
        match (&self.on_device, &start.on_device, self.device.machine()) {
            (Some(end), Some(start), Machine::Gpu(gpu)) => {
                gpu.with_stream(|| end.ms_since(start)).map(Some)
            }
            _ => Ok(None),
        }
    }
}
