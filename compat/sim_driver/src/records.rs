//! Records of a program's run, as they appear in a report.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ptx_sim::{Counts, Report};
use serde::{Serialize, Serializer};

use crate::settings::Settings;

/// Everything that was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Records {
    /// The simulated machine, and what was looked for.
    pub machine: Option<Machine>,
    /// By kernel.
    pub kernels: BTreeMap<String, KernelRecord>,
    /// What went wrong or was found, in order.
    pub findings: Vec<Finding>,
    /// Number of further findings.
    pub n_more_findings: u64,
    /// Modules that could not be loaded or linked, and why; each text once.
    pub not_loaded: Vec<String>,
    /// Results that depend on the order of threads in a way that need not be a defect: one per
    /// kernel.
    pub notes: Vec<Finding>,
    /// Allocations not freed when the report is written.
    pub leaks: Vec<Leak>,
}

/// The simulated machine, and what was looked for.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Number of devices.
    pub n_devices: u32,
    /// Their name.
    pub name: String,
    /// Their compute capability.
    pub compute: String,
    /// Bytes of memory of each.
    pub memory_bytes: u64,
    /// Whether launches were checked.
    pub check: bool,
    /// Whether accesses were counted.
    pub counters: bool,
    /// Number of other orders in which launches were tried.
    pub schedules: u64,
    /// The order in which all launches ran, if not the usual one.
    pub schedule: Option<String>,
}

impl Machine {
    /// As requested.
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

/// An allocation that was not freed.
#[derive(Clone, Debug, Serialize)]
pub struct Leak {
    /// Its first address.
    pub address: u64,
    /// Size in bytes.
    pub n_bytes: u64,
    /// The client's calls that led to it, innermost first; none after the first hundred leaks.
    pub frames: Vec<String>,
}

/// A launch that ended badly, or in which checks or other orders found something.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The kernel; empty if only copies and fills, or several kernels, are told of.
    pub kernel: String,
    /// Which of its launches, from 1.
    pub launch: u64,
    /// The device's number, if there are several.
    pub device: Option<u32>,
    /// The order in which it happened, if not the usual one.
    pub schedule: Option<String>,
    /// Whether it takes work in several streams, so that it does not happen to the launch alone.
    pub streams: bool,
    /// What happened, where, and what to do.
    pub text: String,
}

impl Finding {
    /// All of it as text.
    pub fn told(&self) -> String {
        let Self {
            kernel,
            launch,
            device,
            schedule,
            text,
            ..
        } = self;
        if kernel.is_empty() {
            return text.clone();
        }
        let on = device.map_or_else(String::new, |device| format!(" on device {device}"));
        match schedule {
            None => format!("launch {launch} of `{kernel}`{on}: {text}"),
            Some(schedule) => format!(
                "launch {launch} of `{kernel}`{on}, under schedule {schedule}: {text}\n  to run all \
                 launches in this order: LOCKSTEP_SIM_SCHEDULE={schedule}"
            ),
        }
    }
}

/// What is known about a kernel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelRecord {
    /// Number of launches.
    pub n_launches: u64,
    /// Number of those that ended badly.
    pub n_failed: u64,
    /// Number with a finding, including those that ended badly.
    pub n_found: u64,
    /// Number that ran without checks although they were on, because they waited for something that
    /// was not ready, or ran at the same time as one that did.
    pub n_unchecked: u64,
    /// Time that the simulator spent on it, in seconds.
    pub seconds: f64,
    /// Number of launches that were tried in other orders.
    pub n_tried: u64,
    /// The time that this took, in seconds.
    pub seconds_tried: f64,
    /// Why it was not tried, or not again.
    pub not_tried: Option<String>,
    /// What it did to memory, by name, if counted.
    pub counts: BTreeMap<&'static str, u64>,
    /// Accesses with bank conflicts or more sectors than needed, by place and instruction.
    #[serde(serialize_with = "costliest_first")]
    pub lines: BTreeMap<(String, String), LineRecord>,
    /// The counts before zeros are left out.
    #[serde(skip)]
    pub total: Counts,
}

