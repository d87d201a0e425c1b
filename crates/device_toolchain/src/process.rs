//! Running a program with a time limit, keeping its output.

use crate::room;
use std::io::{self, Read};
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Runs a program that ends soon.
///
/// A program that was just written may be busy: while another thread starts a
/// program, that one briefly has our open files.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    for _ in 0..100 {
        match command.output() {
            Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
    command.output()
}

/// Runs `command` to its end, calling `tick` a few times per second, and returns its output.
///
/// # Errors
///
/// It could not be started, took longer than `limit`, or failed; then the error is its own message.
pub(crate) fn run(
    command: &mut Command,
    limit: Duration,
    mut tick: impl FnMut(),
) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => format!("{name} is not on this system"),
            _ => format!("{name} cannot be run: {e}"),
        })?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let started = Instant::now();
    let status = loop {
        tick();
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() > limit => {
                // It may have ended on its own meanwhile; either way it is gone.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name} did not end within {} s", limit.as_secs()));
            }
            Ok(None) => thread::sleep(Duration::from_millis(20).min(started.elapsed())),
            Err(e) => return Err(format!("{name} was lost: {e}")),
        }
    };
    let said = |thread: JoinHandle<String>| thread.join().unwrap_or_default();
    if status.success() {
        Ok(said(stdout))
    } else {
        Err(format!("{name} failed: {}", essence(&said(stderr))))
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // Output read before an error is kept.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The lines that show the cause: that the disk is full; or else those that apt
/// and rustup mark as errors; or else the last few.
fn essence(stderr: &str) -> String {
    // apt adds this line to every failure.
    let says_nothing = |line: &str| line.contains("Some index files failed to download");
    let lines: Vec<&str> = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !says_nothing(line))
        .collect();
    // There is often one such line per file, with the same cause.
    if let Some(line) = lines.iter().find(|line| room::ran_out(line)) {
        return (*line).into();
    }
    let is_marked = |line: &&str| line.contains("error: ") || line.starts_with("E:");
    let marked: Vec<&str> = lines.iter().copied().filter(is_marked).collect();
    match (&*marked, &lines[lines.len().saturating_sub(3)..]) {
        ([], []) => "it printed nothing".into(),
        ([], last) => last.join("\n    "),
        (marked, _) => marked.join("\n    "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn a_program_that_hangs_is_ended_and_one_that_is_missing_is_named() {
        let reason = run(Command::new("sleep").arg("60"), SHORT, || {}).unwrap_err();
        assert!(reason.contains("did not end"), "{reason}");
        let reason = run(&mut Command::new("no-such-program"), SHORT, || {}).unwrap_err();
        assert_eq!(reason, "no-such-program is not on this system");
    }

    #[test]
    fn a_failure_is_told_in_the_programs_words_a_full_disk_first() {
        for (stderr, essential) in [
            (
                "noise\nE: Unable to locate package rustc",
                "E: Unable to locate package rustc",
            ),
            ("one\ntwo\n\nthree\nfour", "two\n    three\n    four"),
            ("", "it printed nothing"),
            (
                "tar: ./usr/lib/a.so: Cannot write: No space left on device\n\
                 tar: ./usr/lib/b.so: Cannot write: No space left on device\n\
                 dpkg-deb: error: tar subprocess returned error exit status 2\n",
                "tar: ./usr/lib/a.so: Cannot write: No space left on device",
            ),
        ] {
            let script = format!("cat >&2 <<'.'\n{stderr}\n.\nexit 1");
            let mut shell = Command::new("sh");
            let reason = run(shell.args(["-c", &script]), SHORT, || {}).unwrap_err();
            assert_eq!(reason, format!("sh failed: {essential}"));
        }
    }
}
