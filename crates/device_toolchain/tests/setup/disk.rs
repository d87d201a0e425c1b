//! A disk that is full, or becomes full.

use crate::machine::Machine;
use crate::process::this_program;
use device_toolchain::ToolchainError;
use std::process::{Command, Stdio};

/// The messages of the programs when the disk is full, each in its own words.
#[test]
fn that_fills_up_is_named_whatever_notices_it_first() {
    let update = r#"case "$*" in *conf\ update*)
        echo "E: Write error - write (28: No space left on device)" >&2
        echo "E: Some index files failed to download." >&2; exit 100 ;; esac"#;
    let download = r#"case "$*" in *download*)
        echo "E: You don't have enough free space in /cache." >&2; exit 100 ;; esac"#;
    let unpack = r#"case "$*" in "dpkg -x"*)
        echo "tar: ./usr/lib/a.so: Cannot write: No space left on device" >&2
        echo "tar: Exiting with failure status due to previous errors" >&2
        echo "dpkg-deb: error: tar subprocess returned error exit status 2" >&2; exit 2 ;; esac"#;
    let library = r#"case "$*" in "dpkg-deb"*)
        echo "tar: ./usr/src: Cannot mkdir: Disk quota exceeded" >&2; exit 2 ;; esac"#;
    for (fault, said) in [
        (update, "write (28: No space left on device)"),
        (download, "enough free space"),
        (unpack, "Cannot write: No space left on device"),
        (library, "Cannot mkdir: Disk quota exceeded"),
    ] {
        let machine = Machine::new();
        machine.hooks(&format!("fails() {{ {fault} ; }}"));
        let error = machine.ensure().unwrap_err();
        assert!(matches!(error, ToolchainError::Full { .. }), "{error}");
        let text = error.to_string();
        let folder = machine.cache().display().to_string();
        for part in [&folder, " MB free, 800 MB needed", "LOCKSTEP_CACHE", said] {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
        for noise in ["rustup toolchain", "exit status"] {
            assert!(!text.contains(noise), "{text}");
        }
        assert_eq!(
            machine.listing(),
            ["lock"],
            "it does not stay full because of us"
        );

        machine.hooks("");
        machine.ensure().unwrap();
        machine.assert_ready(said);
    }
}

const RUN: &str =
    "\"$2\" --exact process::sets_up_the_machine_that_the_environment_names --ignored --nocapture";

/// Runs `script` where a small disk can be mounted on `$1` without being root,
/// which disappears with the process: `$2` is this program. `None` where that is impossible.
fn with_mounts(machine: &Machine, script: &str) -> Option<crate::process::Ended> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-ec"]);
        command
    };
    let probe = unshare()
        .args(["mount -t tmpfs -o size=1m none \"$1\"", "sh"])
        .arg(machine.root().join("archive"))
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("not tried: this system does not let users mount a disk");
        return None;
    }
    std::fs::create_dir(machine.cache()).unwrap();
    let mut command = unshare();
    command
        .args([script, "sh"])
        .arg(machine.cache())
        .arg(this_program("").get_program());
    Some(machine.start_by(command).end())
}

#[test]
fn that_is_small_is_refused_before_anything_is_downloaded() {
    let machine = Machine::new();
    let script = format!("mount -t tmpfs -o size=8m none \"$1\"; {RUN}");
    let Some(ended) = with_mounts(&machine, &script) else {
        return;
    };
    let said = &ended.said;
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let told = "8 MB free, 800 MB needed\nFree some space there";
    assert!(said.contains(told), "{said}");
    assert!(!machine.log().contains("download"), "{}", machine.log());
}

/// A compiler that cannot be used makes room for one that can.
#[test]
fn that_is_small_because_of_a_damaged_compiler_is_cleared_of_it() {
    let machine = Machine::new();
    let script = format!(
        r#"
        mount -t tmpfs -o size=810m none "$1"
        mkdir "$1/rustc-1.97.1-amd64"
        head -c 30000000 /dev/zero > "$1/rustc-1.97.1-amd64/rustc.so"
        {RUN}"#
    );
    let Some(ended) = with_mounts(&machine, &script) else {
        return;
    };
    assert!(ended.status.success(), "{}", ended.said);
    assert!(ended.said.contains("is damaged ("), "{}", ended.said);
}

/// A disk that holds a certain number of files, for every number until one is enough.
/// (Unlike bytes, they can be made scarce without writing gigabytes.)
#[test]
fn that_runs_out_at_any_point_is_named_and_can_be_cured() {
    let machine = Machine::new();
    let script = format!(
        r#"
        mount -t tmpfs -o size=4g,nr_inodes=100 none "$1"
        mkdir "$1/ballast"
        n=0
        while (: > "$1/ballast/$n") 2>/dev/null; do n=$((n + 1)); done
        until {RUN}; do
            echo "--- $n files fewer" >&2
            for _ in 1 2 3; do n=$((n - 1)); rm "$1/ballast/$n"; done
        done
        rm -r "$1/ballast"
        ls "$1" >&2"#
    );
    let Some(ended) = with_mounts(&machine, &script) else {
        return;
    };
    let said = &ended.said;
    assert!(ended.status.success(), "{said}");
    assert!(said.ends_with("\nlock\nrustc-1.97.1-amd64\n"), "{said}");
    let failures: Vec<&str> = said.split("--- ").collect();
    assert!(failures.len() > 5, "{said}");
    for failure in &failures[..failures.len() - 1] {
        assert!(failure.contains("No space left on device"), "{failure}");
        assert!(failure.contains("LOCKSTEP_CACHE"), "{failure}");
    }
}
