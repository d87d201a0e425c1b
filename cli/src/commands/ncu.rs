//! This program, run again under Nsight Compute.

use super::exit::{Exit, Stop};
use super::tools::Tool;
use crate::report::ncu::{self, Launches};
use host::hints;
use std::borrow::Borrow;
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Arguments of `ncu` for counters: times are not needed, so the clocks are left
/// alone.
const ARGUMENTS: &[&str] = &[
    "--csv",
    "--page",
    "raw",
    "--print-units",
    "base",
    "--clock-control",
    "none",
];

/// The command that measures `metrics` of a kernel (or of all), as the user types it.
pub fn command_line(kernel: Option<&str>, metrics: &[impl Borrow<str>], arguments: &str) -> String {
    let filter = kernel.map_or_else(String::new, |kernel| format!("--kernel-name {kernel} "));
    format!(
        "ncu {} {filter}--metrics {} {} {arguments}",
        ARGUMENTS.join(" "),
        metrics.join(","),
        hints::program_words()
    )
}

/// Runs this program with `arguments` under `ncu`; returns the metrics of each launch of
/// the kernel (or of all).
pub fn run_self(
    kernel: Option<&str>,
    metrics: &[impl Borrow<str>],
    arguments: &[OsString],
) -> Result<Launches, Stop> {
    let nothing = |what: String| Stop::Because(Exit::NothingRan, what);
    let failed = |what: String| Stop::Because(Exit::Failed, what);
    let ncu = Tool::Ncu.find().map_err(nothing)?;
    let program = std::env::current_exe()
        .map_err(|error| nothing(format!("this program cannot find its own file: {error}")))?;
    let folder = tempfile::tempdir()
        .map_err(|error| nothing(format!("no temporary folder could be made: {error}")))?;
    let log = folder.path().join("ncu.csv");
    let mut command = Command::new(&ncu);
    command
        .args(ARGUMENTS)
        .arg("--metrics")
        .arg(metrics.join(","));
    if let Some(kernel) = kernel {
        command.args(["--kernel-name", kernel]);
    }
    let output = command
        .arg("--log-file")
        .arg(&log)
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| nothing(format!("{} could not be started: {error}", ncu.display())))?;
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    if text.contains("ERR_NVGPUCTRPERM") {
        return Err(nothing(
            "ncu cannot read the hardware counters: the administrator must allow it, or run it \
             as root (ERR_NVGPUCTRPERM)"
                .to_owned(),
        ));
    }
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let told: Vec<&str> = text.lines().chain(stderr.lines()).collect();
        let last = &told[told.len().saturating_sub(12)..];
        return Err(failed(format!(
            "ncu failed ({}):\n{}",
            output.status,
            last.join("\n")
        )));
    }
    ncu::read(&text).map_err(|what| nothing(format!("ncu measured nothing: {what}")))
}
