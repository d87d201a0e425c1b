//! `cargo xtask sim-run -- PROGRAM ARGS…`: any CUDA program on the simulator, and a report of the
//! findings.
//!
//! [`found`] is the driver's report, [`text`] prints it to a terminal, [`mod@page`] makes a page
//! of it, with source lines from [`sources`].

mod found;
mod page;
mod sources;
mod text;

use anyhow::Context;
use clap::Parser;
use clap::error::ErrorKind;
use found::{Found, Run};
use serde::Deserialize;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

/// Run any CUDA program on the simulator, and report what it finds.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask sim-run")]
struct Options {
    /// Look for what a GPU lets pass: races, unwritten reads, missing barriers, forgotten waits
    /// between streams
    #[arg(long)]
    check: bool,

    /// Count bank conflicts and sectors, line by line
    #[arg(long)]
    counters: bool,

    /// Halt every launch in a debugger, which goes forwards and backwards; its `finding` goes to what
    /// the checks find
    #[arg(long, conflicts_with_all = ["schedules", "check"])]
    debug: bool,

    /// The same, with commands from a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["debug", "schedules", "check"])]
    debug_script: Option<PathBuf>,

    /// End the program at the first finding
    #[arg(long)]
    stop: bool,

    /// How many devices the program sees
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=8))]
    devices: Option<u32>,

    /// Also try launches in N other orders of their blocks, warps and lanes
    #[arg(long, value_name = "N", conflicts_with = "schedule")]
    schedules: Option<u64>,

    /// How many launches of each kernel to try this way, each of a different shape; or `all`
    #[arg(long, value_name = "L", requires = "schedules", value_parser = number_or_all)]
    schedule_launches: Option<String>,

    /// Run all launches in this order, such as 3/warps/12
    #[arg(long, value_name = "S", value_parser = with_seed)]
    schedule: Option<String>,

    /// Also write the full report to this file, as a page (.html) or as JSON (.json)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

/// The file for the full report, and its format.
enum Report {
    Html(PathBuf),
    Json(PathBuf),
}

/// A number from 1 on, or `all`.
fn number_or_all(text: &str) -> Result<String, String> {
    match text == "all" || text.parse::<u64>().is_ok_and(|n| n > 0) {
        true => Ok(text.to_owned()),
        false => Err("it is a number from 1 on, or `all`".to_owned()),
    }
}

/// A schedule; what follows its seed, the driver reads.
fn with_seed(text: &str) -> Result<String, String> {
    let seed = text.split('/').next().unwrap_or_default();
    match seed.parse::<u64>() {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("it begins with a seed, a number, as `7` and `7/warps/12` do".to_owned()),
    }
}

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        match error.downcast::<clap::Error>() {
            // The command was wrong.
            Ok(usage) => usage.exit(),
            Err(error) => eprintln!("error: {error:#}"),
        }
        ExitCode::FAILURE
    })
}

fn usage(what: String) -> anyhow::Error {
    clap::Error::raw(ErrorKind::InvalidValue, what + "\n").into()
}

/// Runs the program and reports. Fails if the program does, if something was found, or if a module
/// was not loaded.
fn run(options: &Options) -> anyhow::Result<ExitCode> {
    check_program(&options.program[0])?;
    if let Some(script) = options.debug_script.as_ref().filter(|s| !s.is_file()) {
        return Err(usage(format!("there is no file {}", script.display())));
    }
    let report = options.report.as_deref().map(Report::new).transpose()?;
    let library = driver()?;
    let temporary = tempfile::tempdir().context("cannot make a temporary folder for the report")?;
    let file = temporary.path().join("report.json");
    let started = Instant::now();
    let status = command(options, &library, &file)
        .status()
        .with_context(|| format!("cannot run {}", options.program[0].display()))?;
    let seconds = started.elapsed().as_secs_f64();
    let code = code(status);
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("lockstep: the program used no CUDA driver, or was ended before it could report");
        return Ok(code.into());
    };
    let mut all: Value = serde_json::from_str(&text).context("the report cannot be read")?;
    let arguments = options.program.iter();
    all["run"] = serde_json::to_value(Run {
        command: arguments
            .map(|a| a.to_string_lossy().into_owned())
            .collect(),
        status: code,
        seconds,
    })?;
    if let Some(report) = &report {
        report.write(&all)?;
    }
    let found = Found::deserialize(&all).context("the report cannot be read")?;
    let found = found.demangled();
    text::tell(&found, &mut std::io::stderr().lock())?;
    if let Some(Report::Html(path) | Report::Json(path)) = &report {
        eprintln!("lockstep: the report is in {}", path.display());
    }
    Ok(match code {
        0 if found.is_bad() => ExitCode::FAILURE,
        _ => code.into(),
    })
}

