//! Running a program under a time limit, with its output in a file.

use anyhow::{Context, bail};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a program ended.
pub enum End {
    Own(ExitStatus),
    /// It was killed, because it took too long.
    Limit,
}

impl End {
    /// What is wrong with the end, and the last output; none if the status is one of these.
    pub fn complaint(&self, usual: &[i32], limit: Duration, log: &Path) -> Option<String> {
        match self {
            Self::Own(status) if status.code().is_some_and(|code| usual.contains(&code)) => None,
            Self::Own(status) => Some(format!("the process ended ({status}): {}", last_lines(log))),
            Self::Limit => {
                let seconds = limit.as_secs();
                Some(format!("the process did not end within {seconds} s"))
            }
        }
    }
}

/// Runs a program; its output goes to the file `log`.
///
/// # Errors
/// It cannot be started, or not be waited for.
pub fn run(command: &mut Command, log: &Path, limit: Duration) -> anyhow::Result<End> {
    let file = File::create(log).with_context(|| format!("{} cannot be written", log.display()))?;
    let both = file.try_clone().context("a file cannot be shared")?;
    let name = command.get_program().to_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(both)
        .spawn()
        .with_context(|| format!("cannot run {}", name.display()))?;
    let end = wait(&mut child, limit);
    end.with_context(|| format!("cannot wait for {}", name.display()))
}

fn wait(child: &mut Child, limit: Duration) -> std::io::Result<End> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Own(status));
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(End::Limit);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Runs a tool that must succeed.
///
/// # Errors
/// The tool fails; the error has the end of its output.
pub fn tool(command: &mut Command, log: &Path, limit: Duration) -> anyhow::Result<()> {
    let name = command.get_program().display().to_string();
    match run(command, log, limit)? {
        End::Own(status) if status.success() => Ok(()),
        End::Own(_) => bail!("{name} failed: {}", last_lines(log)),
        End::Limit => bail!("{name} did not end within {} s", limit.as_secs()),
    }
}

/// The last few lines of a program's output.
pub fn last_lines(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<_> = lines.collect();
    lines[lines.len().saturating_sub(3)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let limit = Duration::from_millis(50);
        let end = run(Command::new("sleep").arg("60"), &log, limit);
        assert!(matches!(end, Ok(End::Limit)));
    }

    #[test]
    fn a_tool_that_fails_is_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let mut command = Command::new("sh");
        command.args(["-c", "echo first; echo no such package >&2; exit 1"]);
        let error = tool(&mut command, &log, Duration::from_secs(60)).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: first\nno such package");
    }
}
