//! Places for the cache, allowed and not.

use crate::machine::Machine;
use crate::process::{Ended, this_program};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn protect(dir: &Path, mode: u32) {
    fs::set_permissions(dir, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn names_may_have_spaces_and_letters_and_marks_of_all_kinds() {
    for name in [
        "my cache",
        "Zwischenspeicher für Übersetzer",
        "a\"b'c",
        "%20#,{}\\ &!*?[x]",
        "-c",
    ] {
        let mut machine = Machine::new();
        machine.locator.cache_dir = machine.root().join(name);
        let toolchain = machine.ensure().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(toolchain.sysroot.starts_with(machine.cache()), "{name}");
        machine.assert_ready(name);
    }
}

#[test]
fn a_name_in_which_no_compiler_runs_is_refused_before_anything_is_fetched() {
    for name in ["a:b", "a;b", "$ORIGIN", "two\nlines"] {
        let mut machine = Machine::new();
        machine.locator.cache_dir = machine.root().join(name);
        let error = machine.ensure().unwrap_err().to_string();
        assert!(error.contains("no compiler can run in"), "{error}");
        assert!(error.contains("set LOCKSTEP_CACHE"), "{error}");
        assert_eq!(machine.log(), "", "{name}");
    }
}

#[test]
fn a_filled_cache_may_be_read_only() {
    let machine = Machine::new();
    machine.ensure().unwrap();
    machine.forget_log();
    fs::remove_file(machine.cache().join("lock")).unwrap();
    protect(machine.cache(), 0o555);
    let ended = machine.run_unprivileged();
    protect(machine.cache(), 0o755);
    assert!(ended.status.success(), "{}", ended.said);
    assert_eq!(ended.said, "", "there is nothing to tell");
    assert_eq!(machine.log(), "");
    assert_eq!(machine.listing(), ["rustc-1.97.1-amd64"]);
}

#[test]
fn an_empty_cache_may_not_be_read_only() {
    let machine = Machine::new();
    fs::create_dir(machine.cache()).unwrap();
    protect(machine.cache(), 0o555);
    let ended = machine.run_unprivileged();
    protect(machine.cache(), 0o755);
    let said = &ended.said;
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("the cache folder cannot be used: "), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
    assert!(said.contains("Set LOCKSTEP_CACHE"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn rustup_is_asked_all_the_same_where_the_cache_cannot_be_used() {
    let machine = Machine::new();
    crate::ensure::rustup(&machine);
    fs::write(machine.cache(), "a file").unwrap();
    machine.ensure().unwrap();
}

/// Asks as a user would, with variables set; `None` unsets one.
fn ask(machine: &Machine, variables: &[(&str, Option<&str>)]) -> Ended {
    let mut command = this_program("process::asks_the_environment");
    command
        .current_dir(machine.root())
        .env("SETUP_ASKS", "1")
        .env("RUSTUP_HOME", machine.root())
        .env_remove("LOCKSTEP_CACHE")
        .env_remove("LOCKSTEP_RUSTC")
        .env_remove("XDG_CACHE_HOME");
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    machine.start_by(command).end()
}

#[test]
fn a_relative_path_is_refused_with_the_whole_one() {
    let machine = Machine::new();
    let ended = ask(&machine, &[("LOCKSTEP_CACHE", Some("my cache"))]);
    let whole = machine.root().join("my cache");
    let export = format!("export LOCKSTEP_CACHE='{}'", whole.display());
    assert_eq!(ended.status.code(), Some(1), "{}", ended.said);
    assert!(ended.said.contains("a relative path"), "{}", ended.said);
    assert!(ended.said.contains(&export), "{}", ended.said);
    assert!(!whole.exists());

    let ended = ask(&machine, &[("LOCKSTEP_RUSTC", Some("bin/rustc"))]);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.said);
    assert!(
        ended.said.contains("it is a relative path"),
        "{}",
        ended.said
    );
}

#[test]
fn without_a_home_the_system_is_asked_for_it_or_the_cache_is() {
    let machine = Machine::new();
    for home in [None, Some("")] {
        let ended = ask(&machine, &[("HOME", home)]);
        if ended.status.success() {
            let cache = ended.said.strip_prefix("cache: ").unwrap();
            assert!(cache.starts_with('/'), "{cache}");
            assert!(cache.ends_with("/.cache/lockstep\n"), "{cache}");
        } else {
            assert!(ended.said.contains("set LOCKSTEP_CACHE"), "{}", ended.said);
        }
    }
    let ended = ask(&machine, &[("HOME", None), ("LOCKSTEP_CACHE", Some("/x"))]);
    assert_eq!(ended.said, "cache: /x\n");
}
