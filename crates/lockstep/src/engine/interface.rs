//! The interface of every engine: one untyped trait, and its types.

use super::config::LaunchConfig;
use super::{EngineError, Prepared};
use crate::counts::Counts;
use cuda_std::launch::Kernel;
use ptx_sim::Report;
use std::fmt;

/// Which of the two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// A GPU, through the CUDA driver.
    Gpu,
    /// The PTX simulator.
    Sim,
}

impl EngineKind {
    /// Its name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Sim => "sim",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The machine an engine runs kernels on.
#[derive(Clone, Debug)]
pub struct DeviceProperties {
    /// Its name.
    pub name: String,
    /// The highest PTX architecture it runs: 90 for sm_90.
    pub sm: u32,
    /// Device memory, in bytes.
    pub memory_bytes: u64,
    /// SMs, for grids that fill the device once.
    pub n_multiprocessors: u32,
    /// Shared memory that a block may have if its kernel opts in, in bytes.
    pub shared_per_block_bytes: u32,
    /// CUDA version of the driver, if there is one.
    pub driver: Option<String>,
    /// Highest clock of the SMs in MHz, if known.
    pub sm_clock_mhz: Option<u32>,
    /// Highest clock of the memory in MHz, if known.
    pub memory_clock_mhz: Option<u32>,
    /// Size of the second-level cache in bytes, if known.
    pub l2_cache_bytes: Option<u32>,
}

/// CUDA C++ baselines as machine code: the same entries with the same parameters.
#[derive(Clone, Debug)]
pub struct BaselineModule {
    /// The file it was compiled from, for errors.
    pub name: String,
    /// A cubin.
    pub image: Vec<u8>,
}

/// What to collect during a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observe {
    /// Nothing: fastest.
    Nothing,
    /// Memory accesses, where the engine can (the simulator).
    Counts,
}

/// The byte that outputs are filled with before a kernel writes them. It reads as NaN in `f16`,
/// `f32` and `f64`, and as the largest unsigned value in integers.
pub const POISON: u8 = 0xFF;

/// Runs kernels and holds their memory.
///
/// Addresses are device addresses, sizes are bytes. Calls are synchronous: when
/// one returns, its work is done or its error is known. Methods take `&self` so
/// that buffers can free themselves.
pub trait Engine {
    /// Which engine this is.
    fn kind(&self) -> EngineKind;

    /// The machine underneath.
    fn device(&self) -> &DeviceProperties;

    /// The number of the memory that its addresses are of: engines with the same number can hand each
    /// other addresses.
    fn memory(&self) -> u64;

    /// Allocates `size_bytes` of device memory, aligned to 256 bytes. `label` identifies it in
    /// reports of bad accesses.
    fn alloc(&self, size_bytes: u64, label: &str) -> Result<u64, EngineError>;

    /// Frees what [`Engine::alloc`] returned.
    fn free(&self, address: u64) -> Result<(), EngineError>;

    /// Copies `bytes` to the device.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), EngineError>;

    /// Copies from the device.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), EngineError>;

    /// Copies values of `value_bytes` bytes each from the device. An engine that checks reports
    /// those that nobody has written, unless there may be `gaps`.
    fn read_values(
        &self,
        address: u64,
        bytes: &mut [u8],
        value_bytes: usize,
        gaps: bool,
    ) -> Result<(), EngineError> {
        let _ = (value_bytes, gaps);
        self.read(address, bytes)
    }

    /// Sets every one of `size_bytes` bytes to `value`.
    fn fill(&self, address: u64, size_bytes: u64, value: u8) -> Result<(), EngineError>;

    /// Sets every byte to [`POISON`]. An engine that checks treats them as never written, and
    /// reports a kernel that reads them first.
    fn poison(&self, address: u64, size_bytes: u64) -> Result<(), EngineError> {
        self.fill(address, size_bytes, POISON)
    }

    /// Runs the launch to its end. Returns the report, with its counts, if it was requested and the
    /// engine counts.
    fn launch(&self, launch: &Prepared, observe: Observe) -> Result<Option<Report>, EngineError>;

    /// Whether it can run anything at all now; a GPU may be lost to a kernel
    /// that never ends.
    fn is_usable(&self) -> Result<(), EngineError>;
}

/// Launches a kernel once and waits for its end.
///
/// # Safety
///
/// As [`Prepared::of`].
///
/// # Errors
///
/// The launch was refused, or the kernel did something wrong.
pub unsafe fn launch<K: Kernel>(
    engine: &dyn Engine,
    _kernel: K,
    config: LaunchConfig,
    args: K::Args,
) -> Result<Option<Counts>, EngineError> {
    // SAFETY: the caller's promise.
    let prepared = unsafe { Prepared::of::<K>(config, args) }?;
    let report = engine.launch(&prepared, Observe::Counts)?;
    Ok(report.map(|report| report.counts))
}
