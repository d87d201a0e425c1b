//! What the driver reports of a program, as its JSON has it, and how the program was run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All that was found out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Found {
    pub run: Run,
    pub machine: Machine,
    pub kernels: BTreeMap<String, Kernel>,
    pub findings: Vec<Finding>,
    pub n_more_findings: u64,
    pub notes: Vec<Finding>,
    pub leaks: Vec<Leak>,
}

/// How the program was run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its exit status; as a shell tells a signal.
    pub status: u8,
    /// How long it ran.
    pub seconds: f64,
}

/// What the simulated machine was like, and what was looked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub n_devices: u32,
    pub name: String,
    pub compute: String,
    pub memory_bytes: u64,
    pub check: bool,
    pub counters: bool,
    pub schedules: u64,
    pub schedule: Option<String>,
}

/// What is known of a kernel.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Kernel {
    pub n_launches: u64,
    pub n_failed: u64,
    pub n_found: u64,
    pub seconds: f64,
    pub n_tried: u64,
    pub seconds_tried: f64,
    pub not_tried: Option<String>,
    pub counts: BTreeMap<String, u64>,
    pub lines: BTreeMap<String, Line>,
}

/// A line with bank conflicts or more sectors than needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line {
    pub opcode: String,
    pub conflicts: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
}

/// A launch in which something was found.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Finding {
    pub kernel: String,
    pub launch: u64,
    pub schedule: Option<String>,
    pub text: String,
}

/// An allocation that was never freed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Leak {
    pub address: u64,
    pub n_bytes: u64,
    pub frames: Vec<String>,
}

impl Found {
    /// How many findings there are.
    pub fn n_findings(&self) -> u64 {
        self.findings.len() as u64 + self.n_more_findings
    }

    /// That number, and that of leaks, in words.
    pub fn in_short(&self) -> String {
        let leaks = plural(self.leaks.len() as u64, "allocation", "allocations");
        let findings = plural(self.n_findings(), "finding", "findings");
        match self.notes.len() as u64 {
            0 => format!("{findings}; {leaks} never freed"),
            n => format!(
                "{findings}, {}; {leaks} never freed",
                plural(n, "note", "notes")
            ),
        }
    }
}

impl Finding {
    /// Which launch it is, and in which order.
    pub fn heading(&self) -> String {
        let Self { kernel, launch, .. } = self;
        match &self.schedule {
            None => format!("launch {launch} of `{kernel}`"),
            Some(schedule) => format!("launch {launch} of `{kernel}`, under schedule {schedule}"),
        }
    }

    /// How all launches run in its order.
    pub fn again(&self) -> Option<String> {
        let schedule = self.schedule.as_ref()?;
        Some(format!("cargo xtask sim-run --schedule {schedule} -- …"))
    }
}

/// `1 launch`, `2 launches`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
