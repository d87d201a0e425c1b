//! Two runs at once on one empty cache.

use crate::machine::Machine;
use crate::process::wait_until;
use std::fs;

/// Both in separate processes; the second starts while the first fetches.
#[test]
fn one_fetches_and_the_other_takes_the_result() {
    let machine = Machine::new();
    machine.hooks("arrived() { while [ ! -e \"$root/go\" ]; do sleep 0.01; done; }");
    let first = machine.start();
    wait_until("a package arrives", || machine.log().contains("download"));
    let second = machine.start();
    second.wait_for("waiting for it");
    fs::write(machine.root().join("go"), "").unwrap();

    let first = first.end();
    assert!(first.status.success(), "{}", first.said);
    assert!(
        first.said.contains("fetching rustc 1.97.1: 3 packages"),
        "{}",
        first.said
    );
    let second = second.end();
    assert!(second.status.success(), "{}", second.said);
    assert_eq!(
        second.said,
        "lockstep: another build is fetching the kernels' compiler; waiting for it\n"
    );
    assert_eq!(
        machine.log().matches("download rustc").count(),
        1,
        "{}",
        machine.log()
    );
    machine.assert_ready("both ended");
}

/// Eight start at the same moment: the first one fetches, once.
#[test]
fn many_start_at_the_same_moment() {
    let machine = Machine::new();
    let all: Vec<_> = (0..8).map(|_| machine.start()).collect();
    for ended in all.into_iter().map(|fetching| fetching.end()) {
        assert!(ended.status.success(), "{}", ended.said);
    }
    assert_eq!(
        machine.log().matches("download rustc").count(),
        1,
        "{}",
        machine.log()
    );
    machine.assert_ready("all ended");
}

/// A lock is held by a process, not by a file.
#[test]
fn a_lock_file_that_was_left_means_nothing() {
    let machine = Machine::new();
    fs::create_dir_all(machine.cache()).unwrap();
    fs::write(machine.cache().join("lock"), "4711\n").unwrap();
    let (said, made) = machine.ensure_aloud();
    made.unwrap();
    assert!(
        !said.iter().any(|line| line.contains("waiting")),
        "{said:?}"
    );
    machine.assert_ready("a lock file was left");
}
