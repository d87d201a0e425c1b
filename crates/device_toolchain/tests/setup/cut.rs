//! Runs that are killed at every possible moment. The next run must succeed.

use crate::machine::Machine;
use crate::process::wait_until;
use std::fs;

/// Counts the moments, and does `what` at the one numbered `number`.
fn at_moment(number: u32, what: &str) -> String {
    format!(
        r#"moment() {{
    read -r n < "$root/moments"; n=$((n + 1)); echo $n > "$root/moments"
    if [ $n = {number} ]; then {what}; fi
}}"#
    )
}

/// The same as Ctrl-C, but without a chance to clean up: no process is left.
const KILL_ALL: &str = "kill -9 0";

/// Only our process dies; the program that it started goes on. Ours leads the
/// process group, which is the fifth word.
const KILL_OURS: &str = "(read -r _ _ _ _ group _ < /proc/self/stat; kill -9 $group); sleep 0.02";

/// Kills a run at each moment, and lets `and_then` check the next one.
fn at_every_moment(kill: &str, and_then: impl Fn(&Machine, &str)) {
    let machine = Machine::new();
    for number in 1.. {
        machine.hooks(&at_moment(number, kill));
        fs::write(machine.root().join("moments"), "0\n").unwrap();
        let ended = machine.run();
        if !ended.was_killed() {
            assert!(ended.status.success(), "{}", ended.said);
            machine.assert_ready("not killed");
            assert!(number > 20, "{number}");
            return;
        }
        machine.hooks("");
        let ended = machine.run();
        let when = format!("killed at moment {number}:\n{}", ended.said);
        assert!(ended.status.success(), "{when}");
        and_then(&machine, &when);
        // Not removed: programs that go on may still be writing there.
        let used = machine.root().join(format!("used-{number}"));
        fs::rename(machine.cache(), used).unwrap();
    }
}

#[test]
fn with_all_its_programs_at_every_moment() {
    at_every_moment(KILL_ALL, |machine, when| machine.assert_ready(when));
}

#[test]
fn alone_at_every_moment() {
    at_every_moment(KILL_OURS, |machine, when| {
        assert!(machine.locator.locate().unwrap().is_some(), "{when}");
    });
}

#[test]
fn while_the_source_hangs_and_another_run_waits_which_then_takes_over() {
    let machine = Machine::new();
    machine.hooks(
        "arrived() { touch \"$root/hangs\"; while [ -e \"$root/hangs\" ]; do sleep 0.01; done; }",
    );
    let first = machine.start();
    wait_until("the source hangs", || machine.root().join("hangs").exists());
    let second = machine.start();
    second.wait_for("another build is fetching the kernels' compiler; waiting for it");
    machine.hooks("");
    assert!(first.kill().was_killed());
    // The program that the first one started wakes up while its folder is removed.
    fs::remove_file(machine.root().join("hangs")).unwrap();
    let ended = second.end();
    assert!(ended.status.success(), "{}", ended.said);
    let told = "the other build ended without it";
    assert!(ended.said.contains(told), "{}", ended.said);
    assert!(machine.locator.locate().unwrap().is_some());
}

/// A run that was killed when only the tidying was left.
#[test]
fn what_is_left_beside_a_compiler_is_removed_when_it_is_used() {
    let machine = Machine::new();
    machine.ensure().unwrap();
    machine.forget_log();
    let left = machine.cache().join("unfinished-1");
    fs::create_dir_all(left.join("apt-0-sid")).unwrap();
    let lock = fs::File::open(machine.cache().join("lock")).unwrap();
    lock.lock().unwrap();
    machine.ensure().unwrap();
    assert!(left.exists(), "not while somebody fetches");
    lock.unlock().unwrap();
    machine.ensure().unwrap();
    machine.assert_ready("used");
    assert_eq!(machine.log(), "");
}
