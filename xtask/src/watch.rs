//! `cargo xtask watch KERNEL`: the same look at a kernel again, after every save.
//!
//! Sources are looked at a few times per second, by their times and sizes: that works
//! for every editor and file system, and for a few hundred files costs nothing that
//! could be measured.

use crate::{build, hand_over, workspace};
use anyhow::Context;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode};
use std::time::{Duration, SystemTime};

/// Look at a kernel again after every save.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// A kernel's name, as `cargo xtask list` shows it
    kernel: String,

    /// What to do with it
    #[arg(long, value_enum, default_value_t)]
    with: Look,

    /// End after so many runs; else Ctrl-C ends it
    #[arg(long, value_name = "N")]
    runs: Option<u32>,

    /// Further arguments for that command
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// A command that looks at one kernel.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Look {
    /// Where its memory work is done, line by line
    #[default]
    Profile,
    /// Whether its results are right, and its counts
    RunAll,
    /// Races, unwritten reads and the like
    Sanitize,
}

/// How often the sources are looked at.
const INTERVAL: Duration = Duration::from_millis(150);

/// Folders whose sources and manifests count.
const FOLDERS: [&str; 3] = ["gpu-kernels", "crates", "host"];

/// Runs, waits for a change, and runs again.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let arguments = options.arguments();
    let mut n_runs = 0;
    loop {
        let seen = Snapshot::of(workspace::root());
        let ended = watch_once(&arguments, &seen)?;
        n_runs += 1;
        if options.runs.is_some_and(|limit| n_runs >= limit) {
            return Ok(ended);
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

/// Builds and runs; a change of the sources ends it early. What does not compile has
/// been told when this returns, and is no reason to stop watching.
fn watch_once(arguments: &[OsString], seen: &Snapshot) -> anyhow::Result<ExitCode> {
    let program = match build::lockstep() {
        Ok(program) => program,
        Err(error) => {
            say(&format!("{error:#}"));
            return Ok(ExitCode::FAILURE);
        }
    };
    let mut command = hand_over::command(&program);
    command.args(arguments);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let code = wait(&mut child, seen)?;
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The exit status; none if a signal or a change of the sources ended it.
fn wait(child: &mut Child, seen: &Snapshot) -> anyhow::Result<Option<u8>> {
    loop {
        if let Some(status) = child.try_wait().context("the program was lost")? {
            return Ok(status.code().and_then(|code| u8::try_from(code).ok()));
        }
        if seen.changed().is_some() {
            // It may have ended by itself meanwhile; either way it is gone.
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

/// The sources of a checkout, as they were.
struct Snapshot {
    root: PathBuf,
    files: States,
}

/// By path from the root: the time of the last change, and the size.
type States = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

impl Snapshot {
    fn of(root: PathBuf) -> Self {
        let mut files = States::new();
        for folder in FOLDERS {
            add_sources(&root.join(folder), &root, &mut files);
        }
        Self { root, files }
    }

    /// The first file that is not as it was.
    fn changed(&self) -> Option<PathBuf> {
        let now = Self::of(self.root.clone()).files;
        let is_other = |file: &&PathBuf| self.files.get(*file) != now.get(*file);
        self.files.keys().chain(now.keys()).find(is_other).cloned()
    }

    /// Waits until a file changes, and until it has stopped changing: editors write in
    /// several steps.
    fn wait_for_change(&self) -> PathBuf {
        loop {
            std::thread::sleep(INTERVAL);
            if let Some(file) = self.changed() {
                std::thread::sleep(INTERVAL / 3);
                return file;
            }
        }
    }
}

/// The sources and manifests below `dir`, by their paths from `root`.
fn add_sources(dir: &Path, root: &Path, files: &mut BTreeMap<PathBuf, Option<(SystemTime, u64)>>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != "target" {
                add_sources(&path, root, files);
            }
            continue;
        }
        if path.extension().is_some_and(|e| e == "rs" || e == "toml") {
            let state = entry
                .metadata()
                .ok()
                .and_then(|data| Some((data.modified().ok()?, data.len())));
            files.insert(path.strip_prefix(root).unwrap_or(&path).into(), state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Look, Options, Snapshot};
    use std::fs;

    #[test]
    fn a_changed_a_new_and_a_removed_source_are_seen_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_path_buf();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("gpu-kernels/src/lib.rs", "one");
        write("crates/std/target/debug/lib.rs", "one");
        let seen = Snapshot::of(root.clone());
        assert_eq!(seen.changed(), None);
        write("crates/std/target/debug/lib.rs", "another");
        write("gpu-kernels/notes.txt", "not a source");
        write("elsewhere/lib.rs", "not watched");
        assert_eq!(seen.changed(), None);

        write("gpu-kernels/src/lib.rs", "another");
        let changed = seen.changed().unwrap();
        assert_eq!(changed, std::path::Path::new("gpu-kernels/src/lib.rs"));
        let seen = Snapshot::of(root.clone());
        write("host/src/new.rs", "");
        assert!(seen.changed().is_some());
        let seen = Snapshot::of(root.clone());
        fs::remove_file(root.join("host/src/new.rs")).unwrap();
        assert!(seen.changed().is_some());
    }

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
