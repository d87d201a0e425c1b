//! Damaged downloads, and damage in the compiler's place.

use crate::machine::Machine;
use std::fs;

/// The right size, other bytes, each time.
const LIES: &str = r#"arrived() {
    [ $1 = libc6 ] || return
    size=$(stat -c %s "$2"); head -c "$size" /dev/zero > "$2"
}"#;

/// A part of the file, without an error message.
const CUTS: &str = r#"arrived() { [ $1 = libc6 ] && truncate -s 2000 "$2"; }"#;

fn once(hook: &str) -> String {
    hook.replace(
        "[ $1 = libc6 ]",
        "[ $1 = libc6 ] && [ ! -e \"$root/done\" ] && touch \"$root/done\"",
    )
}

#[test]
fn what_arrives_damaged_is_fetched_a_second_time() {
    for hook in [LIES, CUTS] {
        let machine = Machine::new();
        machine.hooks(&once(hook));
        let (said, made) = machine.ensure_aloud();
        made.unwrap();
        assert!(said.contains(&"libc6 arrived damaged".into()), "{said:?}");
        let log = machine.log();
        let is_download = |line: &&str| line.contains(" download ") && !line.contains("--print");
        let downloads: Vec<&str> = log.lines().filter(is_download).collect();
        assert_eq!(downloads.len(), 2);
        assert!(downloads[1].ends_with("download libc6"), "and nothing else");
        machine.assert_ready(hook);
    }
}

#[test]
fn a_source_that_goes_on_lying_is_named_and_never_unpacked() {
    for hook in [LIES, CUTS] {
        let machine = Machine::new();
        machine.hooks(hook);
        let error = machine.ensure().unwrap_err().to_string();
        let reason = "libc6 1.97.1+dfsg1-1 arrived damaged twice";
        assert!(error.contains(reason), "{error}");
        assert!(!machine.log().contains("dpkg -x"), "{}", machine.log());
        assert_eq!(machine.listing(), ["lock"]);

        machine.hooks("");
        machine.ensure().unwrap();
        machine.assert_ready(hook);
    }
}

#[test]
fn a_network_that_is_down_is_told_once() {
    let machine = Machine::new();
    machine.hooks(
        r#"fails() {
            case "$*" in *conf\ update*)
                suite=$(sed -n 's/^Suites: //p' archive.sources)
                echo "E: Failed to fetch http://archive.invalid/dists/$suite/InRelease  Could not resolve 'archive.invalid'" >&2
                echo "E: Some index files failed to download. They have been ignored, or old ones used instead." >&2
                exit 100 ;;
            esac
        }"#,
    );
    let error = machine.ensure().unwrap_err().to_string();
    let reason = "sid and testing: apt-get failed: E: Failed";
    assert!(error.contains(reason), "{error}");
    assert_eq!(error.matches("Could not resolve").count(), 1, "{error}");
    assert!(!error.contains("Some index files"), "{error}");
    machine.hooks("");
    machine.ensure().unwrap();
    machine.assert_ready("the network is back");
}

#[test]
fn what_cannot_be_unpacked_leaves_nothing() {
    let machine = Machine::new();
    machine.program(
        "dpkg-deb",
        "echo 'dpkg-deb: error: it is broken' >&2; exit 2",
    );
    let error = machine.ensure().unwrap_err().to_string();
    assert!(error.contains("it is broken"), "{error}");
    assert_eq!(machine.listing(), ["lock"]);
    machine.standins();
    machine.ensure().unwrap();
    machine.assert_ready("repaired");
}

type Damage<'a> = (&'a str, &'a dyn Fn(&Machine));

#[test]
fn what_is_damaged_in_the_place_of_the_compiler_gives_way() {
    let cut = |machine: &Machine, name: &str| {
        fs::write(machine.entry().join(name), "").unwrap();
    };
    let damages: [Damage; 4] = [
        ("an empty launcher", &|m| cut(m, "bin/rustc")),
        ("an empty loader", &|m| {
            cut(m, "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2");
        }),
        ("no library", &|m| {
            fs::remove_dir_all(m.entry().join("usr/lib/rustlib")).unwrap();
        }),
        ("a file", &|m| {
            fs::remove_dir_all(m.entry()).unwrap();
            fs::write(m.entry(), "").unwrap();
        }),
    ];
    for (what, damage) in damages {
        let machine = Machine::new();
        machine.ensure().unwrap();
        damage(&machine);
        assert!(machine.locator.locate().unwrap().is_none(), "{what}");
        let (said, made) = machine.ensure_aloud();
        made.unwrap_or_else(|e| panic!("{what}: {e}"));
        let is_about = |line: &&String| line.contains("is damaged (");
        assert_eq!(said.iter().filter(is_about).count(), 1, "{what}: {said:?}");
        machine.assert_ready(what);
    }
}

#[test]
fn what_is_somebody_elses_is_left_alone() {
    let machine = Machine::new();
    // A compiler for another machine, which does not run on this one.
    for ours in ["photos/rustc.deb", "rustc-1.97.1-arm64/bin/rustc"] {
        let path = machine.cache().join(ours);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    machine.ensure().unwrap();
    assert_eq!(
        machine.listing(),
        ["lock", "photos", "rustc-1.97.1-amd64", "rustc-1.97.1-arm64"]
    );
}
