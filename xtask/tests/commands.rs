//! `cargo xtask`'s own commands as a user meets them, in a repository of stand-ins: cargo, the
//! compiler and `lockstep` are scripts that log their calls. Nothing is compiled.
#![cfg(unix)]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// Held while programs are written or started: one that is written while another test starts a
/// program is open in that test's child for a moment, and cannot be run.
static PROGRAMS: Mutex<()> = Mutex::new(());

/// A repository, and stand-ins for programs that take minutes.
struct Machine(TempDir);

/// Logs each call; provides `lockstep` when that is built, the simulator for pages, and pages.
const CARGO: &str = r#"
case "$*" in
    *--bin=lockstep*)
        echo '{"reason":"compiler-artifact","target":{"name":"lockstep"},"filenames":[],"executable":"ROOT/lockstep"}' ;;
    *--package=live*)
        mkdir -p ROOT/target/live/wasm32-unknown-unknown/live
        touch ROOT/target/live/wasm32-unknown-unknown/live/live.wasm ;;
    *book/builder*)
        mkdir -p ROOT/target/book-builder/debug ROOT/target/book
        touch ROOT/target/book-builder/debug/book-builder ;;
    *) exit 9 ;;
esac
"#;

/// Fails for a kernel that does not exist.
const LOCKSTEP: &str = r#"
case "$*" in *nosuch*) echo "no lesson or kernel matches" >&2; exit 2 ;; esac
"#;

const RUSTC: &str = r#"
case $1 in -vV) echo 'release: 1.97.1' ;; *) echo ROOT/sysroot ;; esac
"#;

impl Machine {
    fn new() -> Self {
        let _alone = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = Self(tempfile::tempdir().expect("there is room"));
        machine.write("gpu-kernels/Cargo.toml", "");
        machine.write("book/builder/Cargo.toml", "");
        machine.write("sysroot/lib/rustlib/src/rust/library/core/src/lib.rs", "");
        // The wasm linker, which is only looked for.
        machine.write("sysroot/lib/rustlib/here/bin/rust-lld", "");
        for (name, text) in [
            ("cargo", CARGO),
            ("lockstep", LOCKSTEP),
            ("rustc", RUSTC),
            ("xdg-open", ""),
            ("open", ""),
        ] {
            machine.program(name, text);
        }
        // In a folder of its own: a `lockstep` next to the original would be another one.
        let bin = machine.path("bin/xtask");
        fs::create_dir(machine.path("bin")).expect("there is room");
        let own = env!("CARGO_BIN_EXE_xtask");
        if fs::hard_link(own, &bin).is_err() {
            fs::copy(own, &bin).expect("there is room");
        }
        // Not the first run, so no kernels are compiled ahead.
        machine.write("bin/lockstep", "");
        machine
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("there is room");
        fs::write(path, text).expect("there is room");
    }

    /// A script that logs how it is called.
    fn program(&self, name: &str, text: &str) {
        let root = self.0.path().to_str().expect("UTF-8");
        let text = format!("#!/bin/sh\necho {name} \"$@\" >> ROOT/log\n{text}");
        self.write(name, &text.replace("ROOT", root));
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), executable).expect("it is there");
    }

    fn xtask(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/xtask"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.0.path().to_path_buf()].into_iter();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path)));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("PATH", path.expect("folders"))
            .env("CARGO", self.path("cargo"))
            .env("RUSTC", self.path("rustc"))
            .env("LOCKSTEP_RUSTC", self.path("rustc"))
            .env("LOCKSTEP_CACHE", self.path("cache"))
            .env("CARGO_MANIFEST_DIR", self.path("xtask"))
            .env_remove("CARGO_TARGET_DIR");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        output(self.xtask(arguments).stdout(Stdio::piped()))
    }

    /// The calls of programs other than the compiler, each reduced to its words among `words`.
    fn calls(&self, words: &[&str]) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        let calls = log.lines().filter(|line| !line.starts_with("rustc"));
        calls
            .map(|call| {
                let named = words.iter().filter(|word| call.contains(**word)).copied();
                named.collect::<Vec<_>>().join(" ")
            })
            .collect()
    }
}

fn output(command: &mut Command) -> Output {
    let alone = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.stderr(Stdio::piped()).spawn().expect("xtask runs");
    drop(alone);
    child.wait_with_output().expect("it ends")
}

/// Checks that it ended with this status and said this.
fn fails(output: &Output, status: i32, words: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{told}");
    assert!(told.contains(words), "`{words}` is missing in: {told}");
    assert!(!told.contains("panicked"), "{told}");
}

