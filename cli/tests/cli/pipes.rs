//! A verdict does not depend on whether anyone reads the results.

use super::support::{command, fails, lockstep, no_panic_trace, stderr};
use std::process::{Output, Stdio};

/// Runs the program with a reader who has gone away.
fn unread(words: &str) -> Output {
    let mut child = command(words)
        .env("LOCKSTEP_LIBCUDA", "/nowhere/libcuda.so.1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for words in ["list", "ptx transpose_vectorized"] {
        let output = unread(words);
        no_panic_trace(&output);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(output.stderr.is_empty(), "{}", stderr(&output));
    }
}

#[test]
fn a_failure_is_not_lost_in_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = folder.path().join("cases.csv");
    // Lanes side by side, and twice the wavefronts that this takes.
    let offsets: Vec<String> = (0..32).map(|lane| (4 * lane).to_string()).collect();
    let text = format!(
        "{}\nld.shared.u32,4,ffffffff,{},2,1,,\n",
        cli::accesses::file::COLUMNS.join(","),
        offsets.join(" ")
    );
    std::fs::write(&cases, text).expect("a file");
    let checked = format!("check-counters {}", cases.display());
    for (words, status) in [
        (&*checked, 1),
        (
            "run-all --fuel 9 --engine sim --quick --filter transpose_padded",
            1,
        ),
        ("profile transpose_padded --shape 64x64 --measure", 3),
    ] {
        let output = unread(words);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        no_panic_trace(&output);
        // The same as with a reader.
        let read = lockstep(words);
        assert!(!read.stdout.is_empty());
        fails(&read, status, &[]);
    }
}
