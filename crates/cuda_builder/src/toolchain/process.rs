//! Running a program with a limit on its time, keeping what it says.

use super::space;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What a program left behind.
pub(super) struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// How long to wait for a program.
pub(super) struct Patience {
    /// In all.
    pub total: Duration,
    /// Until it says the first thing on stderr after `lines_expected` lines.
    pub silence: Option<(usize, Duration)>,
}

/// Runs a program that ends soon.
///
/// One that was just written may be busy: while another thread starts a
/// program, that one has our open files for a moment.
pub(super) fn output(command: &mut Command) -> std::io::Result<Output> {
    for _ in 0..100 {
        match command.output() {
            Err(e) if e.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
    command.output()
}

/// Runs `command` to its end, calling `tick` a few times a second.
///
/// # Errors
///
/// It could not be started, or took longer than it may: a sentence.
pub(super) fn run(
    command: &mut Command,
    patience: &Patience,
    mut tick: impl FnMut(),
) -> Result<Finished, String> {
    let name = command.get_program().display().to_string();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => format!("{name} is not on this system"),
            _ => format!("{name} cannot be run: {e}"),
        })?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let mut said = (String::new(), String::new());
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        tick();
        said.0.extend(stdout.try_iter());
        said.1.extend(stderr.try_iter());
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(e) => return Err(format!("{name} was lost: {e}")),
        }
        let quiet_too_long = patience.silence.is_some_and(|(lines, limit)| {
            said.1.lines().count() <= lines && started.elapsed() > limit
        });
        if quiet_too_long || started.elapsed() > patience.total {
            end(&mut child);
            let seconds = started.elapsed().as_secs();
            return Err(format!(
                "{name} did not end within {seconds} s{}",
                last_line(&said.1)
            ));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    said.0.extend(stdout.iter());
    said.1.extend(stderr.iter());
    Ok(Finished {
        status,
        stdout: said.0,
        stderr: said.1,
    })
}

/// As [`run`]; a program that fails is an error too, told in its own words.
pub(super) fn run_well(
    command: &mut Command,
    patience: &Patience,
    tick: impl FnMut(),
) -> Result<String, String> {
    let finished = run(command, patience, tick)?;
    if finished.status.success() {
        return Ok(finished.stdout);
    }
    let name = command.get_program().display();
    Err(format!("{name} failed: {}", essence(&finished.stderr)))
}

/// The lines that tell the cause: that the disk is full; or else those that apt
/// and rustup mark as errors; or else the last few.
pub(super) fn essence(stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !SAYS_NOTHING.iter().any(|s| line.contains(s)))
        .collect();
    // One such line for each file is common; it is the same cause.
    if let Some(line) = lines.iter().find(|line| space::ran_out(line)) {
        return (*line).into();
    }
    let marked: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| {
            line.contains("error: ") || ["E:", "Err:"].iter().any(|mark| line.starts_with(mark))
        })
        .collect();
    let chosen = if marked.is_empty() {
        &lines[lines.len().saturating_sub(3)..]
    } else {
        &marked
    };
    if chosen.is_empty() {
        "it says nothing".into()
    } else {
        chosen.join("\n    ")
    }
}

/// What apt adds to every failure.
const SAYS_NOTHING: [&str; 2] = [
    "Some index files failed to download",
    "apt-get update or try",
];

fn last_line(stderr: &str) -> String {
    stderr
        .lines()
        .last()
        .map_or_else(String::new, |line| format!(" (last said: {})", line.trim()))
}

fn end(child: &mut Child) {
    // It may have ended by itself meanwhile; either way it is gone.
    let _ = child.kill();
    let _ = child.wait();
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let mut buffer = [0; 4096];
        while let Ok(n_bytes @ 1..) = pipe.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..n_bytes]).into_owned();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Patience = Patience {
        total: Duration::from_millis(300),
        silence: None,
    };

    #[test]
    fn a_program_that_hangs_is_ended() {
        let reason = run(Command::new("sleep").arg("60"), &SHORT, || {})
            .err()
            .unwrap();
        assert!(reason.contains("did not end"), "{reason}");
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let reason = run(&mut Command::new("no-such-program"), &SHORT, || {})
            .err()
            .unwrap();
        assert_eq!(reason, "no-such-program is not on this system");
    }

    #[test]
    fn a_failure_is_told_in_the_programs_words() {
        let script = "echo noise >&2; echo 'E: Unable to locate package rustc' >&2; exit 100";
        let reason = run_well(Command::new("sh").args(["-c", script]), &SHORT, || {}).unwrap_err();
        assert_eq!(reason, "sh failed: E: Unable to locate package rustc");
    }

    #[test]
    fn a_full_disk_is_told_before_what_followed_from_it() {
        let stderr = "tar: ./usr/lib/a.so: Cannot write: No space left on device\n\
                      tar: ./usr/lib/b.so: Cannot write: No space left on device\n\
                      dpkg-deb: error: tar subprocess returned error exit status 2\n";
        assert_eq!(
            essence(stderr),
            "tar: ./usr/lib/a.so: Cannot write: No space left on device"
        );
    }
}
