//! `cargo xtask watch KERNEL`: a command on one kernel, repeated after every save.
//!
//! `crates/file_watch` notices changes.

use crate::ending::USAGE;
use crate::{build, hand_over, workspace};
use anyhow::Context;
use file_watch::{INTERVAL, Snapshot};
use std::ffi::OsString;
use std::io::Write;
use std::process::{Child, ExitCode};

/// Profile or check a kernel again after every save.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// A kernel's name, as `cargo xtask list` shows it
    kernel: String,

    /// What to do with it
    #[arg(long, value_enum, default_value_t)]
    with: Look,

    /// End after this many runs; otherwise Ctrl-C ends it
    #[arg(long, value_name = "N")]
    runs: Option<u32>,

    /// Further arguments for that command
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// A command on one kernel.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Look {
    /// Its memory work, line by line
    #[default]
    Profile,
    /// A check of its results, and its counts
    RunAll,
    /// Races, unwritten reads and similar defects
    Sanitize,
}

/// Folders whose sources and manifests are watched.
const FOLDERS: [&str; 5] = ["gpu-kernels", "crates", "simulator", "host", "cli"];

/// Runs, waits for a change, and runs again.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let arguments = options.arguments();
    let mut n_runs = 0;
    loop {
        let seen = Snapshot::of(workspace::root(), FOLDERS.map(Into::into).into());
        let ended = watch_once(&arguments, &seen)?;
        n_runs += 1;
        // No change of the sources fixes a wrong command line.
        let is_wrong = n_runs == 1 && ended == Some(USAGE);
        if is_wrong || options.runs.is_some_and(|limit| n_runs >= limit) {
            return Ok(ended.map_or(ExitCode::FAILURE, ExitCode::from));
        }
        say(&format!(
            "waiting for a change in {} (Ctrl-C ends it)",
            FOLDERS.join(", ")
        ));
        let changed = seen.wait_for_change();
        say(&format!("{} changed", changed.display()));
    }
}

impl Options {
    /// The command line for `lockstep`.
    fn arguments(&self) -> Vec<OsString> {
        let words: &[&str] = match self.with {
            Look::Profile => &["profile"],
            Look::RunAll => &["run-all", "--filter"],
            Look::Sanitize => &["sanitize", "--with", "sim"],
        };
        let mut arguments: Vec<OsString> = words.iter().map(Into::into).collect();
        arguments.push(self.kernel.clone().into());
        arguments.extend(self.arguments.iter().cloned());
        arguments
    }
}

/// Builds and runs; a change of the sources ends it early. A compile error has been reported when
/// this returns, and is not a reason to stop watching. Returns the exit status, if the program ran
/// to its end.
fn watch_once(arguments: &[OsString], seen: &Snapshot) -> anyhow::Result<Option<u8>> {
    let program = match build::lockstep(arguments) {
        Ok(program) => program,
        Err(error) => {
            say(&format!("{error:#}"));
            return Ok(None);
        }
    };
    let mut command = hand_over::command(&program);
    command.args(arguments);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    wait(&mut child, seen)
}

/// The exit status; none if a signal or a change of the sources ended it.
fn wait(child: &mut Child, seen: &Snapshot) -> anyhow::Result<Option<u8>> {
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the program")? {
            return Ok(status.code().and_then(|code| u8::try_from(code).ok()));
        }
        if seen.changed().is_some() {
            // It may have ended on its own meanwhile; either way it is gone.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(INTERVAL);
    }
}

fn say(text: &str) {
    let style = anstyle::Style::new().dimmed();
    let _ = writeln!(anstream::stderr(), "{style}── {text}{style:#}");
}

#[cfg(test)]
mod tests {
    use super::{Look, Options};

    #[test]
    fn the_look_decides_the_command() {
        let arguments = |with| {
            let options = Options {
                kernel: "copy".into(),
                with,
                runs: None,
                arguments: vec!["--quick".into()],
            };
            options.arguments().join(std::ffi::OsStr::new(" "))
        };
        assert_eq!(arguments(Look::Profile), "profile copy --quick");
        assert_eq!(arguments(Look::RunAll), "run-all --filter copy --quick");
        assert_eq!(
            arguments(Look::Sanitize),
            "sanitize --with sim copy --quick"
        );
    }
}