#[test]
fn wrong_commands_end_with_two_before_anything_is_built() {
    let machine = Machine::new();
    let outside = tempfile::tempdir().expect("there is room");
    let of_outside = |path: &str| outside.path().join(path).display().to_string();
    fs::write(of_outside("a file"), "").expect("there is room");
    machine.write("other/thesis.tex", "");
    let below = of_outside("a file/below");
    let below = below.as_str();
    let keyword = of_outside("fn");
    for (arguments, words) in [
        (&["new", "bad name"][..], "`bad name` is not a package name"),
        (&["new", &keyword], "`fn` is a keyword of Rust"),
        (&["new", "./mine"], "inside this repository"),
        (&["new", below], "is not a folder"),
        (&["bundle", below], "a file"),
        (&["bundle", "other"], "holds other files"),
        (&["sim-driver", below], "is not a folder"),
        (&["book", below], "is not a folder"),
    ] {
        fails(&machine.run(arguments), 2, words);
        assert!(machine.calls(&[]).is_empty(), "{arguments:?}");
    }
    // Nothing was made next to the file.
    assert_eq!(outside.path().read_dir().expect("it is there").count(), 1);
}

#[test]
fn arguments_are_handed_over_as_they_were_typed() {
    let machine = Machine::new();
    assert!(
        machine
            .run(&["profile", "--", "a", "--", "-b"])
            .status
            .success()
    );
    let log = fs::read_to_string(machine.path("log")).expect("it was written");
    assert!(log.contains("lockstep profile -- a -- -b\n"), "{log}");
}

#[test]
fn every_command_is_documented() {
    let help = String::from_utf8(Machine::new().run(&["--help"]).stdout).expect("it is text");
    let (_, commands) = help.split_once("Commands:\n").expect("it lists them");
    let commands = commands.lines().take_while(|line| !line.is_empty());
    // The names alone; continuation lines begin further right.
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !["", "help"].contains(name)).collect();
    assert!(names.len() > 20, "{help}");
    let tools = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/tools.md");
    let tools = fs::read_to_string(tools).expect("it is there");
    for name in names {
        assert!(tools.contains(&format!("`cargo xtask {name}")), "{name}");
    }
}

#[test]
fn a_watch_of_what_there_is_not_ends() {
    let machine = Machine::new();
    // As if a source were saved later: a watch that goes on would end with its second run.
    let kernels = machine.path("gpu-kernels/Cargo.toml");
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(5));
        let _ = fs::write(kernels, "changed");
    });
    let watched = machine.run(&["watch", "nosuch", "--runs", "2"]);
    fails(&watched, 2, "no lesson or kernel matches");
    let told = String::from_utf8_lossy(&watched.stderr);
    assert!(!told.contains("waiting for a change"), "{told}");
}

#[test]
fn what_cannot_be_printed_is_told() {
    let machine = Machine::new();
    let new = tempfile::tempdir().expect("there is room");
    let new = new.path().join("mine").display().to_string();
    // The template is this repository's.
    for arguments in [&["doctor"][..], &["doctor", "--json"], &["new", &new]] {
        let full = File::options().write(true).open("/dev/full");
        let mut command = machine.xtask(arguments);
        command
            .env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"))
            .stdout(full.expect("it can be opened"));
        fails(&output(&mut command), 1, "the results could not be printed");
    }
    assert!(Path::new(&new).join("Cargo.toml").is_file());
}

#[test]
fn the_first_book_is_open_before_its_live_parts_are_compiled() {
    let machine = Machine::new();
    let words = [
        "open",
        "live",
        "--simulator",
        "book-chapters",
        "builder",
        "--quiet",
    ];
    let book = machine.run(&["book", "--open"]);
    let told = String::from_utf8_lossy(&book.stderr).into_owned();
    assert!(book.status.success(), "{told}");
    for part in [
        "the first time this takes minutes",
        "building mdBook",
        "reload",
    ] {
        assert!(told.contains(part), "`{part}` is missing in: {told}");
    }
    let calls = machine.calls(&words);
    let wanted = [
        "",
        "book-chapters",
        // With cargo's messages.
        "book-chapters builder",
        "open",
        "live",
        "",
        "--simulator book-chapters",
        "live book-chapters builder --quiet",
    ];
    assert_eq!(calls, wanted, "{told}");
    // The second time everything is there.
    fs::remove_file(machine.path("log")).expect("it was written");
    let book = machine.run(&["book", "--open"]);
    let told = String::from_utf8_lossy(&book.stderr).into_owned();
    assert!(!told.contains("minutes"), "{told}");
    assert_eq!(machine.calls(&["open"]).concat(), "open");
}
