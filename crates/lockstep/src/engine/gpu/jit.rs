//! Loading PTX by the driver's compiler.

use super::super::{EngineError, PtxModule};
use crate::driver::Module;

/// Compiles and loads PTX; an error carries the compiler's own log.
pub(super) fn load(source: &PtxModule) -> Result<Module, EngineError> {
    let text = crate::ptx::without_line_tables(source.text()?);
    Module::of_ptx(&text).map_err(|log| EngineError::Module {
        module: source.name.clone(),
        log,
    })
}
