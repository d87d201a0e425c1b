//! The command line as a user meets it; nothing is fetched or run.
#![cfg(unix)]

use std::fs::File;
use std::process::{Command, Output, Stdio};

/// Runs it where no driver can be built.
fn clients(arguments: &[&str], stdout: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clients"));
    command
        .args(arguments)
        .stdout(stdout)
        .stderr(Stdio::piped());
    command.env("LOCKSTEP_XTASK", "/no/such/program");
    command.spawn().unwrap().wait_with_output().unwrap()
}

fn fails(arguments: &[&str], stdout: Stdio, status: i32, words: &str) {
    let output = clients(arguments, stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{told}");
    assert!(told.contains(words), "`{words}` is missing in: {told}");
}

#[test]
fn wrong_commands_end_with_two_before_anything_is_built() {
    for (arguments, words) in [
        (&["nosuch"][..], "error: there is no client `nosuch`"),
        (
            &["--source", "/x"],
            "error: --source is a checkout of one client",
        ),
        (&["--files", "a*"], "error: --files are files of one client"),
    ] {
        fails(arguments, Stdio::null(), 2, words);
    }
}

#[test]
fn a_list_that_cannot_be_printed_is_told() {
    let listed = clients(&["--list"], Stdio::piped());
    assert!(listed.status.success());
    assert!(String::from_utf8_lossy(&listed.stdout).contains("tinygrad"));
    let full = File::options().write(true).open("/dev/full").unwrap();
    fails(
        &["--list"],
        full.into(),
        1,
        "the results could not be printed",
    );
}
