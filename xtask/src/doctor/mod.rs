//! `cargo xtask doctor`: a check of this machine, with a remedy for whatever is missing.

mod check;
mod compiler;
mod gpu;
mod tools;

use crate::ending;
use anstyle::{AnsiColor, Style};
use check::{Check, Status};
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

/// Checks, prints, and fails if something essential is missing.
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
        false => "on the simulator (there is no usable GPU).",
    };
    format!("{ready} kernels compile, and run {place}")
}
