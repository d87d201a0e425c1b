//! Where a kernel panicked, read back after its launch has failed.
//!
//! The device leaves a record ([`cuda_std::panic`]) in memory that survives the
//! fault; each engine provides that memory for each module it loads.

use super::{EngineError, PtxModule};
pub use cuda_std::panic::{PanicRecord, SINK_SYMBOL};
use std::path::PathBuf;

/// Puts the panic in front of what the engine itself can say about the fault.
pub(super) fn explain(
    error: EngineError,
    record: &PanicRecord,
    modules: &[PtxModule],
) -> EngineError {
    match error {
        EngineError::Fault { place, report } => {
            let line = source_line(record.file(), record.line(), modules)
                .map(|line| format!("\n    {}", line.trim()))
                .unwrap_or_default();
            EngineError::Fault {
                place,
                report: format!("{record}{line}\n  {report}"),
            }
        }
        other => other,
    }
}

/// The line, if the source is at hand: below the current folder, or where a module's
/// sources are.
fn source_line(file: &str, line: u32, modules: &[PtxModule]) -> Option<String> {
    let below = modules.iter().filter_map(PtxModule::sources);
    let text = std::iter::once(PathBuf::from(file))
        .chain(below.map(|root| root.join(file)))
        .find_map(|path| std::fs::read_to_string(path).ok())?;
    let index = (line as usize).checked_sub(1)?;
    text.lines().nth(index).map(str::to_owned)
}
