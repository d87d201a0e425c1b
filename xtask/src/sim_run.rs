//! `cargo xtask sim-run -- PROGRAM ARGS…`: any CUDA program on the simulator, and what was
//! found out while it ran.

use crate::sim_driver;
use anyhow::Context;
use serde_json::Value;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// Run any CUDA program on the simulator, and tell what it finds.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Look for what a GPU lets pass: races, unwritten reads, missing barriers
    #[arg(long)]
    check: bool,

    /// Count bank conflicts and sectors, line by line
    #[arg(long)]
    counters: bool,

    /// End the program at the first finding
    #[arg(long)]
    stop: bool,

    /// How many devices the program sees
    #[arg(long, value_name = "N")]
    devices: Option<u32>,

    /// Also write all that was found out to this file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

/// Lines of source, and allocations, that are shown; the report has all.
const MOST_SHOWN: usize = 20;

/// Runs the program and tells; fails if it does, or if something was found.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let library = sim_driver::own_folder()?;
    let temporary = tempfile::tempdir().context("there is no place for a report")?;
    let report = match &options.report {
        Some(path) => std::path::absolute(path).context("the report has no path")?,
        None => temporary.path().join("report.json"),
    };
    let _ = std::fs::remove_file(&report);
    let status = command(options, &library, &report)
        .status()
        .with_context(|| format!("cannot run {}", options.program[0].display()))?;
    let Ok(text) = std::fs::read_to_string(&report) else {
        eprintln!("lockstep: the program used no CUDA driver, or was ended before it could tell");
        return Ok(code(status));
    };
    let found: Value = serde_json::from_str(&text).context("the report cannot be read")?;
    let n_findings = tell(&found, &mut std::io::stderr().lock())?;
    Ok(match n_findings {
        0 => code(status),
        _ if status.success() => ExitCode::FAILURE,
        _ => code(status),
    })
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
    if let Some(n) = options.devices {
        command.env("LOCKSTEP_SIM_DEVICES", n.to_string());
    }
    command
}

/// The program's own exit code; as a shell tells a signal.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Tells what was found out; gives the number of findings.
fn tell(found: &Value, out: &mut impl Write) -> anyhow::Result<u64> {
    writeln!(out)?;
    let kernels = found["kernels"].as_object();
    let n_kernels = kernels.map_or(0, serde_json::Map::len);
    let kernels_text = plural(n_kernels as u64, "kernel", "kernels");
    writeln!(out, "lockstep: {kernels_text} on the simulator")?;
    for (name, kernel) in kernels.into_iter().flatten() {
        let launches = plural(
            kernel["n_launches"].as_u64().unwrap_or(0),
            "launch",
            "launches",
        );
        let seconds = kernel["seconds"].as_f64().unwrap_or(0.0);
        write!(out, "  {name}: {launches}, {seconds:.3} s")?;
        match kernel["n_failed"].as_u64() {
            Some(n) if n > 0 => writeln!(out, ", {n} ended badly")?,
            _ => writeln!(out)?,
        }
        let lines = kernel["lines"].as_object();
        for (place, line) in lines.into_iter().flatten().take(MOST_SHOWN) {
            tell_line(place, line, out)?;
        }
    }
    let n_leaks = tell_leaks(found, out)?;
    let findings = found["findings"].as_array().map_or(&[][..], Vec::as_slice);
    for finding in findings.iter().take(MOST_SHOWN) {
        writeln!(out)?;
        let kernel = finding["kernel"].as_str().unwrap_or_default();
        let text = finding["text"].as_str().unwrap_or_default();
        writeln!(out, "launch {} of `{kernel}`: {text}", finding["launch"])?;
    }
    let n = findings.len() as u64 + found["n_more_findings"].as_u64().unwrap_or(0);
    writeln!(out)?;
    let leaks = plural(n_leaks, "allocation", "allocations");
    writeln!(
        out,
        "lockstep: {}; {leaks} never freed",
        plural(n, "finding", "findings")
    )?;
    Ok(n)
}

/// A line with conflicts or more sectors than needed.
fn tell_line(place: &str, line: &Value, out: &mut impl Write) -> anyhow::Result<()> {
    let number = |name: &str| line[name].as_u64().unwrap_or(0);
    write!(
        out,
        "    {place}: {}",
        line["opcode"].as_str().unwrap_or_default()
    )?;
    if number("conflicts") > 0 {
        write!(
            out,
            ", {}",
            plural(number("conflicts"), "bank conflict", "bank conflicts")
        )?;
    }
    if number("sectors") > number("ideal_sectors") {
        let (sectors, ideal) = (number("sectors"), number("ideal_sectors"));
        write!(out, ", {sectors} sectors where {ideal} would do")?;
    }
    Ok(writeln!(out)?)
}

/// Allocations that were never freed; gives how many.
fn tell_leaks(found: &Value, out: &mut impl Write) -> anyhow::Result<u64> {
    let leaks = found["leaks"].as_array().map_or(&[][..], Vec::as_slice);
    for leak in leaks.iter().take(MOST_SHOWN) {
        writeln!(out)?;
        writeln!(
            out,
            "never freed: {} bytes at {:#x}",
            leak["n_bytes"],
            leak["address"].as_u64().unwrap_or(0)
        )?;
        let frames = leak["frames"].as_array().map_or(&[][..], Vec::as_slice);
        for frame in frames {
            writeln!(out, "  {}", frame.as_str().unwrap_or_default())?;
        }
    }
    if leaks.len() > MOST_SHOWN {
        writeln!(out, "and {} more", leaks.len() - MOST_SHOWN)?;
    }
    Ok(leaks.len() as u64)
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::tell;

    #[test]
    fn findings_lines_and_leaks_are_told() {
        let found = serde_json::json!({
            "kernels": {"k": {"n_launches": 1, "n_failed": 1, "seconds": 0.5, "lines": {
                "a.cu:7": {"opcode": "ld.shared.f32", "conflicts": 31, "sectors": 0, "ideal_sectors": 0},
                "a.cu:9": {"opcode": "ld.global.f32", "conflicts": 0, "sectors": 8, "ideal_sectors": 4},
            }}},
            "findings": [{"kernel": "k", "launch": 1, "text": "a race"}],
            "n_more_findings": 2,
            "leaks": [{"address": 4096, "n_bytes": 16, "frames": ["main at a.cu:3"]}],
        });
        let mut out = Vec::new();
        assert_eq!(tell(&found, &mut out).unwrap(), 3);
        let text = String::from_utf8(out).unwrap();
        for part in [
            "1 kernel on",
            "k: 1 launch, 0.500 s, 1 ended badly",
            "a.cu:7: ld.shared.f32, 31 bank conflicts",
            "a.cu:9: ld.global.f32, 8 sectors where 4 would do",
            "launch 1 of `k`: a race",
            "never freed: 16 bytes at 0x1000",
            "main at a.cu:3",
            "3 findings; 1 allocation never freed",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
    }
}
