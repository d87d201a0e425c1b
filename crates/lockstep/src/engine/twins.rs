//! An engine whose launches run the kernels' CUDA C++ baselines, so that every lesson
//! checks the baselines as it checks the kernels. A wrong baseline is no yardstick.

use super::{DeviceProperties, Engine, EngineError, EngineKind, Observe, Prepared, Timed, Timing};
use crate::counts::Report;

/// Runs the baseline wherever the kernel was asked for. It has no clock: baselines are
/// timed beside the kernels.
pub struct Twins<'e>(pub &'e dyn Timing);

impl Engine for Twins<'_> {
    fn launch(&self, launch: &Prepared, _observe: Observe) -> Result<Option<Report>, EngineError> {
        let launches = std::slice::from_ref(launch);
        self.0.perform(&Timed::Peers(launches.into()))?;
        Ok(None)
    }

    fn kind(&self) -> EngineKind {
        self.0.kind()
    }

    fn device(&self) -> &DeviceProperties {
        self.0.device()
    }

    fn alloc(&self, size_bytes: u64, label: &str) -> Result<u64, EngineError> {
        self.0.alloc(size_bytes, label)
    }

    fn free(&self, address: u64) -> Result<(), EngineError> {
        self.0.free(address)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), EngineError> {
        self.0.write(address, bytes)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), EngineError> {
        self.0.read(address, bytes)
    }

    fn fill(&self, address: u64, size_bytes: u64, value: u8) -> Result<(), EngineError> {
        self.0.fill(address, size_bytes, value)
    }

    fn is_usable(&self) -> Result<(), EngineError> {
        self.0.is_usable()
    }
}

impl Timing for Twins<'_> {
    fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError> {
        self.0.perform(work)
    }
}
