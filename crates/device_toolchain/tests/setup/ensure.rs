//! The steps of a setup, in order, if nothing goes wrong or one way does not exist.

use crate::machine::{Machine, Told};
use crate::standins::COMPILER;
use device_toolchain::Source;
use std::fs;

#[test]
fn packages_are_fetched_once_and_found_from_then_on() {
    let machine = Machine::new();
    assert!(machine.locator.locate().unwrap().is_none());
    let toolchain = machine.ensure().unwrap();
    assert_eq!(toolchain.source, Source::Packages);
    assert_eq!(toolchain.rustc, machine.entry().join("bin/rustc"));
    assert!(toolchain.library().join("core/src/lib.rs").exists());
    assert_eq!(
        machine.listing(),
        ["lock", "rustc-1.97.1-amd64"],
        "packages are not kept"
    );

    machine.forget_log();
    assert_eq!(machine.ensure().unwrap().rustc, toolchain.rustc);
    assert_eq!(machine.log(), "", "the second time nothing is called");
}

#[test]
fn apt_is_given_the_systems_archive_with_another_suite() {
    let machine = Machine::new();
    machine.archives(&[
        "http://vendor.invalid/apt/dists/stable",
        "cdrom:[Debian]/debian/dists/bookworm",
        "http://archive.invalid/debian-security/dists/bookworm-security",
        "http://archive.invalid/debian/dists/bookworm",
        "http://archive.invalid/debian/dists/bookworm-updates",
    ]);
    machine.hooks(
        r#"fails() { case "$*" in *conf\ update*) cat archive.sources apt.conf >> "$root/given"; exit 100 ;; esac; }"#,
    );
    machine.ensure().unwrap_err();
    let given = fs::read_to_string(machine.root().join("given")).unwrap();
    let with = |start| {
        given
            .lines()
            .filter(move |line: &&str| line.starts_with(start))
    };
    let sources: Vec<&str> = with("URIs: ")
        .zip(with("Suites: "))
        .flat_map(|(a, b)| [a, b])
        .collect();
    assert_eq!(
        sources,
        [
            "URIs: http://archive.invalid/debian",
            "Suites: sid",
            "URIs: http://archive.invalid/debian",
            "Suites: testing",
            "URIs: http://vendor.invalid/apt",
            "Suites: sid",
            "URIs: http://vendor.invalid/apt",
            "Suites: testing",
        ]
    );
    assert!(
        given.contains("Dir::State::Lists \"/proc/self/cwd/lists\""),
        "{given}"
    );
    assert!(given.contains("APT::Architecture \"amd64\""), "{given}");

    machine.archives(&[]);
    let error = machine.ensure().unwrap_err().to_string();
    assert!(
        error.contains("packages: apt's settings name no archive"),
        "{error}"
    );
}

#[test]
fn apts_own_words_are_shown() {
    let machine = Machine::new();
    machine.program(
        "apt-get",
        "echo \"E: Could not resolve 'archive.invalid'\" >&2; exit 100",
    );
    let error = machine.ensure().unwrap_err().to_string();
    assert!(
        error.contains("Could not resolve 'archive.invalid'"),
        "{error}"
    );
    assert!(error.contains("rustup toolchain install 1.97.1"), "{error}");
    assert!(error.contains("LOCKSTEP_RUSTC="), "{error}");
}

/// A rustup that installs by copying the stand-in compiler.
pub fn rustup(machine: &Machine) {
    let toolchain = machine
        .root()
        .join("rustup/toolchains/1.97.1-x86_64-unknown-linux-gnu");
    let script = COMPILER.replace(
        "--print=sysroot) echo \"$sysroot\"",
        "--print=sysroot) echo \"${0%/bin/rustc}\"",
    );
    fs::write(machine.root().join("rustup-rustc"), script).unwrap();
    machine.program(
        "rustup",
        &format!(
            "mkdir -p '{0}/bin' '{0}/lib/rustlib/src/rust/library/core/src'\n\
             cp '{1}' '{0}/bin/rustc' && chmod +x '{0}/bin/rustc'\n\
             touch '{0}/lib/rustlib/src/rust/library/core/src/lib.rs'",
            toolchain.display(),
            machine.root().join("rustup-rustc").display(),
        ),
    );
}

#[test]
fn rustup_is_asked_first() {
    let machine = Machine::new();
    rustup(&machine);
    assert_eq!(machine.ensure().unwrap().source, Source::Rustup);
    assert!(
        machine
            .log()
            .contains("rustup toolchain install 1.97.1 --profile minimal")
    );
    assert!(!machine.log().contains("apt-get"));
    machine.forget_log();
    assert_eq!(
        machine.locator.locate().unwrap().unwrap().source,
        Source::Rustup
    );
    assert_eq!(
        machine.log(),
        "",
        "an installed toolchain is found without asking rustup"
    );
}

#[test]
fn rustup_is_not_asked_where_it_is_told_not_to_install() {
    let mut machine = Machine::new();
    rustup(&machine);
    machine.locator.may_install = false;
    let told = Told::default();
    assert_eq!(
        machine.locator.ensure(&told).unwrap().source,
        Source::Packages
    );
    assert!(!machine.log().contains("rustup"), "{}", machine.log());
    assert_eq!(
        told.0.lock().unwrap()[0],
        "rustup may not install toolchains (RUSTUP_AUTO_INSTALL=0); \
         looking for the kernels' compiler in the distribution's packages"
    );
}

#[test]
fn a_rustup_without_a_server_leads_on_to_the_packages() {
    let machine = Machine::new();
    machine.program(
        "rustup",
        "echo 'error: could not download file' >&2; exit 1",
    );
    let (said, made) = machine.ensure_aloud();
    assert_eq!(made.unwrap().source, Source::Packages);
    assert_eq!(
        said[..2],
        [
            "asking rustup for the kernels' compiler, Rust 1.97.1",
            "rustup could not install it; \
             looking for the kernels' compiler in the distribution's packages"
        ]
    );
}

#[test]
fn a_named_compiler_overrules_everything() {
    let mut machine = Machine::new();
    machine.locator.rustc_override = Some("/no/such/rustc".into());
    let error = machine.ensure().unwrap_err().to_string();
    assert!(
        error.contains("/no/such/rustc") && error.contains("cannot be run"),
        "{error}"
    );
    assert_eq!(machine.log(), "");
}
