//! The outcome of a client, and the file in which it is kept.

use crate::catalogue::Client;
use crate::known::{Known, Reason};
use crate::run::repository;
use crate::runner::{Failure, Finding, Ran, Verdict};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The outcomes of all clients, as kept in the repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// The version of the file's format.
    pub schema: u32,
    /// Plain runs.
    pub clients: Vec<Outcome>,
    /// Runs with the simulator's checks.
    pub checked: Vec<Outcome>,
}

/// The outcome of a client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub name: String,
    pub version: String,
    /// Which of its tests are run.
    pub about: String,
    /// The commit of this repository that it ran on, or the last part of it.
    pub commit: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// Why nothing was run.
    pub not_run: Option<String>,
    /// Why some of its tests are missing.
    pub lacking: Option<String>,
    /// Tests that passed.
    pub n_passed: usize,
    /// Tests that the client skips.
    pub n_skipped: usize,
    /// Tests that failed.
    pub failures: Vec<Failure>,
    /// How long the tests took, in seconds.
    pub seconds: f64,
    /// How long kernels were simulated, in seconds: the sum over kernels, even of those that ran in
    /// parallel.
    pub kernel_seconds: f64,
    /// Kernels that were launched.
    pub n_kernels: u64,
    pub n_launches: u64,
    /// What the checks found, or what ended a kernel; abridged.
    pub findings: Vec<Finding>,
}

/// The processor.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Its model.
    pub processor: String,
    /// Cores that this program may use.
    pub n_cores: usize,
}

impl Machine {
    fn here() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == "model name").then(|| value.trim().to_owned())
        });
        Self {
            processor: model.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            n_cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The commit that is checked out here.
fn commit() -> String {
    let told = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(repository())
        .output();
    let told = told.map(|told| told.stdout).unwrap_or_default();
    String::from_utf8_lossy(&told).trim().to_owned()
}

impl Outcome {
    /// Nothing was run.
    pub fn not_run(client: Client, reason: String) -> Self {
        Self {
            not_run: Some(reason),
            ..Self::new(client)
        }
    }

    fn new(client: Client) -> Self {
        Self {
            name: client.entry.name.clone(),
            version: client.packages.version.clone(),
            about: client.entry.about.clone(),
            commit: commit(),
            machine: Machine::here(),
            ..Self::default()
        }
    }

    /// The outcome of tests that were run; `own` are folders of this machine.
    pub fn of(client: Client, ran: Ran, own: &[&Path]) -> Self {
        let count = |verdict| ran.tests.iter().filter(|t| t.verdict == verdict).count();
        let failures = ran.tests.iter().filter_map(|test| {
            Some(Failure {
                test: test.name.clone(),
                said: kept(test.complaint()?, own),
            })
        });
        let finding = |finding: &Finding| Finding {
            kernel: finding.kernel.clone(),
            text: kept(&finding.text, own),
        };
        Self {
            n_passed: count(Verdict::Passed),
            n_skipped: count(Verdict::Skipped),
            failures: failures.collect(),
            seconds: tenths(ran.seconds),
            kernel_seconds: tenths(ran.kernel_seconds),
            n_kernels: ran.n_kernels,
            n_launches: ran.n_launches,
            findings: ran.findings.iter().map(finding).collect(),
            lacking: ran.lacking,
            ..Self::new(client)
        }
    }

    /// Tests that failed, each with the reason, if it is known.
    pub fn failures<'o>(
        &'o self,
        known: &'o Known,
    ) -> impl Iterator<Item = (&'o Failure, Option<&'o Reason>)> {
        self.failures
            .iter()
            .map(|failure| (failure, known.failure(&self.name, failure)))
    }

    /// What was found, each with the reason, if it is known.
    pub fn findings<'o>(
        &'o self,
        known: &'o Known,
    ) -> impl Iterator<Item = (&'o Finding, Option<&'o Reason>)> {
        self.findings
            .iter()
            .map(|finding| (finding, known.finding(&self.name, finding)))
    }

    /// Whether the reason of every failure and every finding is known.
    pub fn is_explained(&self, known: &Known) -> bool {
        self.failures(known).all(|(_, reason)| reason.is_some())
            && self.findings(known).all(|(_, reason)| reason.is_some())
    }

    /// How many failed, and in which classes.
    pub fn failed(&self, known: &Known) -> String {
        let mut by_class: BTreeMap<String, usize> = BTreeMap::new();
        for (_, reason) in self.failures(known) {
            let class = reason.map_or("unexplained".to_owned(), |r| r.class.to_string());
            *by_class.entry(class).or_default() += 1;
        }
        let n = self.failures.len();
        let parts: Vec<_> = by_class.iter().map(|(c, n)| format!("{n} {c}")).collect();
        match parts.is_empty() {
            true => n.to_string(),
            false => format!("{n} ({})", parts.join(", ")),
        }
    }

    /// The text for the user: the figures, and what is unexplained.
    pub fn summary(&self, known: &Known) -> String {
        let mut text = String::new();
        let title = format!("{} {}", self.name, self.version);
        // Writing to a string does not fail.
        if let Some(reason) = &self.not_run {
            let _ = writeln!(text, "{title}: not run: {reason}");
            return text;
        }
        let (n_passed, failed) = (self.n_passed, self.failed(known));
        let _ = writeln!(
            text,
            "{title}: passed {n_passed}, failed {failed}, skipped {}; {:.1} s; {} kernels, {} launches, {:.1} s",
            self.n_skipped, self.seconds, self.n_kernels, self.n_launches, self.kernel_seconds
        );
        if let Some(reason) = &self.lacking {
            let _ = writeln!(text, "  some of its tests were not run: {reason}");
        }
        for (failure, reason) in self.failures(known) {
            if reason.is_none() {
                let _ = writeln!(text, "  {}: {}", failure.test, failure.said);
            }
        }
        for (finding, reason) in self.findings(known) {
            let known = reason.map_or(String::new(), |r| format!(" (known: {})", r.because));
            let _ = writeln!(text, "  in `{}`{known}: {}", finding.kernel, finding.text);
        }
        text
    }
}

