//! The tests of a program once more, with every instruction executed lane by lane.

use std::process::Command;

/// Runs the tests of this program whose names begin with these, and holds them to the same
/// results, counts and reports.
///
/// # Panics
///
/// One fails, or there is none.
pub fn pass(names: &[&str]) {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.env("LOCKSTEP_SIM_PLAIN", "1").args(names);
    let output = command.output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "plainly, something is different:\n{told}"
    );
    let passed = told.matches("... ok").count();
    assert!(passed >= names.len(), "{names:?} name tests:\n{told}");
}
