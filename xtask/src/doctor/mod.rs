//! `cargo xtask doctor`: what this machine has, and what to do about what it lacks.

mod compiler;
mod gpu;
mod tools;

use crate::ending;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// Check this machine.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Also compile a small kernel from scratch (about 20 s)
    #[arg(long)]
    deep: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// It is there and works.
    Ok,
    /// Nothing runs without it.
    Missing,
    /// Some things do not run without it.
    Absent,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    /// What was found.
    detail: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Ok,
            detail: detail.into(),
            cure: None,
        }
    }

    fn missing(name: &'static str, detail: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Missing,
            detail: detail.into(),
            cure: Some(cure.into()),
        }
    }

    fn absent(name: &'static str, detail: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Absent,
            detail: detail.into(),
            cure: Some(cure.into()),
        }
    }
}

/// Checks, prints, and fails if something is missing that everything needs.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let mut checks = compiler::checks(options.deep);
    checks.extend(gpu::checks());
    checks.extend(tools::checks());
    let all_well = checks.iter().all(|check| check.status != Status::Missing);
    ending::print(|out| {
        if options.json {
            let report = serde_json::json!({"schema": 1, "ok": all_well, "checks": checks});
            return writeln!(out, "{report:#}");
        }
        print(out, &checks)?;
        writeln!(out, "\n{}", verdict(&checks))
    })?;
    Ok(if all_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print(out: &mut dyn Write, checks: &[Check]) -> io::Result<()> {
    let width = checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or(0);
    for Check {
        name,
        status,
        detail,
        cure,
    } in checks
    {
        let (mark, colour) = match status {
            Status::Ok => ("✓", AnsiColor::Green),
            Status::Missing => ("✗", AnsiColor::Red),
            Status::Absent => ("–", AnsiColor::Yellow),
        };
        let style = Style::new().fg_color(Some(colour.into())).bold();
        let indent = " ".repeat(width + 4);
        let detail = detail.replace('\n', &format!("\n{indent}"));
        writeln!(out, "{style}{mark}{style:#} {name:width$}  {detail}")?;
        if let Some(cure) = cure {
            let cure = cure.replace('\n', &format!("\n{indent}  "));
            writeln!(out, "{indent}→ {cure}")?;
        }
    }
    Ok(())
}

/// What can be done on this machine.
fn verdict(checks: &[Check]) -> String {
    let has = |name, status| {
        let mut checks = checks.iter();
        checks.any(|check| check.name == name && check.status == status)
    };
    if checks.iter().any(|check| check.status == Status::Missing) {
        return "Something is missing (✗): kernels cannot be compiled on this machine yet.".into();
    }
    let ready = match has(compiler::DEVICE, Status::Absent) {
        true => "The first run fetches the device compiler (see above); then",
        false => "Ready:",
    };
    let place = match has("GPU", Status::Ok) {
        true => "on the GPU and on the simulator.",
        false => "on the simulator (there is no GPU to use).",
    };
    format!("{ready} kernels compile, and run {place}")
}
