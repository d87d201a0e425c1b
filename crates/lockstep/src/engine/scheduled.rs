//! The simulator with every launch in another order than the usual one, so that every
//! lesson's own checks judge what the kernel does in that order.

use super::sim::Sim;
use super::{DeviceProperties, Engine, EngineError, EngineKind, Observe, Prepared, Timed, Timing};
use crate::counts::Report;
use ptx_sim::Schedule;

/// Runs every launch under the schedule, and counts none.
pub struct Scheduled<'e> {
    /// What runs it.
    pub sim: &'e Sim,
    /// In which order.
    pub schedule: Schedule,
}

impl Engine for Scheduled<'_> {
    fn launch(&self, launch: &Prepared, _observe: Observe) -> Result<Option<Report>, EngineError> {
        self.sim.launch_under(launch, self.schedule)?;
        Ok(None)
    }

    fn kind(&self) -> EngineKind {
        self.sim.kind()
    }

    fn device(&self) -> &DeviceProperties {
        self.sim.device()
    }

    fn alloc(&self, size_bytes: u64, label: &str) -> Result<u64, EngineError> {
        self.sim.alloc(size_bytes, label)
    }

    fn free(&self, address: u64) -> Result<(), EngineError> {
        self.sim.free(address)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), EngineError> {
        self.sim.write(address, bytes)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), EngineError> {
        self.sim.read(address, bytes)
    }

    fn fill(&self, address: u64, size_bytes: u64, value: u8) -> Result<(), EngineError> {
        self.sim.fill(address, size_bytes, value)
    }

    fn poison(&self, address: u64, size_bytes: u64) -> Result<(), EngineError> {
        self.sim.poison(address, size_bytes)
    }

    fn is_usable(&self) -> Result<(), EngineError> {
        self.sim.is_usable()
    }
}

impl Timing for Scheduled<'_> {
    fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError> {
        match work {
            Timed::Launches(launches) => launches
                .iter()
                .try_for_each(|launch| self.sim.launch_under(launch, self.schedule)),
            other => self.sim.perform(other),
        }
    }
}
