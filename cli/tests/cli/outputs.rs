//! Output files: tried before the work, whole or untouched after it, and
//! never put in place of something that is not a file.
//!
//! No test names a device outside a temporary folder: links in the folder lead to
//! `/dev/null` and `/dev/full`.

use super::support::{command, fails, has, limited, lockstep, no_panic_trace, passes, stderr};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const RUN: &str = "run-all --engine sim --quick --filter transpose_padded";

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A short run that writes its results there.
fn run_to(path: &Path) -> Output {
    lockstep(format!("{RUN} --json {}", text(path)))
}

fn runs_to(path: &Path) {
    has(&passes(&run_to(path)), &["2 passed"]);
}

fn is_json(text: &str) -> bool {
    let json: Result<serde_json::Value, _> = serde_json::from_str(text);
    json.is_ok_and(|json| json["schema"] == 1)
}

fn holds_results(path: &Path) {
    let text = fs::read_to_string(path).expect("it can be read");
    assert!(is_json(&text), "{text}");
}

/// Names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name_of = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries
        .map(|entry| name_of(entry).into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

// ---------------------------------------------------------------------------
// Devices and links stay what they are
// ---------------------------------------------------------------------------

#[test]
fn a_link_to_a_device_stays_and_so_does_the_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("null");
    symlink("/dev/null", &link).expect("a link");
    runs_to(&link);
    let target = fs::read_link(&link).expect("still a link");
    assert_eq!(target, Path::new("/dev/null"));
    assert_eq!(names(folder.path()), ["null"]);
}

#[test]
fn what_a_link_points_to_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let [link, target] = ["link", "target"].map(|name| folder.path().join(name));
    fs::write(&target, "old").expect("a file");
    symlink("target", &link).expect("a link");
    runs_to(&link);
    assert!(fs::symlink_metadata(&link).expect("it").is_symlink());
    holds_results(&target);
}

#[test]
fn an_existing_file_keeps_its_rights() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "old").expect("a file");
    fs::set_permissions(&file, Permissions::from_mode(0o604)).expect("ours");
    runs_to(&file);
    holds_results(&file);
    let mode = fs::metadata(&file).expect("it").permissions().mode();
    assert_eq!(mode & 0o777, 0o604, "{mode:o}");
    assert_eq!(names(folder.path()), ["file"]);
}

/// The program run by an unprivileged user: root changes to nobody, with a
/// copy of the program that nobody can reach.
fn as_nobody(words: &str, folder: &Path) -> Command {
    let is_root = fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0);
    if !is_root {
        return command(words);
    }
    let program = folder.join("lockstep");
    fs::copy(env!("CARGO_BIN_EXE_lockstep"), &program).expect("a copy");
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("ours");
    let mut command = Command::new(program);
    command.args(words.split_whitespace()).uid(65534).gid(65534);
    command
}

#[test]
fn without_permission_nothing_is_written() {
    let programs = tempfile::tempdir().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let [file, new] = ["file", "new"].map(|name| folder.path().join(name));
    fs::write(&file, "old").expect("a file");
    fs::set_permissions(&file, Permissions::from_mode(0o444)).expect("ours");
    let refused = |path: &Path, words: &[&str]| {
        let run = format!("{RUN} --json {}", text(path));
        let output = as_nobody(&run, programs.path()).output();
        fails(&output.expect("the program runs"), 2, words);
    };
    refused(&file, &["file cannot be written", "ermission"]);
    assert_eq!(fs::read_to_string(&file).expect("it"), "old");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).expect("ours");
    refused(&new, &["new cannot be written: nothing can be created in"]);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("ours");
    assert_eq!(names(folder.path()), ["file"]);
}

// ---------------------------------------------------------------------------
// Standard output
// ---------------------------------------------------------------------------

#[test]
fn standard_output_holds_the_file_alone() {
    for path in ["-", "/dev/stdout"] {
        let output = run_to(Path::new(path));
        let json = passes(&output);
        assert!(is_json(&json), "{json}");
        has(&stderr(&output), &["2 passed"]);
    }
}

#[test]
fn two_outputs_do_not_fall_into_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
    fs::write(&file, "old").expect("a file");
    symlink("file", &link).expect("a link");
    for (json, html) in [("-", "-"), (text(&file), text(&link))] {
        let files = format!("--json {json} --html {html}");
        let output = lockstep(format!("profile transpose_padded --shape 64x64 {files}"));
        fails(&output, 2, &["--json and --html name the same file"]);
    }
}

// ---------------------------------------------------------------------------
// Before the work
// ---------------------------------------------------------------------------

