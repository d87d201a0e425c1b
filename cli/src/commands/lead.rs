//! The command that leads from a failed case to its cause: the debugger, at the place.

use host::hints;
use lesson::{CaseResult, Lead};

/// The command that opens the debugger where a kernel went wrong on the simulator; none if it did
/// not, or only its cost is wrong. `fuel` is what its launches had, if not the usual.
pub(super) fn command(result: &CaseResult, fuel: Option<u64>) -> Option<String> {
    let place = match result.lead? {
        Lead::WrongElement => "--wrong",
        Lead::Finding => "--finding",
    };
    let mut words = vec!["debug".to_owned(), result.kernel.to_owned()];
    let shape = result.shape_to_look_at();
    if !shape.is_sweep() {
        words.push(format!("--shape={}", shape.name()));
    }
    if let Some(schedule) = result.schedule {
        words.push(format!("--schedule={schedule}"));
    }
    if let Some(fuel) = fuel {
        words.push(format!("--fuel={fuel}"));
    }
    words.push(place.to_owned());
    Some(hints::command(&hints::shell_words(&words)))
}
