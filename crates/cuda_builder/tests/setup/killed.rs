//! A run that is killed, at every moment there is. The next one must succeed.

use crate::machine::Machine;
use crate::process::wait_until;
use std::fs;
use std::thread;

/// Counts the moments, and does `what` at the one numbered `number`.
fn at_moment(number: u32, what: &str) -> String {
    format!(
        r#"moment() {{
    read -r n < "$root/moments"; n=$((n + 1)); echo $n > "$root/moments"
    if [ $n = {number} ]; then {what}; fi
}}"#
    )
}

/// What Ctrl-C does, but without a chance to clean up: no process is left.
const KILL_ALL: &str = "kill -9 0";

/// Our process dies alone; the program that it started goes on. Ours leads the
/// group of processes, which is the fifth word.
const KILL_OURS: &str = "(read -r _ _ _ _ group _ < /proc/self/stat; kill -9 $group); sleep 0.02";

/// Kills a run at each moment, and lets `and_then` look at the next one.
/// Returns how many moments there are.
fn at_every_moment(kill: &str, and_then: impl Fn(&Machine, &str)) -> u32 {
    let machine = Machine::new();
    for number in 1.. {
        machine.hooks(&at_moment(number, kill));
        fs::write(machine.root().join("moments"), "0\n").unwrap();
        let ended = machine.run();
        if !ended.was_killed() {
            assert!(ended.status.success(), "{}", ended.said);
            machine.assert_ready("not killed");
            return number - 1;
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
    unreachable!()
}

#[test]
fn with_all_its_programs_at_every_moment() {
    let n_moments = at_every_moment(KILL_ALL, |machine, when| {
        machine.assert_ready(when);
        let n_lines = when
            .lines()
            .filter(|line| line.contains("interrupted"))
            .count();
        assert!(n_lines <= 1, "{when}");
    });
    assert!(n_moments > 20, "{n_moments}");
}

#[test]
fn alone_at_every_moment() {
    let n_moments = at_every_moment(KILL_OURS, |machine, when| {
        let found = machine.locator.locate().unwrap();
        assert!(found.is_some(), "{when}");
        machine.locator.verify(&found.unwrap()).expect(when);
    });
    assert!(n_moments > 20, "{n_moments}");
}

#[test]
fn twice_in_a_row() {
    let machine = Machine::new();
    // In the third package's download, then in the unpacking of the second.
    for (verb, number) in [("download", 6), ("unpacking", 8)] {
        machine.hooks(&at_moment(number, KILL_ALL));
        fs::write(machine.root().join("moments"), "0\n").unwrap();
        assert!(machine.run().was_killed(), "{verb}");
    }
    machine.hooks("");
    let ended = machine.run();
    assert!(ended.status.success(), "{}", ended.said);
    machine.assert_ready(&ended.said);
}

#[test]
fn while_the_source_hangs() {
    let machine = Machine::new();
    machine.hooks("arrived() { [ $1 = libc6 ] && touch \"$root/hangs\" && sleep 1000; }");
    let fetching = machine.start();
    wait_until("the source hangs", || machine.root().join("hangs").exists());
    assert!(fetching.kill_all().was_killed());

    machine.hooks("");
    let ended = machine.run();
    assert!(ended.status.success(), "{}", ended.said);
    assert!(
        ended.said.contains(
            "continuing an interrupted fetch of rustc 1.97.1: 1 of 3 packages are here, 1 MB to go"
        ),
        "{}",
        ended.said
    );
    machine.assert_ready(&ended.said);
}

#[test]
fn while_another_run_waits_which_then_takes_over() {
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
    thread::scope(|scope| {
        // The orphan wakes up while its folder is taken over.
        scope.spawn(|| fs::remove_file(machine.root().join("hangs")).unwrap());
        let ended = second.end();
        assert!(ended.status.success(), "{}", ended.said);
        assert!(
            ended.said.contains("the other build ended without it"),
            "{}",
            ended.said
        );
    });
    assert!(machine.locator.locate().unwrap().is_some());
}
