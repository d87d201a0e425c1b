//! Where a kernel panicked, read back after its launch has failed.
//!
//! The device leaves a record ([`cuda_std::panic`]) in memory that survives the
//! fault; each engine provides that memory for each module it loads.

use super::EngineError;
pub use cuda_std::panic::{PanicRecord, SINK_SYMBOL};
use std::path::PathBuf;

/// Puts the panic in front of what the engine itself can say about the fault.
pub(super) fn explain(error: EngineError, record: &PanicRecord) -> EngineError {
    match error {
        EngineError::Fault { place, report } => {
            let line = source_line(record.file(), record.line())
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

/// The line, if the source is at hand: below the current folder, or where the kernels
/// are compiled from.
fn source_line(file: &str, line: u32) -> Option<String> {
    let own = crate::home::home().ok().map(|home| home.source(file));
    let text = [Some(PathBuf::from(file)), own]
        .into_iter()
        .flatten()
        .find_map(|path| std::fs::read_to_string(path).ok())?;
    let index = (line as usize).checked_sub(1)?;
    text.lines().nth(index).map(str::to_owned)
}
