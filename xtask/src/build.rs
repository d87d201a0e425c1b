//! Building the binary `lockstep`, with cargo's own progress on stderr.

use crate::{progress, workspace};
use anyhow::{Context, bail};
use cuda_builder::toolchain::Locator;
use serde_json::Value;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What cargo built.
pub struct Built {
    /// The binary.
    pub binary: PathBuf,
    /// Where `host`'s build script left the PTX.
    pub out_dir: PathBuf,
}

/// Makes sure of the kernels' compiler and builds `lockstep`.
///
/// The compiler is fetched here and not in the build script, because here
/// progress can be shown.
pub fn lockstep(release: bool) -> anyhow::Result<Built> {
    Locator::from_env(&workspace::kernels())?.ensure(&*progress::on_stderr())?;

    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--package=host", "--bin=lockstep"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(workspace::root())
        .stdout(Stdio::piped());
    if release {
        command.arg("--release");
    }
    // The build script cannot see that there is a terminal; we can.
    let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    if std::io::stderr().is_terminal() && unset("NO_COLOR") && unset("CARGO_TERM_COLOR") {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command.spawn().context("cannot run cargo")?;
    let (mut binary, mut out_dir) = (None, None);
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            let path = |value: &Value| value.as_str().map(PathBuf::from);
            match message["reason"].as_str() {
                Some("compiler-artifact") if message["target"]["name"] == "lockstep" => {
                    binary = path(&message["executable"]).or(binary);
                }
                Some("build-script-executed") if is_host(&message["package_id"]) => {
                    out_dir = path(&message["out_dir"]);
                }
                _ => {}
            }
        }
    }
    if !child.wait().context("cargo was lost")?.success() {
        bail!("`lockstep` could not be built (see above)");
    }
    Ok(Built {
        binary: binary.context("cargo built no binary `lockstep`")?,
        out_dir: out_dir.context("package `host` ran no build script")?,
    })
}

/// Whether a package id (`path+file:///…/host#0.1.0`) is `host`'s.
fn is_host(id: &Value) -> bool {
    let Some(id) = id.as_str() else { return false };
    id.split('#')
        .next()
        .is_some_and(|path| path.ends_with("/host"))
}