/// Has `cargo xtask` build the simulator's driver; returns its folder.
fn driver() -> anyhow::Result<PathBuf> {
    let variable = |name| std::env::var_os(name).context("start it with `cargo xtask sim-run`");
    let folder = Path::new(&variable("LOCKSTEP_ROOT")?).join("target/sim-driver");
    let mut build = Command::new(variable("LOCKSTEP_XTASK")?);
    build.arg("sim-driver").arg(&folder).stdout(Stdio::null());
    let built = build.status().context("`cargo xtask` cannot be run")?;
    anyhow::ensure!(built.success(), "there is no driver (see above)");
    Ok(folder)
}

/// Whether there is such a program, before the driver is built for it.
fn check_program(program: &OsStr) -> anyhow::Result<()> {
    let can_be_run = |path: &Path| {
        let file = path.metadata();
        file.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(program);
    let is_named_by_path = path.components().count() > 1;
    let (is_there, place) = match std::env::var_os("PATH") {
        Some(folders) if !is_named_by_path => (
            std::env::split_paths(&folders).any(|folder| can_be_run(&folder.join(path))),
            " on the PATH",
        ),
        // Without a PATH, the system uses folders of its own.
        None if !is_named_by_path => (true, ""),
        _ => (can_be_run(path), ""),
    };
    match is_there {
        true => Ok(()),
        false => Err(usage(format!(
            "cannot run {0}: there is no such program{place}{1}",
            program.display(),
            match !is_named_by_path && path.is_file() {
                true => format!(
                    ", but a file here: `./{}` names that one",
                    program.display()
                ),
                false => String::new(),
            }
        ))),
    }
}

impl Report {
    /// By the file's extension; an error if it has another one, or if its folder is missing.
    fn new(file: &Path) -> anyhow::Result<Self> {
        let path = std::path::absolute(file).context("the report has no path")?;
        let report = match file.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => Self::Html(path),
            Some("json") => Self::Json(path),
            _ => {
                return Err(usage(format!(
                    "--report {}: the file's name must end in .html, for a page, or in .json",
                    file.display()
                )));
            }
        };
        let (Self::Html(path) | Self::Json(path)) = &report;
        if !path.parent().is_some_and(Path::is_dir) {
            return Err(usage(format!(
                "--report {}: there is no such folder",
                file.display()
            )));
        }
        // An earlier run's report says nothing about this one.
        let _ = std::fs::remove_file(path);
        Ok(report)
    }

    fn write(&self, all: &Value) -> anyhow::Result<()> {
        let (path, text) = match self {
            Self::Json(path) => (path, serde_json::to_string_pretty(all)? + "\n"),
            Self::Html(path) => (path, page::page(&Found::deserialize(all)?.demangled())),
        };
        std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
    }
}

fn command(options: &Options, library: &Path, report: &Path) -> Command {
    let mut command = Command::new(&options.program[0]);
    command.args(&options.program[1..]);
    let mut path = library.as_os_str().to_owned();
    if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|p| !p.is_empty()) {
        path.push(":");
        path.push(before);
    }
    command.env("LD_LIBRARY_PATH", path);
    // Programs of this repository look for the driver by this name.
    command.env("LOCKSTEP_LIBCUDA", library.join("libcuda.so.1"));
    command.env("LOCKSTEP_SIM_REPORT", report);
    for (name, wanted) in [
        ("LOCKSTEP_SIM_CHECK", options.check),
        ("LOCKSTEP_SIM_COUNTERS", options.counters),
        ("LOCKSTEP_SIM_STOP", options.stop),
    ] {
        if wanted {
            command.env(name, "1");
        }
    }
    if let Some(value) = debugger(options) {
        command.env("LOCKSTEP_DEBUG", value);
    }
    for (name, value) in [
        (
            "LOCKSTEP_SIM_DEVICES",
            options.devices.map(|n| n.to_string()),
        ),
        (
            "LOCKSTEP_SIM_SCHEDULES",
            options.schedules.map(|n| n.to_string()),
        ),
        (
            "LOCKSTEP_SIM_SCHEDULE_LAUNCHES",
            options.schedule_launches.clone(),
        ),
        ("LOCKSTEP_SIM_SCHEDULE", options.schedule.clone()),
    ] {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

/// Where the debugger talks, as its variable says it.
fn debugger(options: &Options) -> Option<OsString> {
    if let Some(script) = &options.debug_script {
        let script = std::path::absolute(script).unwrap_or_else(|_| script.clone());
        let mut value = OsString::from("script:");
        value.push(script);
        return Some(value);
    }
    options.debug.then(|| "terminal".into())
}

/// The program's own exit code; for a signal, the one that a shell gives.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn a_report_is_a_page_or_json() {
        let folder = tempfile::tempdir().unwrap();
        let new = |name: &str| Report::new(&folder.path().join(name));
        assert!(matches!(new("a.html"), Ok(Report::Html(_))));
        assert!(matches!(new("a.json"), Ok(Report::Json(_))));
        for name in ["a", "a.txt", "html"] {
            let error = new(name).err().expect(name).to_string();
            assert!(error.contains("must end in .html"), "{error}");
        }
        let error = new("none/a.html").err().expect("no folder").to_string();
        assert!(error.ends_with("there is no such folder\n"), "{error}");
    }
}