/// Characters kept of a test's message, at the beginning and at the end.
const BEGINNING: usize = 300;
const ENDING: usize = 200;

/// The part of a message of a test or of the checks that is kept.
fn kept(said: &str, own: &[&Path]) -> String {
    let mut text = said.trim().to_owned();
    for folder in own {
        text = text.replace(&*folder.to_string_lossy(), "…");
    }
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= BEGINNING + ENDING {
        return text;
    }
    let beginning = chars[..BEGINNING].iter();
    let ending = chars[chars.len() - ENDING..].iter();
    beginning.chain(['…'].iter()).chain(ending).collect()
}

fn tenths(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

impl Results {
    const SCHEMA: u32 = 1;

    /// The file, in the repository.
    fn path() -> PathBuf {
        repository().join("bench/results/sim/clients.json")
    }

    /// Those in the repository.
    ///
    /// # Errors
    /// They are missing, or have another format.
    pub fn read() -> anyhow::Result<Self> {
        let path = Self::path();
        let read = || Ok(serde_json::from_str(&std::fs::read_to_string(&path)?)?);
        let read: anyhow::Result<Self> = read();
        read.with_context(|| format!("{} cannot be read", path.display()))
    }

    /// The file's text, with a line for each outcome.
    fn text(&self) -> serde_json::Result<String> {
        let lines = |outcomes: &[Outcome]| {
            let lines = outcomes.iter().map(serde_json::to_string);
            Ok::<_, serde_json::Error>(lines.collect::<Result<Vec<_>, _>>()?.join(",\n"))
        };
        let (clients, checked) = (lines(&self.clients)?, lines(&self.checked)?);
        Ok(format!(
            "{{\n\"schema\":{},\n\"clients\":[\n{clients}\n],\n\"checked\":[\n{checked}\n]\n}}\n",
            self.schema
        ))
    }

    /// Saves new outcomes, which replace those of the same clients.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn renew(outcomes: Vec<Outcome>, is_checked: bool) -> anyhow::Result<()> {
        let mut results = match Self::path().exists() {
            true => Self::read()?,
            false => Self::default(),
        };
        results.schema = Self::SCHEMA;
        let kept = if is_checked {
            &mut results.checked
        } else {
            &mut results.clients
        };
        for outcome in outcomes {
            match kept.iter_mut().find(|kept| kept.name == outcome.name) {
                Some(kept) => *kept = outcome,
                None => kept.push(outcome),
            }
        }
        kept.sort_by(|a, b| a.name.cmp(&b.name));
        let path = Self::path();
        std::fs::write(&path, results.text()?)
            .with_context(|| format!("{} cannot be written", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_names_no_folder_and_has_both_ends() {
        let said = format!("/home/me/cache/a.py: {}: not close", "1 ".repeat(1000));
        let kept = kept(&said, &[Path::new("/home/me")]);
        assert!(kept.starts_with("…/cache/a.py: 1 1"), "{kept}");
        assert!(kept.ends_with("1 : not close"), "{kept}");
        assert_eq!(kept.chars().count(), BEGINNING + 1 + ENDING);
    }

    #[test]
    fn the_committed_file_is_as_it_is_written() {
        let text = std::fs::read_to_string(Results::path()).expect("it is there");
        let results = Results::read().expect("it can be read");
        assert_eq!(results.text().expect("it is JSON"), text);
    }
}
