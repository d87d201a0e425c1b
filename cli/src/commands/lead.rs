//! The command that leads from a failed case to its cause: the debugger, at the place.

use host::hints;
use lesson::CaseResult;
use lesson::Status;

/// The command that opens the debugger where a kernel went wrong on the simulator; none if it did
/// not, or only its cost is wrong.
pub(super) fn command(result: &CaseResult) -> Option<String> {
    if result.status != Status::Failed {
        return None;
    }
    let place = place(result.reason.as_deref()?)?;
    let mut words = vec!["debug".to_owned(), result.kernel.to_owned()];
    if !result.shape.is_sweep() {
        words.push(format!("--shape={}", result.shape.name()));
    }
    if let Some(schedule) = result.schedule {
        words.push(format!("--schedule={schedule}"));
    }
    words.push(place.to_owned());
    Some(hints::command(&hints::shell_words(&words)))
}

/// The option that begins where the report of a failure points.
fn place(reason: &str) -> Option<&'static str> {
    if reason.contains(" elements are wrong; first ") {
        return Some("--wrong");
    }
    reason.contains("  in kernel `").then_some("--finding")
}

#[cfg(test)]
mod tests {
    use super::place;
    use lesson::CaseError;
    use lesson::verify::Mismatch;

    #[test]
    fn wrong_results_and_reports_lead_to_their_places() {
        let mismatch = Mismatch {
            index: 5,
            expected: "1".to_owned(),
            got: "2".to_owned(),
            n_wrong: 1,
            n_checked: 9,
            n_unwritten: 0,
            max_abs_error: 1.0,
            columns: None,
        };
        let wrong = CaseError::from(mismatch).to_string();
        assert_eq!(place(&wrong), Some("--wrong"));
        let race = "race: …\n  in kernel `k`, at a.rs:1:5 (PTX line 3: ld.shared.u32)";
        assert_eq!(place(race), Some("--finding"));
        assert_eq!(place("bank conflicts: expected 0, counted 31"), None);
    }
}
