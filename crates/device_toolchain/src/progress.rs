//! Telling what is going on while a compiler is fetched.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, OnceLock};

/// Someone to tell.
pub trait Progress {
    /// A step begins: "fetching 19 packages".
    fn step(&self, text: &str);

    /// Something worth knowing later: what was found damaged, what is waited for.
    fn note(&self, text: &str) {
        self.step(text);
    }

    /// How far the step is, in bytes.
    fn bytes(&self, done: u64, total: u64);
}

/// Tells nobody.
#[derive(Debug, Default, Clone, Copy)]
pub struct Quiet;

impl Progress for Quiet {
    fn step(&self, _: &str) {}
    fn bytes(&self, _: u64, _: u64) {}
}

/// Writes a line for each step, for logs and other places without a cursor.
pub struct Lines<W>(Mutex<W>);

impl<W: Write> Lines<W> {
    /// Will write to `out`.
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

/// For a build script, whose own output cargo keeps back: lines on the
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
