//! The result of a check of the machine, and what to do about it.

use serde::Serialize;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// It is there and works.
    Ok,
    /// Nothing runs without it.
    Missing,
    /// Some things do not run without it.
    Absent,
}

/// One check.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub name: &'static str,
    pub status: Status,
    /// What was found.
    pub detail: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl Check {
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Ok,
            detail: detail.into(),
            cure: None,
        }
    }

    pub fn missing(name: &'static str, detail: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Missing,
            detail: detail.into(),
            cure: Some(cure.into()),
        }
    }

    pub fn absent(name: &'static str, detail: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Absent,
            detail: detail.into(),
            cure: Some(cure.into()),
        }
    }
}
