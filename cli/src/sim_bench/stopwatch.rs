//! The simulator as an engine that repeats every launch against the clock.

use super::{Measured, Mode, Patience};
use lockstep::counts::Report;
use lockstep::engine::sim::Sim;
use lockstep::engine::{
    DeviceProperties, Engine, EngineError, EngineKind, Observe, Prepared, PtxModule, Timed, Timing,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Repeats launches, each time on the memory that the first one found, and
/// leaves the memory as one launch would.
pub struct Stopwatch {
    sim: Sim,
    /// Sizes of the allocations, by address.
    allocations: RefCell<BTreeMap<u64, u64>>,
    patience: Cell<Option<Patience>>,
    measured: RefCell<Measured>,
}

impl Stopwatch {
    /// Around a simulator of its own.
    pub fn new(modules: Vec<PtxModule>) -> Self {
        Self {
            sim: Sim::new(modules),
            allocations: RefCell::default(),
            patience: Cell::new(None),
            measured: RefCell::default(),
        }
    }

    /// From now on launches are measured.
    pub fn start(&self, patience: Patience) {
        self.patience.set(Some(patience));
        self.measured.take();
    }

    /// What the launches since [`Stopwatch::start`] took together.
    pub fn stop(&self) -> Measured {
        self.patience.set(None);
        self.measured.take()
    }

    /// All memory as it is.
    fn snapshot(&self) -> Result<Vec<(u64, Vec<u8>)>, EngineError> {
        let allocations = self.allocations.borrow();
        let copy = |(&address, &size): (&u64, &u64)| {
            let mut bytes = vec![0; size as usize];
            self.sim.read(address, &mut bytes)?;
            Ok((address, bytes))
        };
        allocations.iter().map(copy).collect()
    }

    fn restore(&self, memory: &[(u64, Vec<u8>)]) -> Result<(), EngineError> {
        memory
            .iter()
            .try_for_each(|(address, bytes)| self.sim.write(*address, bytes))
    }

    fn measure(&self, launch: &Prepared, patience: Patience) -> Result<(), EngineError> {
        let memory = self.snapshot()?;
        let mut runs: [Vec<f32>; 4] = Default::default();
        let mut thread_instructions = 0;
        patience.rounds(|| {
            for (mode, runs) in Mode::ALL.into_iter().zip(&mut runs) {
                if !patience.wants(mode) {
                    continue;
                }
                self.restore(&memory)?;
                let report = self.sim.launch_with(launch, mode.options())?;
                runs.push(report.elapsed.as_secs_f32() * 1e3);
                thread_instructions = thread_instructions.max(report.counts.thread_instructions);
            }
            Ok::<(), EngineError>(())
        })?;
        self.restore(&memory)?;
        let launch = Measured::of(thread_instructions, &runs);
        self.measured.borrow_mut().add(&launch);
        Ok(())
    }
}

impl Engine for Stopwatch {
    fn kind(&self) -> EngineKind {
        self.sim.kind()
    }

    fn device(&self) -> &DeviceProperties {
        self.sim.device()
    }

    fn alloc(&self, size_bytes: u64, label: &str) -> Result<u64, EngineError> {
        let address = self.sim.alloc(size_bytes, label)?;
        self.allocations.borrow_mut().insert(address, size_bytes);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<(), EngineError> {
        self.allocations.borrow_mut().remove(&address);
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

    fn launch(&self, launch: &Prepared, observe: Observe) -> Result<Option<Report>, EngineError> {
        if let Some(patience) = self.patience.get() {
            self.measure(launch, patience)?;
        }
        self.sim.launch(launch, observe)
    }

    fn is_usable(&self) -> Result<(), EngineError> {
        self.sim.is_usable()
    }
}

impl Timing for Stopwatch {
    fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError> {
        self.sim.perform(work)
    }
}
