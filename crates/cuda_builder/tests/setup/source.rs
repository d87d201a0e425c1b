//! A package source that lies, cuts short or fails.

use crate::machine::Machine;

/// The right size, other bytes, each time.
const LIES: &str = r#"arrived() {
    [ $1 = libc6 ] || return
    size=$(stat -c %s "$2"); head -c "$size" /dev/zero > "$2"
}"#;

/// A part, without a word.
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
        let downloads: Vec<_> = machine
            .log()
            .lines()
            .filter_map(|line| {
                line.split_once(" download ")
                    .map(|(_, names)| names.to_string())
            })
            .collect();
        assert_eq!(downloads.len(), 2);
        assert_eq!(downloads[1], "libc6=1.97.1+dfsg1-1", "and nothing else");
        machine.assert_ready(hook);
    }
}

#[test]
fn a_source_that_goes_on_lying_is_named_and_never_unpacked() {
    for hook in [LIES, CUTS] {
        let machine = Machine::new();
        machine.hooks(hook);
        let error = machine.ensure().unwrap_err().to_string();
        assert!(
            error.contains("libc6 1.97.1+dfsg1-1 arrived damaged twice"),
            "{error}"
        );
        assert!(!machine.log().contains("dpkg -x"), "{}", machine.log());

        machine.hooks("");
        let (said, made) = machine.ensure_aloud();
        made.unwrap();
        assert!(
            said.iter()
                .any(|line| line.contains("2 of 3 packages are here")),
            "what was good is kept: {said:?}"
        );
        machine.assert_ready(hook);
    }
}

#[test]
fn what_arrived_before_a_failure_is_kept() {
    let machine = Machine::new();
    let failure = "E: Failed to fetch http://archive.invalid/rustc.deb  Connection timed out";
    machine.hooks(&format!(
        "arrived() {{ [ $1 = rustc ] && echo '{failure}' >&2 && exit 100; }}"
    ));
    let error = machine.ensure().unwrap_err().to_string();
    assert!(error.contains(failure), "{error}");
    machine.hooks("");
    let (said, made) = machine.ensure_aloud();
    made.unwrap();
    assert!(
        said.iter().any(|line| line.contains("continuing")),
        "{said:?}"
    );
    machine.assert_ready("after a failure");
}

#[test]
fn a_network_that_is_down_is_told_once_and_costs_no_package() {
    let machine = Machine::new();
    machine.hooks("arrived() { [ $1 = libc6 ] && exit 100; }");
    machine.ensure().unwrap_err();
    machine.hooks(
        r#"fails() {
            case "$*" in *update*)
                suite=$(sed -n 's/^Suites: //p' archive.sources)
                echo "E: Failed to fetch http://archive.invalid/dists/$suite/InRelease  Could not resolve 'archive.invalid'" >&2
                echo "E: Some index files failed to download. They have been ignored, or old ones used instead." >&2
                exit 100 ;;
            esac
        }"#,
    );
    for _ in 0..2 {
        let error = machine.ensure().unwrap_err().to_string();
        assert!(
            error.contains("sid and testing: apt-get failed: E: Failed"),
            "{error}"
        );
        assert_eq!(error.matches("Could not resolve").count(), 1, "{error}");
        assert!(!error.contains("Some index files"), "{error}");
    }
    machine.hooks("");
    let (said, made) = machine.ensure_aloud();
    made.unwrap();
    assert!(
        said.iter()
            .any(|line| line.contains("1 of 3 packages are here")),
        "{said:?}"
    );
}
