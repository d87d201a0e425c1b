//! The choice of kernels, and of an engine: the requested one, or the GPU if one answers.

use clap::ValueEnum;
use host::hints;
use host::registry::{self, NoMatch};
use lesson::Registered;
use lockstep::engine::gpu::Gpu;
use lockstep::engine::sim::Sim;
use lockstep::engine::{Engine, EngineError, Machine, PtxModule};

/// The engine that the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum EngineChoice {
    /// The GPU if a driver and a device answer, else the simulator.
    #[default]
    Auto,
    /// The GPU; it is an error if there is none.
    Gpu,
    /// The PTX simulator.
    Sim,
}

/// The kernels that a command is for.
#[derive(Debug, clap::Args)]
pub struct Chosen {
    /// Only kernels whose own or whose lesson's name contains one of these.
    #[arg(value_name = "KERNEL")]
    kernels: Vec<String>,

    /// The same as KERNEL; may be repeated.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
}

impl Chosen {
    /// Whether all are chosen.
    pub fn is_all(&self) -> bool {
        self.kernels.is_empty() && self.filter.is_empty()
    }

    /// The chosen ones.
    ///
    /// # Errors
    ///
    /// A name that none contains.
    pub fn kernels(&self) -> Result<Vec<Registered>, NoMatch> {
        registry::matching(&[&self.kernels[..], &self.filter[..]].concat())
    }
}

/// Options for the simulator, if it is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimOptions {
    /// Warp instructions after which a launch is taken to never end.
    pub fuel: Option<u64>,
    /// Whether it looks for races and other errors.
    pub check: bool,
    /// Whether launches are counted and kept ([`Sim::with_record`]).
    pub record: bool,
    /// An option that was given and that only the simulator has: it selects the
    /// simulator where the choice is free.
    pub asked_by: Option<&'static str>,
}

/// A value of `--fuel`: the warp instructions that a launch may execute.
///
/// # Errors
///
/// It is not a number, or none.
pub fn fuel(text: &str) -> Result<u64, &'static str> {
    match text.parse() {
        Ok(0) => Err("a launch that may execute nothing cannot run"),
        Ok(fuel) => Ok(fuel),
        Err(_) => Err("a number of warp instructions is expected, 1 or more"),
    }
}

/// The engine, and a few words on which one it is and why.
///
/// # Errors
///
/// [`EngineChoice::Gpu`] without a driver or a device.
pub fn choose(
    choice: EngineChoice,
    modules: Vec<PtxModule>,
    options: SimOptions,
) -> Result<(Machine, String), EngineError> {
    let simulator = |modules, why: &str| {
        let sim = simulator(modules, options);
        (Machine::Sim(sim), format!("simulator{why}"))
    };
    let on_gpu = |gpu: Gpu| {
        let why = format!("GPU, {}", gpu.device().name);
        (Machine::Gpu(gpu), why)
    };
    Ok(match (choice, options.asked_by) {
        (EngineChoice::Gpu, _) => on_gpu(Gpu::new(modules)?),
        (EngineChoice::Sim, _) => simulator(modules, ""),
        (EngineChoice::Auto, Some(option)) => {
            simulator(modules, &format!(" (only it has {option})"))
        }
        (EngineChoice::Auto, None) => match Gpu::new(modules.clone()) {
            Ok(gpu) => on_gpu(gpu),
            Err(error) => simulator(modules, &format!(" ({})", without_gpu(&error))),
        },
    })
}

/// A simulator with these modules.
pub fn simulator(modules: Vec<PtxModule>, options: SimOptions) -> Sim {
    let sim = Sim::new(modules)
        .with_fuel(options.fuel)
        .with_check(options.check);
    match options.record {
        true => sim.with_record(),
        false => sim,
    }
}

/// A short line on why there is no GPU; the full reason is printed elsewhere.
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
    use lockstep::engine::EngineError;

    #[test]
    fn the_line_fits_a_terminal() {
        for error in [EngineError::NoGpu, EngineError::BaselinesNeedGpu] {
            let line = format!("engine: simulator ({})", without_gpu(&error));
            assert!(line.len() < 80, "{line}");
        }
    }

    #[test]
    fn launches_on_a_gpu_are_those_of_cust() {
        assert_eq!(lockstep::engine::gpu::BINDING, "cust");
    }
}
