//! The record of a program's run: collected while it runs, and reported when it ends.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ptx_sim::diagnostics::{FaultKind, Place};
use ptx_sim::{LaunchError, NotSearched, Orders, Report, Schedule};

use crate::context::Context;
use crate::driver::driver;
use crate::records::{Finding, Leak, Machine, Records};
use crate::settings::Settings;
use crate::status::Outcome;

/// Findings that are kept in full; further ones are only counted.
const MOST_FINDINGS: usize = 1000;
/// Leaks whose calls are looked up: in a process with large libraries, each takes a tenth of a
/// second.
const MOST_TRACED: usize = 100;

/// What is found while a program runs.
pub struct Recorder {
    records: Mutex<Records>,
    log: Option<Mutex<File>>,
    to_stderr: bool,
    stop: bool,
    schedule: Option<Schedule>,
    /// Whether there are several devices, so that findings name theirs.
    several: bool,
}

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// The process's recorder. From here on it writes its report when the process ends.
pub fn recorder() -> Outcome<&'static Recorder> {
    let settings = &driver()?.settings;
    Ok(RECORDER.get_or_init(|| {
        write_at_exit();
        Recorder::new(settings)
    }))
}

impl Recorder {
    /// With these settings.
    fn new(settings: &Settings) -> Self {
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
            schedule: settings.schedule,
            several: settings.n_devices > 1,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything recorded so far.
    pub fn records(&self) -> Records {
        let mut records = self.lock().clone();
        for kernel in records.kernels.values_mut() {
            let entries = kernel.total.entries().into_iter();
            kernel.counts = entries.filter(|&(_, n)| n > 0).collect();
        }
        records
    }

    /// Writes something to the log.
    pub fn note(&self, text: &str) {
        if self.to_stderr {
            eprintln!("lockstep: {text}");
        }
        if let Some(log) = &self.log {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = writeln!(log, "{text}");
        }
    }

    /// Records that a module could not be loaded or linked, and why.
    pub fn not_loaded(&self, text: String) {
        self.note(&text);
        let not_loaded = &mut self.lock().not_loaded;
        if not_loaded.len() < MOST_FINDINGS && !not_loaded.contains(&text) {
            not_loaded.push(text);
        }
    }

    /// Records that a kernel has run, and whether without checks although they were on.
    pub fn launched(
        &self,
        (kernel, device): (&str, u32),
        elapsed: Duration,
        result: &Result<Report, LaunchError>,
        is_unchecked: bool,
    ) {
        let mut records = self.lock();
        let record = records.kernel(kernel);
        record.n_launches += 1;
        record.n_unchecked += u64::from(is_unchecked);
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
        let finding = Finding {
            kernel: kernel.to_owned(),
            launch: record.n_launches,
            device: self.several.then_some(device),
            schedule: self.schedule.map(|schedule| schedule.to_string()),
            streams: matches!(error, LaunchError::Fault(fault) if matches!(fault.kind, FaultKind::Pending { .. })),
            text: error.to_string(),
        };
        self.found(records, finding);
    }

    /// Records that operations of streams use the same memory, and nothing orders them.
    pub fn unordered(&self, text: String) {
        let finding = Finding {
            kernel: String::new(),
            launch: 0,
            device: None,
            schedule: None,
            streams: true,
            text,
        };
        self.found(self.lock(), finding);
    }

    /// Records that the next launch of a kernel has been tried in other orders.
    pub fn searched(
        &self,
        (kernel, device): (&str, u32),
        elapsed: Duration,
        orders: &Result<Orders, NotSearched>,
    ) {
        let mut records = self.lock();
        let record = records.kernel(kernel);
        record.seconds_tried += elapsed.as_secs_f64();
        let orders = match orders {
            Ok(orders) => orders,
            Err(why) => {
                let why = why.to_string();
                record.not_tried = why.lines().next().map(str::to_owned);
                return;
            }
        };
        record.n_tried += 1;
        record.not_tried = None;
        let launch = record.n_launches + 1;
        let finding = |schedule: Schedule, text: String| Finding {
            kernel: kernel.to_owned(),
            launch,
            device: self.several.then_some(device),
            schedule: Some(schedule.to_string()),
            streams: false,
            text,
        };
        let is_noted = records.notes.iter().any(|note| note.kernel == kernel);
        if let Some((schedule, difference)) = &orders.explained
            && !is_noted
        {
            let note = finding(*schedule, difference.to_string());
            self.note(&note.told());
            records.notes.push(note);
        }
        if let Some(found) = &orders.found {
            let finding = finding(found.schedule, found.error.to_string());
            self.found(records, finding);
        }
    }

    /// Records a finding, and ends the process if it is to end there.
    fn found(&self, mut records: MutexGuard<'_, Records>, finding: Finding) {
        if !finding.kernel.is_empty() {
            records.kernel(&finding.kernel).n_found += 1;
        }
        let text = finding.told();
        // A repetition says nothing new.
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
            // The client's own handlers could wait for something that will not come.
            // SAFETY: it only ends the process.
            unsafe { libc::_exit(EXIT_FINDING) };
        }
    }
}