/// A line's accesses by one kind of instruction, with bank conflicts or more sectors than needed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LineRecord {
    /// Where it is: `file:line`, or its line of the PTX.
    pub place: String,
    /// The instruction.
    pub opcode: String,
    /// Wavefronts of shared memory beyond those needed.
    pub conflicts: u64,
    /// Sectors of global memory.
    pub sectors: u64,
    /// Sectors that would have been enough.
    pub ideal_sectors: u64,
}

/// As a list, what wastes most first.
fn costliest_first<K, S: Serializer>(
    lines: &BTreeMap<K, LineRecord>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut lines: Vec<_> = lines.values().collect();
    let wasted =
        |line: &LineRecord| line.conflicts + line.sectors.saturating_sub(line.ideal_sectors);
    lines.sort_by_key(|line| Reverse(wasted(line)));
    lines.serialize(to)
}

impl Records {
    /// The record of a kernel.
    pub fn kernel(&mut self, name: &str) -> &mut KernelRecord {
        if !self.kernels.contains_key(name) {
            let record = KernelRecord::default();
            self.kernels.insert(name.to_owned(), record);
        }
        self.kernels.get_mut(name).expect("just inserted")
    }
}

impl KernelRecord {
    /// Adds a launch's counts.
    pub fn count(&mut self, report: &Report) {
        self.total.add(&report.counts);
        if report.counts.warp_instructions == 0 {
            return;
        }
        for line in report.instructions() {
            if line.conflicts == 0 && line.sectors <= line.ideal_sectors {
                continue;
            }
            let place = match line.own_line() {
                Some(loc) => format!("{}:{}", loc.file, loc.line),
                None => format!("line {} of the PTX", line.ptx_line),
            };
            let key = (place, line.opcode.clone());
            let record = self
                .lines
                .entry(key)
                .or_insert_with_key(|(place, opcode)| LineRecord {
                    place: place.clone(),
                    opcode: opcode.clone(),
                    ..LineRecord::default()
                });
            record.conflicts += line.conflicts;
            record.sectors += line.sectors;
            record.ideal_sectors += line.ideal_sectors;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_sim::{Device, Module};

    /// A column of words is stored to shared memory, and one to global memory, on the same line.
    const KERNEL: &str = "
.version 8.0
.target sm_90
.address_size 64
.file 1 \"a.cu\"
.visible .entry k(.param .u64 to)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<4>;
	.shared .align 4 .b8 tile[4096];
	.loc 1 7 3
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 7;
	mov.u32 %r3, tile;
	add.u32 %r3, %r3, %r2;
	st.shared.u32 [%r3], %r1;
	ld.param.u64 %d1, [to];
	cvt.u64.u32 %d2, %r2;
	add.u64 %d3, %d1, %d2;
	st.global.u32 [%d3], %r1;
	ret;
}
";

    #[test]
    fn instructions_of_one_line_are_told_apart() {
        let device = Device::default();
        let module = Module::parse(KERNEL).unwrap();
        let loaded = device.load(&module).unwrap();
        let to = device.zeros::<u32>(1024, "to").unwrap();
        let call = device.call(&loaded, "k").block(32).arg(to);
        let report = call.run().unwrap();
        let mut kernel = KernelRecord::default();
        kernel.count(&report);
        kernel.count(&report);
        let found = serde_json::to_value(&kernel).unwrap();
        let line = |opcode, conflicts, sectors, ideal| {
            serde_json::json!({"place": "a.cu:7", "opcode": opcode, "conflicts": conflicts,
                "sectors": sectors, "ideal_sectors": ideal})
        };
        let expected = [
            line("st.shared.u32", 62, 0, 0),
            line("st.global.u32", 0, 64, 8),
        ];
        assert_eq!(found["lines"], serde_json::json!(expected));
    }
}
