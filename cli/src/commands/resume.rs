//! Resuming after a GPU was lost: in a new process, with the results so far.
//!
//! After a fault, the process that caused it cannot use the GPU again, and a kernel that never
//! ends keeps it busy. A new process can use it. So this one saves its results and replaces
//! itself by a new one, which takes them over and goes on with the next case: a fault costs
//! one kernel.
//!
//! Left out: systems other than Unix, where a process cannot replace itself. Cases after a
//! fault are not run there.

use super::progress::say;
use lesson::{Case, CaseResult};
use lockstep::engine::Engine;
use lockstep::engine::gpu::Gpu;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The environment variable that names the file with the results so far.
const VARIABLE: &str = "LOCKSTEP_RESULTS_SO_FAR";

/// What a process hands over to the next.
#[derive(Serialize, Deserialize)]
struct SoFar {
    elapsed_s: f64,
    results: Vec<Saved>,
}

/// A result, with the names of its case.
#[derive(Serialize, Deserialize)]
struct Saved {
    kernel: String,
    shape: String,
    result: CaseResult,
}

impl Saved {
    fn of(result: &CaseResult) -> Self {
        Self {
            kernel: result.kernel.to_owned(),
            shape: result.shape.name(),
            result: result.clone(),
        }
    }

    /// The full result, if it belongs to the case.
    fn into_result(self, case: &Case) -> Option<CaseResult> {
        let lesson::Registered { lesson, kernel } = case.registered;
        let is_its = (self.kernel.as_str(), &self.shape) == (kernel.id, &case.shape.name());
        is_its.then(|| CaseResult {
            lesson: lesson.id,
            kernel: kernel.id,
            shape: case.shape.clone(),
            ..self.result
        })
    }
}

/// A walk through cases, which may take several processes.
pub(super) struct Walk {
    /// Results of the first cases.
    pub results: Vec<CaseResult>,
    /// How many of them come from the processes before this one.
    n_handed_over: usize,
    /// The time that those took.
    before: Duration,
    started: Instant,
    /// Whether a process may follow.
    goes_on: bool,
}

impl Walk {
    /// A walk through these cases, from where the process before this one stopped.
    pub(super) fn through(cases: &[Case]) -> Self {
        let (results, before) = results_so_far(cases);
        Self {
            n_handed_over: results.len(),
            results,
            before,
            started: Instant::now(),
            goes_on: true,
        }
    }

    /// The time that all processes took.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    /// Runs those of these cases, the walk's first ones, that have no result yet. If one
    /// takes the GPU away, a new process goes on with the next; if none can be started, the
    /// rest is not run.
    pub(super) fn go_through(
        &mut self,
        gpu: &Gpu,
        cases: &[Case],
        mut run: impl FnMut(&Case) -> CaseResult,
    ) {
        for case in cases.iter().skip(self.results.len()) {
            // A process that got nowhere is not followed by another, which would not either.
            let got_on = self.results.len() > self.n_handed_over;
            if self.goes_on && got_on && gpu.is_usable().is_err() {
                self.go_on_in_a_new_process();
                self.goes_on = false;
            }
            self.results.push(run(case));
        }
    }

    /// Becomes a new process that goes on after these results. Returns only if that
    /// fails.
    fn go_on_in_a_new_process(&self) {
        let so_far = SoFar {
            elapsed_s: self.elapsed().as_secs_f64(),
            results: self.results.iter().map(Saved::of).collect(),
        };
        let lost_to = self.results.last().map_or("", |result| result.kernel);
        say(&format!(
            "`{lost_to}` cost this process the GPU; a new process goes on with the next case"
        ));
        if let Err(error) = write(&so_far).and_then(|path| become_another(&path)) {
            say(&format!("no new process could be started: {error}"));
        }
    }
}

/// The results of the process before this one, and the time it took; none if there was no
/// such process, or if it ran other cases.
fn results_so_far(cases: &[Case]) -> (Vec<CaseResult>, Duration) {
    let nothing = || (Vec::new(), Duration::ZERO);
    let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        return nothing();
    };
    let read = std::fs::read(&path)
        .ok()
        .and_then(|text| serde_json::from_slice::<SoFar>(&text).ok());
    let Some(so_far) = read.filter(|so_far| so_far.results.len() <= cases.len()) else {
        return nothing();
    };
    let results: Option<Vec<_>> = cases
        .iter()
        .zip(so_far.results)
        .map(|(case, saved)| saved.into_result(case))
        .collect();
    let elapsed = Duration::try_from_secs_f64(so_far.elapsed_s).unwrap_or_default();
    match results {
        Some(results) => {
            // Programs that are started from here on start afresh.
            let _ = std::fs::remove_file(&path);
            (results, elapsed)
        }
        None => nothing(),
    }
}

fn write(so_far: &SoFar) -> std::io::Result<PathBuf> {
    let file = tempfile::Builder::new()
        .prefix("lockstep-results-")
        .suffix(".json")
        .tempfile()?;
    serde_json::to_writer(&file, so_far)?;
    Ok(file.into_temp_path().keep()?)
}

#[cfg(unix)]
fn become_another(results: &Path) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt;
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.arg0(name).args(arguments).env(VARIABLE, results);
    leave_files_behind();
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_another(_results: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("this system has no such call"))
}

/// Closes all files that the new process does not know: those of the driver keep the device's
/// memory, and a kernel that never ends, alive.
#[cfg(unix)]
fn leave_files_behind() {
    use std::os::fd::BorrowedFd;
    const LAST_STANDARD: i32 = 2;
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    let numbers = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers
        .filter(|&number| number > LAST_STANDARD)
        .collect::<Vec<_>>()
    {
        // SAFETY: if a file has been closed meanwhile, the call returns an error.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC);
    }
}
