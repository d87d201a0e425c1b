//! Modules to run: the kernels' own, or one that the user names.

use super::exit::{Exit, Stop};
use super::progress;
use crate::input;
use host::kernels::{self, Ahead, KernelsError};
use lesson::Registered;
use lockstep::engine::{EngineError, PtxModule};
use std::path::Path;

/// The kernels' modules, compiled on demand.
pub(super) fn modules() -> Result<Vec<PtxModule>, Stop> {
    kernels::modules().map_err(no_kernels)
}

/// The same, but only those that these kernels need are compiled.
pub(super) fn modules_for(selected: &[Registered]) -> Result<Vec<PtxModule>, Stop> {
    kernels::modules_for(selected).map_err(no_kernels)
}

/// Has the modules compiled that these kernels need, most of them while the first run.
pub(super) fn compile_ahead(selected: &[Registered]) -> Result<Ahead, Stop> {
    kernels::compile_ahead(selected).map_err(no_kernels)
}

/// Why there are no kernels. Messages of rustc are shown unchanged.
pub(super) fn no_kernels(error: KernelsError) -> Stop {
    match error {
        KernelsError::NoHome(error) => Stop::Because(Exit::NothingRan, error.to_string()),
        KernelsError::Module(EngineError::NoModule { module, reason }) if reason.contains('\n') => {
            progress::say(&reason);
            Stop::Because(Exit::Failed, format!("there is no {module}: see above"))
        }
        error => Stop::Because(Exit::Failed, error.to_string()),
    }
}

/// The module in the file that `--ptx` names.
pub(super) fn read_module(path: &Path) -> Result<PtxModule, Stop> {
    let wrong = |what: String| Stop::usage(format!("--ptx: {what}"));
    let text = input::text(path).map_err(|error| wrong(error.to_string()))?;
    let name = input::name(path);
    if !text
        .lines()
        .any(|line| line.trim_start().starts_with(".version"))
    {
        return Err(wrong(format!(
            "{name} is not PTX: PTX is text that starts with `.version`, as `nvcc -ptx` and `rustc` write it"
        )));
    }
    Ok(PtxModule::of_text(name, text))
}
