//! This program under one of compute-sanitizer's tools.

use super::log::Log;
use clap::ValueEnum;
use lockstep::engine::gpu::Gpu;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// compute-sanitizer's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sanitizer {
    /// Accesses out of bounds and misaligned.
    Memcheck,
    /// Hazards in shared memory.
    Racecheck,
    /// Reads of global memory that was never written.
    Initcheck,
    /// Misuse of barriers.
    Synccheck,
}

impl Sanitizer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Racecheck => "racecheck",
            Self::Initcheck => "initcheck",
            Self::Synccheck => "synccheck",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::value_variants().iter().copied();
        all.find(|tool| tool.name() == name)
    }
}

/// The outcome of a run under a tool.
pub(super) enum Watched {
    /// There is no GPU, for this reason.
    NoGpu(String),
    /// It could not be started.
    NotStarted(String),
    /// It ran.
    Ran(Ran),
}

/// The results of a run under a tool.
pub(super) struct Ran {
    /// Kernels that ran, and whether they passed.
    pub results: Vec<(String, bool)>,
    /// The tool's log.
    pub log: Log,
    /// Why it is incomplete.
    pub cut_short: Option<String>,
}

/// Runs the kernels of these filters under a tool.
pub(super) fn watch(
    program: &Path,
    tool: Sanitizer,
    filters: &[String],
    limit: Duration,
) -> Watched {
    let failed =
        |what: &str, error: std::io::Error| Watched::NotStarted(format!("{what}: {error}"));
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return failed("no temporary folder", error),
    };
    let this = match std::env::current_exe() {
        Ok(this) => this,
        Err(error) => return failed("this program cannot find its own file", error),
    };
    let (log, json) = (folder.path().join("log"), folder.path().join("json"));
    let mut command = Command::new(program);
    command
        .args(["--tool", tool.name(), "--log-file"])
        .arg(&log)
        .args(["--print-limit", "10000", "--show-backtrace", "no"])
        // This program reports those itself.
        .args(["--check-exit-code", "no", "--report-api-errors", "no"])
        .arg(this)
        .args(["run-all", "--engine", "gpu", "--quick", "--once"])
        .args(["--every-kernel", "--json"])
        .arg(&json)
        .args(filters.iter().flat_map(|filter| ["--filter", filter]))
        // Kernels are slow under a tool.
        .env("LOCKSTEP_TIME_LIMIT_S", limit.as_secs().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let status = match run(&mut command, limit) {
        Ok(status) => status,
        Err(error) => return failed(&format!("cannot run {}", program.display()), error),
    };
    let results = results(&json);
    if results.is_empty()
        && status.is_some()
        && let Err(error) = Gpu::new(Vec::new())
    {
        return Watched::NoGpu(error.to_string());
    }
    let log = Log::read(&std::fs::read_to_string(&log).unwrap_or_default());
    let cut_short = match (status, log.n_in_summary) {
        (None, _) => Some(format!(
            "stopped after {} s (--time-limit)",
            limit.as_secs()
        )),
        (Some(status), None) => Some(format!("it gave no summary, and ended with {status}")),
        (Some(status), Some(_)) if results.is_empty() => Some(format!(
            "the program left no results, and ended with {status}"
        )),
        (_, Some(n)) if n > log.reports.len() => Some(format!(
            "it counts {n} errors, of which {} could be read",
            log.reports.len()
        )),
        _ => None,
    };
    Watched::Ran(Ran {
        results,
        log,
        cut_short,
    })
}

/// The file that `run-all --json` wrote: kernels that ran, and whether they passed.
fn results(json: &Path) -> Vec<(String, bool)> {
    let text = std::fs::read_to_string(json).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let results = json["results"].as_array().map(Vec::as_slice);
    results
        .unwrap_or_default()
        .iter()
        .filter_map(|result| {
            let passed = match result["status"].as_str()? {
                "passed" => true,
                "failed" => false,
                _ => return None,
            };
            Some((result["kernel"].as_str()?.to_owned(), passed))
        })
        .collect()
}

/// Runs a command to its end or to the time limit; in the latter case there is no
/// status.
fn run(command: &mut Command, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    in_a_group_of_its_own(command);
    let mut child = command.spawn()?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit {
            kill(&mut child);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Makes sure that the processes it starts end with it.
#[cfg(unix)]
fn in_a_group_of_its_own(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn kill(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    // It may have ended on its own just now.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn in_a_group_of_its_own(_: &mut Command) {}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ = child.kill();
}