/// The exit status of a process that ended at a finding.
pub const EXIT_FINDING: i32 = 86;

/// Arranges for the report to be written when the process ends.
fn write_at_exit() {
    extern "C" fn at_exit() {
        write_report();
    }
    // SAFETY: the function can be called at any time.
    unsafe { libc::atexit(at_exit) };
}

/// Writes the report that the settings ask for.
fn write_report() {
    let (Ok(driver), Ok(recorder)) = (driver(), recorder()) else {
        return;
    };
    let Some(path) = &driver.settings.report else {
        return;
    };
    let mut records = recorder.records();
    records.machine = Some(Machine::new(&driver.settings));
    records.leaks = leaks();
    let text = serde_json::to_string_pretty(&records).unwrap_or_default();
    if let Err(error) = std::fs::write(path, text + "\n") {
        eprintln!("lockstep: LOCKSTEP_SIM_REPORT={}: {error}", path.display());
    }
}

/// The current allocations.
fn leaks() -> Vec<Leak> {
    let mut leaks = Vec::new();
    // On a device that has failed, nothing can be freed.
    let mut contexts = Context::all();
    contexts.retain(|context| context.device.check().is_ok());
    for context in &contexts {
        for (&address, allocated) in &*context.allocations() {
            let made = allocated.made.as_ref();
            let made = made.filter(|_| leaks.len() < MOST_TRACED);
            leaks.push(Leak {
                address,
                n_bytes: allocated.n_bytes,
                frames: made
                    .map(|made| frames(&made.to_string()))
                    .unwrap_or_default(),
            });
        }
    }
    for context in &contexts {
        leaks.extend(context.taken().into_iter().map(|taken| Leak {
            address: taken.address,
            n_bytes: taken.n_bytes,
            frames: by_malloc(&taken.place),
        }));
    }
    leaks.sort_by_key(|leak| leak.address);
    leaks
}

/// Where a kernel called `malloc`, as frames.
fn by_malloc(place: &Place) -> Vec<String> {
    let text = format!("malloc {place}");
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// The client's frames in a backtrace's text: one line each, innermost first.
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
        let ours = ["sim_driver::", "sim_runtime::"];
        ours.iter().any(|part| frame.contains(part))
    };
    let past = frames.iter().rposition(own).map_or(0, |last| last + 1);
    frames.drain(..past.min(frames.len()));
    // Rust's own library: where this one was called through it, and around the client's `main`.
    frames.retain(|frame| frame != "<unknown>" && !frame.contains(" at /rustc/"));
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
        let text = "0: sim_driver::api::call\n1: core::ops::function::FnOnce::call_once\n   at /rustc/abc/library/core/src/ops/function.rs:250:5\n\
                    2: client::leak\n   at src/main.rs:7:5\n3: client::main\n   at src/main.rs:3:5\n\
                    4: std::rt::lang_start\n   at /rustc/abc/library/std/src/rt.rs:206:5\n5: main";
        let expected = [
            "client::leak at src/main.rs:7:5",
            "client::main at src/main.rs:3:5",
            "main",
        ];
        assert_eq!(frames(text), expected);
    }
}
