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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    #[serde(default)]
    failure: Vec<Entry>,
    #[serde(default)]
    finding: Vec<Entry>,
}

/// Tests that fail, or kernels in which the checks find something, for one reason.
#[derive(Debug, Deserialize)]
struct Entry {
    /// The clients, as a pattern.
    client: String,
    /// The tests or kernels, as a pattern.
    #[serde(default = "any", alias = "test", alias = "kernel")]
    name: String,
    /// Part of the message.
    #[serde(default)]
    says: String,
    #[serde(flatten)]
    reason: Reason,
}

impl Entry {
    fn fits(&self, client: &str, name: &str, said: &str) -> bool {
        let matches = |pattern: &str, text| Pattern::new(pattern).is_ok_and(|p| p.matches(text));
        matches(&self.client, client) && matches(&self.name, name) && said.contains(&self.says)
    }
}

fn any() -> String {
    "*".to_owned()
}

/// A reason: its class, and a sentence.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
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
        let all = known.failure.iter().chain(&known.finding);
        for pattern in all.flat_map(|entry| [&entry.client, &entry.name]) {
            Pattern::new(pattern).with_context(|| format!("`{pattern}` is not a pattern"))?;
        }
        Ok(known)
    }

    /// Why a client's test fails, if that is known: by the first entry that matches.
    pub fn failure(&self, client: &str, Failure { test, said }: &Failure) -> Option<&Reason> {
        let mut all = self.failure.iter();
        Some(&all.find(|entry| entry.fits(client, test, said))?.reason)
    }

    /// Why the checks find something in a client's kernel, if that is known.
    pub fn finding(&self, client: &str, Finding { kernel, text }: &Finding) -> Option<&Reason> {
        let mut all = self.finding.iter();
        Some(&all.find(|entry| entry.fits(client, kernel, text))?.reason)
    }
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
        let is_known = |text| known.finding("one", &finding(text)).is_some();
        assert!(is_known("a race on it") && !is_known("an unwritten read"));
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
