//! The command line as a user meets it; nothing is built.
#![cfg(unix)]

use std::process::Command;

#[test]
fn wrong_commands_end_with_two_before_anything_is_built() {
    let outside = tempfile::tempdir().unwrap();
    let of_outside = |path: &str| outside.path().join(path).display().to_string();
    let (not_a_program, report) = (of_outside("a file"), of_outside("none/x.html"));
    std::fs::write(&not_a_program, "").unwrap();
    for (arguments, words) in [
        (&["--", "/nofile"][..], "there is no such program"),
        (&["--", "no-such-one"], "no such program on the PATH"),
        (&["--", &not_a_program], "there is no such program"),
        (
            &["--report", &report, "--", "true"],
            "there is no such folder",
        ),
        (&["--report", "x.txt", "--", "true"], "must end in .html"),
        (&["--devices", "9", "--", "true"], "9 is not in 0..=8"),
        (
            &["--schedules=2", "--schedule-launches=few", "--", "true"],
            "a number from 1 on, or `all`",
        ),
        (&["--schedule", "foo", "--", "true"], "begins with a seed"),
        (
            &["--debug-script", "/nofile", "--", "true"],
            "there is no file /nofile",
        ),
        (&[], "Usage: cargo xtask sim-run"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sim-run"));
        let output = command
            .args(arguments)
            .env("LOCKSTEP_XTASK", "/no/such/program")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(words), "`{words}` is missing in: {told}");
    }
}
