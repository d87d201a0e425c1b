//! A disk that is full, or becomes full.

use crate::machine::Machine;
use crate::process::this_program;
use cuda_builder::toolchain::ToolchainError;
use std::fs;
use std::process::{Command, Stdio};

/// Fails unless `error` is about room and tells what to do.
fn assert_full(machine: &Machine, error: &ToolchainError, said: &str) {
    assert!(matches!(error, ToolchainError::Full { .. }), "{error}");
    let text = error.to_string();
    let folder = machine.cache().display().to_string();
    for part in [&folder, " MB free", " MB needed", "LOCKSTEP_CACHE", said] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
    assert!(!text.contains("rustup toolchain"), "{text}");
}

/// What the programs say when there is no room, each in its own words.
#[test]
fn that_fills_up_is_named_whatever_notices_it_first() {
    let update = r#"case "$*" in "apt-get"*update*)
        echo "E: Write error - write (28: No space left on device)" >&2
        echo "E: Some index files failed to download." >&2; exit 100 ;; esac"#;
    let download = r#"case "$*" in "apt-get"*download*)
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
        assert_full(&machine, &error, said);
        assert!(!error.to_string().contains("exit status"), "{error}");
        let unpacked = crate::leftovers::trees(machine.cache());
        assert_eq!(unpacked, 0, "a full disk does not stay full because of us");

        machine.hooks("");
        machine.ensure().unwrap();
        machine.assert_ready(said);
    }
}

#[test]
fn that_is_rustups_is_named_where_there_is_no_other_way() {
    let machine = Machine::new();
    fs::remove_file(machine.root().join("etc-apt/sources.list")).unwrap();
    let said = "error: failed to write: No space left on device (os error 28)";
    machine.program("rustup", &format!("echo '{said}' >&2; exit 1"));
    let error = machine.ensure().unwrap_err().to_string();
    let home = machine.root().join("rustup");
    for part in [
        said,
        "RUSTUP_HOME",
        " MB needed",
        &home.display().to_string(),
    ] {
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
    assert!(!error.contains("rustup toolchain"), "{error}");
}

/// The archive tells how much will be needed.
#[test]
fn that_is_too_small_for_this_release_is_noticed_before_anything_is_downloaded() {
    let machine = Machine::new();
    let record = machine.root().join("archive/libc6.record");
    let honest = fs::read_to_string(&record).unwrap();
    // In units of 1024 bytes: more than any disk has.
    let huge = honest.replace("Installed-Size: 20", "Installed-Size: 9000000000000");
    fs::write(&record, huge).unwrap();
    let error = machine.ensure().unwrap_err();
    assert_full(&machine, &error, "9216000033 MB needed");
    assert!(!machine.log().contains("download"), "{}", machine.log());
    assert_eq!(machine.listing(), ["lock"]);
    fs::write(&record, honest).unwrap();
    machine.ensure().unwrap();
}

/// Runs `script` where a small disk can be mounted on `$1` without being root,
/// which goes with the process: `$2` is this program. None where it cannot.
fn with_mounts(machine: &Machine, script: &str) -> Option<crate::process::Ended> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-ec"]);
        command
    };
    let probe = unshare()
        .args(["mount -t tmpfs -o size=1m none \"$1\"", "sh"])
        .arg(machine.root().join("etc-apt"))
        .stderr(Stdio::null())
        .status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("not tried: this system lets nobody mount a disk");
        return None;
    }
    fs::create_dir(machine.cache()).unwrap();
    let program = this_program("");
    let mut command = unshare();
    command
        .args([script, "sh"])
        .arg(machine.cache())
        .arg(program.get_program());
    Some(machine.start_by(command).end())
}

const RUN: &str =
    "\"$2\" --exact process::sets_up_the_machine_that_the_environment_names --ignored --nocapture";

#[test]
fn that_is_small_is_refused_before_the_archive_is_asked() {
    let machine = Machine::new();
    let script = format!("mount -t tmpfs -o size=8m none \"$1\"; {RUN}");
    let Some(ended) = with_mounts(&machine, &script) else {
        return;
    };
    assert_eq!(ended.status.code(), Some(1), "{}", ended.said);
    assert!(
        ended
            .said
            .contains("8 MB free, 800 MB needed\nFree some space there"),
        "{}",
        ended.said
    );
    assert!(!machine.log().contains("apt-get"), "{}", machine.log());
}

/// What does not serve makes room for what will.
#[test]
fn that_is_small_because_of_a_damaged_compiler_is_cleared_of_it() {
    let machine = Machine::new();
    let script = format!(
        r#"
        mount -t tmpfs -o size=810m none "$1"
        mkdir "$1/rustc-1.97.1-amd64"
        head -c 30000000 /dev/zero > "$1/rustc-1.97.1-amd64/rustc.so"
        {RUN}
        ls "$1" >&2"#
    );
    let Some(ended) = with_mounts(&machine, &script) else {
        return;
    };
    assert!(ended.status.success(), "{}", ended.said);
    assert!(ended.said.contains("is damaged ("), "{}", ended.said);
}

/// A disk that holds so many files, for every such number, until one is enough.
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
        assert!(
            failure.contains("perhaps a quota or the inodes are used up\n"),
            "{failure}"
        );
        assert!(failure.contains("LOCKSTEP_CACHE"), "{failure}");
    }
}
