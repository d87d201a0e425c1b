//! Capabilities: what the editor may ask for, and what it can do itself.

use serde_json::{Value, json};

use super::request::Request;

/// The answer to `initialize`.
pub fn ours() -> Value {
    let filter = |filter: &str, label: &str, is_default: bool, description: &str| {
        json!({
            "filter": filter,
            "label": label,
            "default": is_default,
            "description": description,
        })
    };
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsEvaluateForHovers": true,
        "supportsExceptionInfoRequest": true,
        "supportsTerminateRequest": true,
        "supportTerminateDebuggee": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "exceptionBreakpointFilters": [
            filter("findings", "What the checks find", true, "Races, unwritten memory, missing \
                fences and waits: stop where it happens. The launch is run once more for it."),
            filter("faults", "Faults", true, "Stop before the instruction that makes the launch \
                fail."),
            filter("barriers", "Barriers", false, "Stop at every barrier."),
            filter("divergence", "Divergence", false, "Stop where lanes of a warp go different \
                ways."),
        ],
    })
}

/// How the editor counts, and what it understands.
#[derive(Clone, Copy, Debug)]
pub struct Editor {
    /// The number of the first line: 1 or 0.
    pub first_line: i64,
    /// The same of columns.
    pub first_column: i64,
    /// Whether it can be told that what it shows has changed.
    pub knows_invalidated: bool,
}

impl Editor {
    /// Of one that says what it can.
    pub fn of(request: &Request) -> Self {
        let first = |name| match request.arguments().get(name).and_then(Value::as_bool) {
            Some(false) => 0,
            _ => 1,
        };
        Self {
            first_line: first("linesStartAt1"),
            first_column: first("columnsStartAt1"),
            knows_invalidated: request.is_set("supportsInvalidatedEvent"),
        }
    }

    /// A line of the editor as ours, from 1.
    pub fn line(&self, theirs: i64) -> u32 {
        let ours = theirs.saturating_sub(self.first_line).saturating_add(1);
        u32::try_from(ours).unwrap_or(0)
    }

    /// A line of ours as the editor counts.
    pub fn their_line(&self, ours: u32) -> i64 {
        i64::from(ours) - 1 + self.first_line
    }

    /// A column of ours, 0 if unknown, as the editor counts.
    pub fn their_column(&self, ours: u32) -> i64 {
        i64::from(ours.max(1)) - 1 + self.first_column
    }
}

impl Default for Editor {
    fn default() -> Self {
        Self {
            first_line: 1,
            first_column: 1,
            knows_invalidated: false,
        }
    }
}
