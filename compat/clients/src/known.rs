//! Known failures of tests and known findings of the checks: `known.toml`.

use crate::runner::{Failure, Finding};
use anyhow::Context;
use glob::Pattern;
use serde::Deserialize;
use std::fmt;

/// The class of a failure.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The client's own: it also fails on a GPU, or on its own CPU device; or a GPU does not notice
    /// its mistake.
    Client,
    /// It asserts times, or that a GPU is busy at a certain moment.
    Time,
    /// It needs something that this machine lacks: headers, a compiler, a second GPU.
    Missing,
    /// It brings machine code without PTX.
    MachineCode,
    /// It needs something that the driver reports as unsupported.
    Unsupported,
    /// Ours, still to be done.
    Gap,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "the client's own",
            Self::Time => "times",
            Self::Missing => "missing here",
            Self::MachineCode => "machine code",
            Self::Unsupported => "unsupported",
            Self::Gap => "a gap",
        })
    }
}

/// What is known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    #[serde(default)]
    failure: Vec<KnownFailure>,
    #[serde(default)]
    finding: Vec<KnownFinding>,
}

/// Tests that fail for one reason.
#[derive(Debug, Deserialize)]
struct KnownFailure {
    /// The clients, as a pattern.
    client: String,
    /// The tests, as a pattern.
    #[serde(default = "any")]
    test: String,
    /// Part of their message.
    #[serde(default)]
    says: String,
    #[serde(flatten)]
    reason: Reason,
}

/// What the checks find for one reason.
#[derive(Debug, Deserialize)]
struct KnownFinding {
    /// The clients, as a pattern.
    client: String,
    /// The kernels, as a pattern.
    #[serde(default = "any")]
    kernel: String,
    /// Part of the finding.
    #[serde(default)]
    says: String,
    #[serde(flatten)]
    reason: Reason,
}

fn any() -> String {
    "*".to_owned()
}

/// A reason: its class, and a sentence.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// Its class.
    pub class: Class,
    /// A sentence.
    pub because: String,
}

impl Known {
    /// What this repository knows.
    ///
    /// # Errors
    /// An entry is invalid.
    pub fn read() -> anyhow::Result<Self> {
        Self::parse(include_str!("known.toml")).context("known.toml")
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let known: Self = toml::from_str(text)?;
        let failures = known.failure.iter().flat_map(|f| [&f.client, &f.test]);
        let findings = known.finding.iter().flat_map(|f| [&f.client, &f.kernel]);
        for pattern in failures.chain(findings) {
            Pattern::new(pattern).with_context(|| format!("`{pattern}` is not a pattern"))?;
        }
        Ok(known)
    }

    /// Why a client's test fails, if that is known: by the first entry that matches.
    pub fn failure(&self, client: &str, failure: &Failure) -> Option<&Reason> {
        let fits = |known: &&KnownFailure| {
            matches(&known.client, client)
                && matches(&known.test, &failure.test)
                && failure.said.contains(&known.says)
        };
        self.failure.iter().find(fits).map(|known| &known.reason)
    }

    /// Why the checks find something in a client's kernel, if that is known.
    pub fn finding(&self, client: &str, finding: &Finding) -> Option<&Reason> {
        let fits = |known: &&KnownFinding| {
            matches(&known.client, client)
                && matches(&known.kernel, &finding.kernel)
                && finding.text.contains(&known.says)
        };
        self.finding.iter().find(fits).map(|known| &known.reason)
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = r#"
        [[failure]]
        client = "one*"
        test = "*::test_sin"
        says = "not close"
        class = "client"
        because = "It drifts."

        [[finding]]
        client = "one"
        says = "race"
        class = "gap"
        because = "Ours."
    "#;

    #[test]
    fn a_failure_needs_the_client_the_test_and_what_it_says() {
        let known = Known::parse(KNOWN).unwrap();
        let class = |client, test: &str, said: &str| {
            let (test, said) = (test.to_owned(), said.to_owned());
            let failure = Failure { test, said };
            known.failure(client, &failure).map(|reason| reason.class)
        };
        let fits = class("one-ptx", "a.py::test_sin", "1 is not close to 2");
        assert_eq!(fits, Some(Class::Client));
        assert_eq!(class("two", "a.py::test_sin", "not close"), None);
        assert_eq!(class("one", "a.py::test_sinh", "not close"), None);
        assert_eq!(class("one", "a.py::test_sin", "illegal address"), None);
    }

    #[test]
    fn a_finding_needs_what_it_says() {
        let known = Known::parse(KNOWN).unwrap();
        let finding = |text: &str| Finding {
            kernel: "k".to_owned(),
            text: text.to_owned(),
        };
        assert!(known.finding("one", &finding("a race on it")).is_some());
        assert!(
            known
                .finding("one", &finding("an unwritten read"))
                .is_none()
        );
    }

    #[test]
    fn what_is_known_can_be_read() {
        Known::read().unwrap();
    }

    #[test]
    fn a_wrong_pattern_is_named() {
        let error = Known::parse(&KNOWN.replace("one*", "one***")).unwrap_err();
        assert_eq!(error.to_string(), "`one***` is not a pattern");
    }
}
