//! Progress reports while a compiler is fetched.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, OnceLock};

/// A receiver of progress reports.
pub trait Progress {
    /// A step begins: "fetching 19 packages".
    fn step(&self, text: &str);

    /// Something worth knowing later: a damaged file, or a wait.
    fn note(&self, text: &str) {
        self.step(text);
    }

    /// The progress of the step, in bytes.
    fn bytes(&self, done: u64, total: u64);
}

/// Ignores all reports.
#[derive(Debug, Default, Clone, Copy)]
pub struct Quiet;

impl Progress for Quiet {
    fn step(&self, _: &str) {}
    fn bytes(&self, _: u64, _: u64) {}
}

/// Writes a line for each step, for logs and other places without a cursor.
pub struct Lines<W>(Mutex<W>);

impl<W: Write> Lines<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self(Mutex::new(out))
    }
}

impl<W: Write> Progress for Lines<W> {
    fn step(&self, text: &str) {
        if let Ok(mut out) = self.0.lock() {
            // Progress that cannot be shown is not a reason to stop.
            let _ = writeln!(out, "lockstep: {text}").and_then(|()| out.flush());
        }
    }

    fn bytes(&self, _: u64, _: u64) {}
}

/// For a build script, whose own output cargo hides: lines on the
/// terminal, if there is one.
#[derive(Default)]
pub struct Terminal(OnceLock<Option<Lines<File>>>);

impl Progress for Terminal {
    fn step(&self, text: &str) {
        let terminal = self.0.get_or_init(|| {
            let mut terminal = File::options().write(true).open("/dev/tty").ok()?;
            // The first line would otherwise continue cargo's progress bar.
            terminal.write_all(b"\n").ok()?;
            Some(Lines::new(terminal))
        });
        if let Some(terminal) = terminal {
            terminal.step(text);
        }
    }

    fn bytes(&self, _: u64, _: u64) {}
}
