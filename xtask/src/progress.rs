//! Progress of a fetch: a bar on a terminal, lines in a log.

use cuda_builder::toolchain::{Lines, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::Duration;

/// For this process's stderr.
pub fn on_stderr() -> Box<dyn Progress> {
    if std::io::stderr().is_terminal() {
        Box::new(Bar::default())
    } else {
        Box::new(Lines::new(std::io::stderr()))
    }
}

/// Appears with the first step; if nothing is fetched, nothing is drawn.
#[derive(Default)]
struct Bar(OnceLock<ProgressBar>);

impl Bar {
    fn shown(&self) -> &ProgressBar {
        self.0.get_or_init(|| {
            let bar = ProgressBar::no_length();
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        })
    }
}

impl Progress for Bar {
    fn step(&self, text: &str) {
        let bar = self.shown();
        bar.set_style(style("{spinner} {msg}"));
        bar.unset_length();
        bar.set_message(text.to_string());
    }

    /// Stays above the bar, even after the bar is gone.
    fn note(&self, text: &str) {
        let bar = self.shown();
        bar.println(format!("lockstep: {text}"));
        // There may be nothing to do but wait.
        bar.set_style(style("{spinner}"));
    }

    fn bytes(&self, done: u64, total: u64) {
        if let Some(bar) = self.0.get() {
            bar.set_style(style(
                "{spinner} {msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}",
            ));
            bar.set_length(total);
            bar.set_position(done.min(total));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.0.get() {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}
