//! Setting up in a separate process, which can be killed.
//!
//! The process is this test program again, asked to run only one test.

use crate::machine::{Machine, locator};
use device_toolchain::{Lines, Locator};
use std::os::unix::fs::chown;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

/// A process that sets up `machine`.
pub struct Fetching<'a> {
    machine: &'a Machine,
    child: Child,
    stderr: PathBuf,
}

/// The end of a process, and its output.
pub struct Ended {
    pub status: ExitStatus,
    pub said: String,
}

impl Ended {
    /// Whether it, or all of its group, was killed.
    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }
}

/// This program, set to run only the test `name`.
pub fn this_program(name: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]);
    command
}

impl Machine {
    /// Starts a process that sets up this machine.
    pub fn start(&self) -> Fetching<'_> {
        self.start_by(this_program(FETCH))
    }

    /// Starts it with `command`, which ends in [`this_program`].
    pub fn start_by(&self, mut command: Command) -> Fetching<'_> {
        let n_before = fs::read_dir(self.root()).unwrap().count();
        let stderr = self.root().join(format!("stderr-{n_before}"));
        let child = command
            .env("SETUP_ROOT", self.root())
            .env("SETUP_CACHE", self.cache())
            .env("PATH", &self.locator.path)
            .stdout(process::Stdio::null())
            .stderr(fs::File::create(&stderr).unwrap())
            .process_group(0)
            .spawn()
            .unwrap();
        Fetching {
            machine: self,
            child,
            stderr,
        }
    }

    /// Sets up this machine in a separate process.
    pub fn run(&self) -> Ended {
        self.start().end()
    }

    /// Like [`Machine::run`], by a user without rights to other users' files. Root
    /// may write everywhere, so another user must run it.
    pub fn run_unprivileged(&self) -> Ended {
        const NOBODY: u32 = 65534;
        let program = self.install(&env::current_exe().unwrap(), "program");
        let mut command = Command::new(&program);
        command.args(["--exact", FETCH, "--ignored", "--nocapture"]);
        if is_root() {
            chown_all(self.root(), NOBODY);
            command.uid(NOBODY).gid(NOBODY);
        }
        self.start_by(command).end()
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn chown_all(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            chown_all(&entry.path(), user);
        }
    }
}

impl Fetching<'_> {
    /// Its output so far.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }

    /// Waits until its output contains `words`.
    pub fn wait_for(&self, words: &str) {
        wait_until(words, || self.said().contains(words));
    }

    /// Kills it, but none of the programs that it started.
    pub fn kill(mut self) -> Ended {
        self.child.kill().unwrap();
        self.end()
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        let status = self.child.wait().unwrap();
        let said = self.said();
        let _ = fs::remove_file(&self.stderr);
        assert!(self.machine.root().exists());
        Ended { status, said }
    }
}

/// Waits for something that another process does.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(30), "never: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

const FETCH: &str = "process::sets_up_the_machine_that_the_environment_names";

/// The test that [`Machine::start`] runs; on its own it does nothing.
#[test]
#[ignore = "it is what other tests start"]
fn sets_up_the_machine_that_the_environment_names() {
    let Some(root) = env::var_os("SETUP_ROOT") else {
        return;
    };
    let cache = PathBuf::from(env::var_os("SETUP_CACHE").unwrap());
    leave(locator(Path::new(&root), &cache).ensure(&Lines::new(std::io::stderr())));
}

/// Asks for a locator as a user would; on its own it does nothing.
#[test]
#[ignore = "it is what other tests start"]
fn asks_the_environment() {
    if env::var_os("SETUP_ASKS").is_none() {
        return;
    }
    leave(Locator::from_env().and_then(|locator| {
        eprintln!("cache: {}", locator.cache_dir.display());
        locator.locate()
    }));
}

fn leave<T, E: std::fmt::Display>(result: Result<T, E>) -> ! {
    match result {
        Ok(_) => process::exit(0),
        Err(error) => {
            eprintln!("error: {error}");
            process::exit(1)
        }
    }
}
