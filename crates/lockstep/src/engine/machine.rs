//! One of the two engines, by value.

use super::buffer::HasEngine;
use super::gpu::Gpu;
use super::sim::Sim;
use super::{Engine, EngineError, PtxModule, Timing};

/// A GPU or a simulated one.
pub enum Machine {
    /// The GPU.
    Gpu(Gpu),
    /// The simulator.
    Sim(Sim),
}

impl Machine {
    /// What both can do.
    pub fn engine(&self) -> &(dyn Engine + 'static) {
        self.timing()
    }

    /// The same, with timing.
    pub fn timing(&self) -> &(dyn Timing + 'static) {
        match self {
            Self::Gpu(gpu) => gpu,
            Self::Sim(sim) => sim,
        }
    }

    /// Adds a module and loads it.
    ///
    /// # Errors
    ///
    /// It is not available, or cannot be loaded.
    pub fn add_module(&self, module: PtxModule) -> Result<(), EngineError> {
        match self {
            Self::Gpu(gpu) => gpu.add_module(module),
            Self::Sim(sim) => sim.add_module(module),
        }
    }
}

impl HasEngine for Machine {
    fn engine(&self) -> &(dyn Engine + 'static) {
        self.engine()
    }
}