#[test]
fn every_command_tries_its_files_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("input");
    fs::write(&input, "0 0\n").expect("a file");
    let (input, nowhere) = (text(&input), folder.path().join("none/file"));
    let nowhere = text(&nowhere);
    for words in [
        "run-all --engine sim --json",
        "profile transpose_padded --json",
        "profile transpose_padded --html",
        &format!("neighbors {input} --svg"),
        "counters --ncu none --sim none --json",
        "sim-bench --json",
        "check-counters --fresh 1 --engine sim --write",
        "bench --json",
        "bench --markdown",
    ] {
        let output = lockstep(format!("{words} {nowhere}"));
        fails(&output, 2, &["cannot be written: there is no folder"]);
        assert!(output.stdout.is_empty(), "{words}");
        assert!(!stderr(&output).contains("engine"), "{words}");
    }
    fails(&run_to(folder.path()), 2, &["it is a folder"]);
    let new = folder.path().join("new/");
    fails(&run_to(&new), 2, &["that names a folder"]);
}

// ---------------------------------------------------------------------------
// After the work
// ---------------------------------------------------------------------------

/// The results are printed, and exactly one error follows them.
fn is_printed_all_the_same(output: &Output, words: &str) {
    assert_eq!(output.status.code(), Some(1), "{}", stderr(output));
    assert!(!output.stdout.is_empty(), "{}", stderr(output));
    let told = stderr(output);
    let last = told.lines().last().expect("an error");
    let is_it = last.starts_with("error: ") && last.contains(words);
    assert!(is_it, "{told}");
    no_panic_trace(output);
}

#[test]
fn a_full_disk_takes_no_results_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = folder.path().join("full");
    symlink("/dev/full", &full).expect("a link");
    let input = folder.path().join("input");
    fs::write(&input, "0 0\n").expect("a file");
    let (full, input) = (text(&full), text(&input));
    for words in [
        &format!("{RUN} --json"),
        "profile transpose_padded --shape 64x64 --json",
        "profile transpose_padded --shape 64x64 --html",
        &format!("neighbors {input} --engine sim --svg"),
        "check-counters --fresh 1 --each 1 --engine sim --write",
        "sim-bench --filter transpose_padded --patience 0 --json",
    ] {
        let output = lockstep(format!("{words} {full}"));
        is_printed_all_the_same(&output, "No space left on device");
    }
    assert!(fs::symlink_metadata(full).expect("it").is_symlink());
}

#[test]
fn an_existing_file_survives_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "old").expect("a file");
    // A shell's limit on file sizes, in place of a full disk.
    let words = format!("{RUN} --json {}", text(&file));
    let output = limited(r#"trap "" XFSZ; ulimit -f 1"#, &words);
    is_printed_all_the_same(&output, "File too large");
    assert_eq!(fs::read_to_string(&file).expect("it"), "old");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn an_existing_file_survives_an_interruption() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "old").expect("a file");
    let mut child = command(format!("run-all --engine sim --json {}", text(&file)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    std::thread::sleep(Duration::from_secs(1));
    child.kill().expect("it still runs");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), None, "it was at work");
    assert_eq!(fs::read_to_string(&file).expect("it"), "old");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn results_that_cannot_be_printed_are_an_error() {
    let full = || File::options().write(true).open("/dev/full").expect("it");
    for words in ["list", RUN] {
        let output = command(words).stdout(full()).output();
        let output = output.expect("the program runs");
        fails(&output, 1, &["the results could not be printed: No space"]);
    }
}

/// `readme` writes the files that it reads.
#[test]
fn documents_are_replaced_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = PathBuf::from("..");
    let text_of = |path: &str| fs::read_to_string(root.join(path)).expect("it");
    let tables = text_of("docs/results.md");
    let stale = tables.replace("### Copy", "### Stale");
    assert_ne!(tables, stale);
    fs::create_dir(folder.path().join("docs")).expect("a folder");
    for other in ["docs/tools.md", "docs/devices.md"] {
        fs::write(folder.path().join(other), text_of(other)).expect("a file");
    }
    let real = folder.path().join("docs/real");
    fs::write(&real, &stale).expect("a file");
    let written = folder.path().join("docs/results.md");
    symlink("real", &written).expect("a link");
    let results = root.join("bench/results/h200/bench.json");
    let root = text(folder.path());
    passes(&lockstep(format!(
        "readme --root {root} --results {}",
        text(&results)
    )));
    assert!(fs::symlink_metadata(&written).expect("it").is_symlink());
    assert_eq!(fs::read_to_string(&real).expect("it"), tables);
}
