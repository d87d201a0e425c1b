//! Which engine: as asked, or the GPU if one answers.

use super::gpu::Gpu;
use super::sim::Sim;
use super::{Engine, EngineError, PtxModule};
use clap::ValueEnum;

/// What the user may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum EngineChoice {
    /// The GPU if a driver and a device answer, else the simulator.
    #[default]
    Auto,
    /// The GPU; without one it is an error.
    Gpu,
    /// The PTX simulator.
    Sim,
}

/// The engine, and one sentence on which and why. `fuel` is the simulator's
/// limit for kernels that never end; with `check` it looks for races.
///
/// # Errors
///
/// [`EngineChoice::Gpu`] without a driver or a device.
pub fn choose(
    choice: EngineChoice,
    modules: Vec<PtxModule>,
    fuel: Option<u64>,
    check: bool,
) -> Result<(Box<dyn Engine>, String), EngineError> {
    match choice {
        EngineChoice::Gpu => {
            let gpu = Gpu::new(modules)?;
            let why = format!("GPU: {} (asked for by --engine gpu)", gpu.device().name);
            Ok((Box::new(gpu), why))
        }
        EngineChoice::Sim => {
            let why = "simulator (asked for by --engine sim)".to_owned();
            let sim = Sim::new(modules).with_fuel(fuel).with_check(check);
            Ok((Box::new(sim), why))
        }
        EngineChoice::Auto => match Gpu::new(modules.clone()) {
            Ok(gpu) => {
                let why = format!("GPU: {} (a driver and a device answer)", gpu.device().name);
                Ok((Box::new(gpu), why))
            }
            Err(error) => {
                let why = format!("simulator, since no GPU answers: {error}");
                let sim = Sim::new(modules).with_fuel(fuel).with_check(check);
                Ok((Box::new(sim), why))
            }
        },
    }
}
