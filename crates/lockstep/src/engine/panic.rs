//! The place of a kernel's panic, read back after its launch has failed.
//!
//! The device leaves a record ([`cuda_std::panic`]) in memory that survives the
//! fault; each engine provides that memory for each module it loads.

use super::{EngineError, PtxModule};
use crate::source::Texts;
pub use cuda_std::panic::{PanicRecord, SINK_SYMBOL};
use std::path::Path;

/// Puts the panic before what the engine itself can say about the fault.
pub(super) fn explain(
    error: EngineError,
    record: &PanicRecord,
    modules: &[PtxModule],
) -> EngineError {
    match error {
        EngineError::Fault { place, report } => {
            // Relative to the current folder or to a module's sources.
            let below = modules.iter().filter_map(PtxModule::sources);
            let folders = std::iter::once(Path::new("")).chain(below);
            let line = Texts::of(folders)
                .line(record.file(), record.line())
                .map(|line| format!("\n    {line}"))
                .unwrap_or_default();
            let message = match record.message() {
                "" => {
                    "\n  to see its message, which takes registers, enable the feature `panic-messages` of \
                       the kernels' `cuda_std`"
                }
                _ => "",
            };
            EngineError::Fault {
                place,
                report: format!("{record}{line}{message}\n  {report}"),
            }
        }
        other => other,
    }
}
