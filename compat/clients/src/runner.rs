//! The common part of all clients' tests: the environment in which they run, and their results.

use crate::catalogue::Client;
use crate::fetch::Home;
use crate::run::Run;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Verdict {
    Passed,
    Skipped,
    /// With its message.
    Failed(String),
}

/// A test that was run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Test {
    /// Its name, with its file's.
    pub name: String,
    /// Its result.
    pub verdict: Verdict,
}

impl Test {
    pub fn new(name: impl Into<String>, verdict: Verdict) -> Self {
        let name = name.into();
        Self { name, verdict }
    }

    /// A test that failed, with its message.
    pub fn failed(name: impl Into<String>, said: impl Into<String>) -> Self {
        Self::new(name, Verdict::Failed(said.into()))
    }

    /// Its message, if it failed.
    pub fn complaint(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Failed(said) => Some(said),
            _ => None,
        }
    }
}

/// A test that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// Its name.
    pub test: String,
    /// Its message, abridged and without this machine's folders.
    pub said: String,
}

/// A launch in which the simulator's checks found something.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Finding {
    pub kernel: String,
    /// What it did.
    pub text: String,
}

/// The results of a client's tests, or of those of one file.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Ran {
    pub tests: Vec<Test>,
    /// How long their processes took.
    pub seconds: f64,
    /// How long kernels were simulated; may exceed the processes' time, where kernels run in
    /// parallel.
    pub kernel_seconds: f64,
    /// Kernels by name, in each process.
    pub n_kernels: u64,
    /// Launches of kernels.
    pub n_launches: u64,
    /// What the checks found, or what ended a kernel.
    pub findings: Vec<Finding>,
    /// Tests that are missing, and why.
    pub lacking: Option<String>,
}

/// The part of the driver's report that is used here.
#[derive(Deserialize)]
struct Report {
    kernels: BTreeMap<String, Kernel>,
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Kernel {
    n_launches: u64,
    n_failed: u64,
    seconds: f64,
}

impl Ran {
    /// Adds the results of a file.
    pub fn add(&mut self, file: Self) {
        self.tests.extend(file.tests);
        self.seconds += file.seconds;
        self.kernel_seconds += file.kernel_seconds;
        self.n_kernels += file.n_kernels;
        self.n_launches += file.n_launches;
        self.findings.extend(file.findings);
    }

    /// Adds the driver's report of a process; returns whether a kernel was faulty, which leaves
    /// the process without a device. A process that was killed has no report.
    pub fn add_report(&mut self, path: &Path) -> anyhow::Result<bool> {
        let Ok(text) = fs::read_to_string(path) else {
            return Ok(false);
        };
        let report: Report =
            serde_json::from_str(&text).context("the driver's report cannot be read")?;
        self.n_kernels += report.kernels.len() as u64;
        for kernel in report.kernels.values() {
            self.n_launches += kernel.n_launches;
            self.kernel_seconds += kernel.seconds;
        }
        self.findings.extend(report.findings);
        Ok(report.kernels.values().any(|kernel| kernel.n_failed > 0))
    }
}

/// The files that one process writes.
pub struct Files {
    /// Its output.
    pub log: PathBuf,
    /// The driver's report.
    pub report: PathBuf,
    /// pytest's report.
    pub tests: PathBuf,
}

impl Files {
    /// New files for a process of that name.
    pub fn new(home: &Home, client: Client, process: &str) -> anyhow::Result<Self> {
        let dir = folder(home, client);
        fs::create_dir_all(&dir).with_context(|| format!("{} cannot be created", dir.display()))?;
        let name = plain(process);
        let file = |end: &str| dir.join(format!("{name}.{end}"));
        let files = Self {
            log: file("log"),
            report: file("json"),
            tests: file("jsonl"),
        };
        for old in [&files.report, &files.tests] {
            let _ = fs::remove_file(old);
        }
        Ok(files)
    }
}

/// The folder for the output of a client's runs.
pub fn folder(home: &Home, client: Client) -> PathBuf {
    home.dir.join("runs").join(&client.entry.name)
}

/// A process's name as a file name.
pub fn plain(process: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    process.chars().map(plain).collect()
}

/// Gives a program the simulator's driver, and the variables that the client needs.
pub fn prepare(command: &mut Command, client: Client, home: &Home, run: &Run, files: &Files) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LOCKSTEP_SIM_") {
            command.env_remove(name);
        }
    }
    for (name, value) in &client.entry.environment {
        let driver = run.driver.to_string_lossy();
        command.env(name, home.text(value).replace("{driver}", &driver));
    }
    let mut path = OsString::from(run.driver);
    for library in &client.packages.libraries {
        path.push(":");
        path.push(home.text(library));
    }
    command.env("LD_LIBRARY_PATH", path);
    command.env("LOCKSTEP_SIM_REPORT", &files.report);
    if run.is_checked {
        command.env("LOCKSTEP_SIM_CHECK", "1");
    }
}
