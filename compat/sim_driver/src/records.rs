//! Records of a program's run, as a report has them.

use std::collections::BTreeMap;

use ptx_sim::{Counts, Report};
use serde::Serialize;

use crate::settings::Settings;

/// All that has been found out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Records {
    /// What the machine was like, and what was looked for.
    pub machine: Option<Machine>,
    /// By kernel.
    pub kernels: BTreeMap<String, KernelRecord>,
    /// What went wrong or was found, in order.
    pub findings: Vec<Finding>,
    /// Findings that are not among those.
    pub n_more_findings: u64,
    /// Modules that could not be loaded or linked, and why; each text once.
    pub not_loaded: Vec<String>,
    /// Results that depend on the order of threads in a way that need not be a defect: one
    /// of each kernel.
    pub notes: Vec<Finding>,
    /// Allocations that are not freed when the report is written.
    pub leaks: Vec<Leak>,
}

/// What the simulated machine was like, and what was looked for.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// How many devices there were.
    pub n_devices: u32,
    /// What they are called.
    pub name: String,
    /// Their compute capability.
    pub compute: String,
    /// Bytes of memory that each has.
    pub memory_bytes: u64,
    /// Whether launches were checked.
    pub check: bool,
    /// Whether accesses were counted.
    pub counters: bool,
    /// Other orders in which launches were tried.
    pub schedules: u64,
    /// The order in which all launches ran, if not the usual one.
    pub schedule: Option<String>,
}

impl Machine {
    /// As it was asked for.
    pub fn new(settings: &Settings) -> Self {
        let (major, minor) = settings.compute;
        Self {
            n_devices: settings.n_devices,
            name: settings.name.clone(),
            compute: format!("{major}.{minor}"),
            memory_bytes: settings.memory_bytes,
            check: settings.check,
            counters: settings.count || settings.check,
            schedules: settings.schedules,
            schedule: settings.schedule.map(|schedule| schedule.to_string()),
        }
    }
}

/// An allocation that nobody has freed.
#[derive(Clone, Debug, Serialize)]
pub struct Leak {
    /// Its first address.
    pub address: u64,
    /// Size in bytes.
    pub n_bytes: u64,
    /// The client's calls that led to it, innermost first; none beyond a hundred leaks.
    pub frames: Vec<String>,
}

/// A launch that ended badly, or in which checks or other orders have found something.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The kernel.
    pub kernel: String,
    /// Which of its launches, from 1.
    pub launch: u64,
    /// The order in which it happened, if not the usual one.
    pub schedule: Option<String>,
    /// What happened, where, and what to do.
    pub text: String,
}

impl Finding {
    /// All of it in words.
    pub fn told(&self) -> String {
        let Self {
            kernel,
            launch,
            schedule,
            text,
        } = self;
        match schedule {
            None => format!("launch {launch} of `{kernel}`: {text}"),
            Some(schedule) => format!(
                "launch {launch} of `{kernel}`, under schedule {schedule}: {text}\n  to run all \
                 launches so: LOCKSTEP_SIM_SCHEDULE={schedule}"
            ),
        }
    }
}

/// What is known of a kernel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelRecord {
    /// How often it was launched.
    pub n_launches: u64,
    /// How many of those ended badly.
    pub n_failed: u64,
    /// How many had a finding, those that ended badly included.
    pub n_found: u64,
    /// Time that the simulator spent on it, in seconds.
    pub seconds: f64,
    /// How many of its launches were tried in other orders.
    pub n_tried: u64,
    /// The time that took.
    pub seconds_tried: f64,
    /// Why it was not tried, or not again.
    pub not_tried: Option<String>,
    /// What it did to memory, by name, where that was counted.
    pub counts: BTreeMap<&'static str, u64>,
    /// Lines with bank conflicts or more sectors than needed.
    pub lines: BTreeMap<String, LineRecord>,
    /// The same, before zeros are left out.
    #[serde(skip)]
    pub total: Counts,
}

/// A line with bank conflicts or more sectors than needed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LineRecord {
    /// The instruction.
    pub opcode: String,
    /// Passes over shared memory beyond those needed.
    pub conflicts: u64,
    /// Sectors of global memory.
    pub sectors: u64,
    /// Sectors that would have been enough.
    pub ideal_sectors: u64,
}

impl Records {
    /// What is known of a kernel.
    pub fn kernel(&mut self, name: &str) -> &mut KernelRecord {
        if !self.kernels.contains_key(name) {
            let record = KernelRecord::default();
            self.kernels.insert(name.to_owned(), record);
        }
        self.kernels.get_mut(name).expect("just seen to")
    }
}

impl KernelRecord {
    /// Adds what a launch counted.
    pub fn count(&mut self, report: &Report) {
        self.total.add(&report.counts);
        if report.counts.warp_instructions == 0 {
            return;
        }
        for line in report.instructions() {
            if line.conflicts == 0 && line.sectors <= line.ideal_sectors {
                continue;
            }
            let place = match &line.loc {
                Some(loc) => format!("{}:{}", loc.file, loc.line),
                None => format!("line {} of the PTX", line.ptx_line),
            };
            let record = self.lines.entry(place).or_default();
            record.opcode.clone_from(&line.opcode);
            record.conflicts += line.conflicts;
            record.sectors += line.sectors;
            record.ideal_sectors += line.ideal_sectors;
        }
    }
}
