//! Progress and remarks on stderr while a command runs.

use crate::report::style::{BAD, FAINT, style_of};
use indicatif::{ProgressBar, ProgressStyle};
use lesson::{Case, CaseResult};
use ptx_sim::Schedule;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Prints an error to stderr. It is not a failure if no one reads it.
pub fn say_error(text: &str) {
    let _ = writeln!(anstream::stderr(), "{BAD}error{BAD:#}: {text}");
}

/// Prints a remark to stderr.
pub fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Progress of a run: a bar on a terminal, a line per case elsewhere.
pub struct Progress {
    bar: Option<ProgressBar>,
    n_cases: usize,
    n_ended: AtomicUsize,
}

impl Progress {
    /// Of `n_cases` cases.
    pub fn new(n_cases: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(n_cases as u64);
            // A constant of ours: the template is valid, or the style is never used.
            if let Ok(style) = ProgressStyle::with_template("{spinner} [{pos}/{len}] {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Self {
            bar,
            n_cases,
            n_ended: AtomicUsize::new(0),
        }
    }

    /// The case begins.
    pub fn starting(&self, case: &Case) {
        self.starting_under(case, None);
    }

    /// The case begins, in the usual order or under a schedule.
    pub fn starting_under(&self, case: &Case, schedule: Option<Schedule>) {
        if let Some(bar) = &self.bar {
            let order = schedule.map(|schedule| format!(", schedule {schedule}"));
            let order = order.unwrap_or_default();
            let kernel = case.registered.kernel.id;
            bar.set_message(format!("{kernel} {}{order}", case.shape));
        }
    }

    /// The case has ended.
    pub fn ended(&self, result: &CaseResult) {
        let n_ended = self.n_ended.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.bar {
            Some(bar) => bar.inc(1),
            None => {
                let style = style_of(result.status);
                say(&format!(
                    "[{n_ended}/{}] {} {}: {style}{}{style:#} {FAINT}({:.1} s){FAINT:#}",
                    self.n_cases,
                    result.kernel,
                    result.shape,
                    result.status.words(),
                    result.elapsed.as_secs_f64(),
                ));
            }
        }
    }

    /// Everything has ended.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
