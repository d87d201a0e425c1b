//! Which engine: as asked, or the GPU if one answers.

use super::gpu::Gpu;
use super::sim::Sim;
use super::{Engine, EngineError, PtxModule};
use crate::hints;
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

/// The engine, and a few words on which and why. `fuel` is the simulator's
/// limit for kernels that never end; with `check` it looks for races. Both ask for
/// the simulator where the choice is free.
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
    let simulator = |modules, why: &str| -> (Box<dyn Engine>, String) {
        let sim = Sim::new(modules).with_fuel(fuel).with_check(check);
        (Box::new(sim), format!("simulator{why}"))
    };
    let on_gpu = |gpu: Gpu| -> (Box<dyn Engine>, String) {
        let why = format!("GPU, {}", gpu.device().name);
        (Box::new(gpu), why)
    };
    Ok(match choice {
        EngineChoice::Gpu => on_gpu(Gpu::new(modules)?),
        EngineChoice::Sim => simulator(modules, ""),
        EngineChoice::Auto if check => simulator(modules, " (which alone has --check)"),
        EngineChoice::Auto if fuel.is_some() => simulator(modules, " (which alone has --fuel)"),
        EngineChoice::Auto => match Gpu::new(modules.clone()) {
            Ok(gpu) => on_gpu(gpu),
            Err(error) => simulator(modules, &format!(" ({})", without_gpu(&error))),
        },
    })
}

/// In one short line, why there is no GPU; the whole reason is elsewhere.
fn without_gpu(error: &EngineError) -> String {
    let what = match error {
        EngineError::NoDriver(_) | EngineError::NoGpu => "no GPU here",
        _ => "the GPU does not answer",
    };
    format!("{what}; {}", hints::why_no_gpu())
}

#[cfg(test)]
mod tests {
    use super::without_gpu;
    use crate::engine::EngineError;

    #[test]
    fn the_line_fits_a_terminal() {
        for error in [EngineError::NoGpu, EngineError::PeersNeedGpu] {
            let line = format!("engine: simulator ({})", without_gpu(&error));
            assert!(line.len() < 80, "{line}");
        }
    }
}
