//! What is found out while a program runs, and told when it ends.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ptx_sim::{Counts, LaunchError, Report};
use serde::Serialize;

use crate::driver::{Driver, driver};
use crate::settings::Settings;

/// Findings that are kept in full; others are counted.
const MOST_FINDINGS: usize = 1000;

/// What is found out while a program runs.
pub struct Recorder {
    records: Mutex<Records>,
    log: Option<Mutex<File>>,
    to_stderr: bool,
    stop: bool,
}

/// All that has been found out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Records {
    /// By kernel.
    pub kernels: BTreeMap<String, KernelRecord>,
    /// What went wrong or was found, in order.
    pub findings: Vec<Finding>,
    /// Findings that are not among those.
    pub n_more_findings: u64,
    /// Allocations that are not freed when the report is written.
    pub leaks: Vec<Leak>,
}

/// An allocation that nobody has freed.
#[derive(Clone, Debug, Serialize)]
pub struct Leak {
    /// Its first address.
    pub address: u64,
    /// Size in bytes.
    pub n_bytes: u64,
    /// The client's calls that led to it, innermost first.
    pub frames: Vec<String>,
}

/// A launch that ended badly, or in which checks have found something.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The kernel.
    pub kernel: String,
    /// Which of its launches, from 1.
    pub launch: u64,
    /// What happened, where, and what to do.
    pub text: String,
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
    /// What it did to memory, by name, where that was counted.
    pub counts: BTreeMap<&'static str, u64>,
    /// Lines with bank conflicts or more sectors than needed.
    pub lines: BTreeMap<String, LineRecord>,
    #[serde(skip)]
    total: Counts,
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

impl Recorder {
    /// As the settings ask for.
    pub fn new(settings: &Settings) -> Self {
        let path = settings.log.as_deref();
        let to_stderr = path == Some(Path::new("-"));
        let file = path.filter(|_| !to_stderr);
        let open = |path: &Path| OpenOptions::new().create(true).append(true).open(path);
        let log = file.and_then(|path| match open(path) {
            Ok(file) => Some(Mutex::new(file)),
            Err(error) => {
                eprintln!("lockstep: LOCKSTEP_SIM_LOG={}: {error}", path.display());
                None
            }
        });
        Self {
            records: Mutex::default(),
            log,
            to_stderr,
            stop: settings.stop,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that has been found out so far.
    pub fn records(&self) -> Records {
        let mut records = self.lock().clone();
        for kernel in records.kernels.values_mut() {
            let entries = kernel.total.entries().into_iter();
            kernel.counts = entries.filter(|&(_, n)| n > 0).collect();
        }
        records
    }

    /// Tells something to who reads the log.
    pub fn note(&self, text: &str) {
        if self.to_stderr {
            eprintln!("lockstep: {text}");
        }
        if let Some(log) = &self.log {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = writeln!(log, "{text}");
        }
    }

    /// A kernel has run.
    pub fn launched(&self, kernel: &str, elapsed: Duration, result: &Result<Report, LaunchError>) {
        let mut records = self.lock();
        if !records.kernels.contains_key(kernel) {
            records
                .kernels
                .insert(kernel.to_owned(), KernelRecord::default());
        }
        let record = records.kernels.get_mut(kernel).expect("just seen to");
        record.n_launches += 1;
        record.seconds += elapsed.as_secs_f64();
        let error = match result {
            Ok(report) => {
                record.count(report);
                match &report.finding {
                    Some(finding) => finding,
                    None => return,
                }
            }
            Err(error) => {
                record.n_failed += 1;
                error
            }
        };
        record.n_found += 1;
        let finding = Finding {
            kernel: kernel.to_owned(),
            launch: record.n_launches,
            text: error.to_string(),
        };
        let text = format!("launch {} of `{kernel}`: {}", finding.launch, finding.text);
        // The same again says nothing new.
        let is_known = |f: &Finding| f.kernel == finding.kernel && f.text == finding.text;
        if records.findings.len() < MOST_FINDINGS && !records.findings.iter().any(is_known) {
            records.findings.push(finding);
        } else {
            records.n_more_findings += 1;
        }
        drop(records);
        self.note(&text);
        if self.stop {
            if !self.to_stderr {
                eprintln!("lockstep: {text}");
            }
            write_report();
            // The client's own handlers could wait for what will not come.
            // SAFETY: It only ends the process.
            unsafe { libc::_exit(EXIT_FINDING) };
        }
    }
}

/// What a process answers that ended at a finding.
pub const EXIT_FINDING: i32 = 86;

impl KernelRecord {
    fn count(&mut self, report: &Report) {
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

/// Has the report written when the process ends.
pub fn write_at_exit() {
    extern "C" fn at_exit() {
        write_report();
    }
    // SAFETY: The function can be called at any time.
    unsafe { libc::atexit(at_exit) };
}

/// Writes the report that the settings ask for.
fn write_report() {
    let Ok(driver) = driver() else { return };
    let Some(path) = &driver.settings.report else {
        return;
    };
    let mut records = driver.recorder.records();
    records.leaks = leaks(driver);
    let text = serde_json::to_string_pretty(&records).unwrap_or_default();
    if let Err(error) = std::fs::write(path, text + "\n") {
        eprintln!("lockstep: LOCKSTEP_SIM_REPORT={}: {error}", path.display());
    }
}

/// What is allocated now.
fn leaks(driver: &Driver) -> Vec<Leak> {
    let mut leaks = Vec::new();
    // Of a device that has failed, nobody can free anything.
    let contexts = driver.contexts.all().into_iter();
    for context in contexts.filter(|context| context.device.check().is_ok()) {
        for (&address, allocated) in &*context.allocations() {
            let made = allocated.made.as_ref();
            leaks.push(Leak {
                address,
                n_bytes: allocated.n_bytes,
                frames: made
                    .map(|made| frames(&made.to_string()))
                    .unwrap_or_default(),
            });
        }
    }
    leaks.sort_by_key(|leak| leak.address);
    leaks
}

/// The client's frames of a backtrace's text: one line each, innermost first.
fn frames(text: &str) -> Vec<String> {
    let mut frames: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("at ") {
            Some(place) => {
                if let Some(frame) = frames.last_mut() {
                    frame.push_str(" at ");
                    frame.push_str(place);
                }
            }
            None => {
                let name = line.split_once(": ").map_or(line, |(_, name)| name);
                frames.push(name.to_owned());
            }
        }
    }
    let own = |frame: &String| {
        let ours = ["sim_driver::", "sim_runtime::", "/library/"];
        ours.iter().any(|part| frame.contains(part))
    };
    let past = frames.iter().rposition(own).map_or(0, |last| last + 1);
    frames.drain(..past.min(frames.len()));
    frames.retain(|frame| frame != "<unknown>");
    frames.truncate(8);
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_frames_are_kept() {
        let text = "   0: sim_driver::api::memory::allocate\n             at ./memory.rs:3\n   \
                    1: sim_driver::api::call\n   2: sim_runtime::api::call\n   3: make_buffers\n             at a.cu:7\n   4: main";
        assert_eq!(frames(text), ["make_buffers at a.cu:7", "main"]);
    }
}
