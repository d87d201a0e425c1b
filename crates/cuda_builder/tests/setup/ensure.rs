//! What is done, in which order, where nothing goes wrong or one way does not exist.

use crate::machine::{Machine, Told};
use crate::standins::COMPILER;
use cuda_builder::toolchain::Source;
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
    machine.hooks(
        r#"fails() { case "$*" in *update*) cp archive.sources apt.conf "$root" ;; esac; }"#,
    );
    machine.ensure().unwrap();
    let sources = fs::read_to_string(machine.root().join("archive.sources")).unwrap();
    assert!(
        sources.contains("URIs: http://archive.invalid/debian\nSuites: sid\n"),
        "{sources}"
    );
    let settings = fs::read_to_string(machine.root().join("apt.conf")).unwrap();
    assert!(
        settings.contains("Dir::State::Lists \"/proc/self/cwd/lists\""),
        "{settings}"
    );
    assert!(
        settings.contains("APT::Architecture \"amd64\""),
        "{settings}"
    );
}

#[test]
fn a_damaged_entry_is_noticed_and_fetched_again() {
    let machine = Machine::new();
    let toolchain = machine.ensure().unwrap();
    let source = toolchain.library().join("core/src/lib.rs");

    // Cut: every use notices.
    fs::write(&source, "").unwrap();
    assert!(machine.locator.locate().unwrap().is_none());
    let toolchain = machine.ensure().unwrap();
    assert_eq!(fs::read_to_string(&source).unwrap(), COMPILER);
    machine.locator.verify(&toolchain).unwrap();

    // The same size, other bytes: the thorough check notices, and removes it.
    fs::write(&source, COMPILER.replace("1.97.1", "1.97.2")).unwrap();
    assert!(machine.locator.locate().unwrap().is_some());
    let damage = machine.locator.verify(&toolchain).unwrap_err();
    assert!(damage.contains("lib.rs is damaged"), "{damage}");
    assert!(machine.locator.locate().unwrap().is_none());
    machine.ensure().unwrap();
    assert_eq!(fs::read_to_string(&source).unwrap(), COMPILER);
}

#[test]
fn what_an_interrupted_run_left_is_no_compiler() {
    let machine = Machine::new();
    let partial = machine.locator.cache_dir.join("rustc-1.97.1-amd64.partial");
    fs::create_dir_all(partial.join("bin")).unwrap();
    fs::create_dir_all(machine.entry().join("bin")).unwrap();
    fs::write(machine.entry().join("bin/rustc"), COMPILER).unwrap();
    assert!(
        machine.locator.locate().unwrap().is_none(),
        "there is no record of its files"
    );
    machine.ensure().unwrap();
    assert!(!partial.exists());
}

#[test]
fn packages_that_are_whole_are_not_fetched_again_after_a_failure() {
    let machine = Machine::new();
    machine.program(
        "dpkg-deb",
        "echo 'dpkg-deb: error: it is broken' >&2; exit 2",
    );
    let error = machine.ensure().unwrap_err().to_string();
    assert!(error.contains("it is broken"), "{error}");
    assert_eq!(crate::leftovers::trees(machine.cache()), 0);
    machine.standins();
    machine.forget_log();
    machine.ensure().unwrap();
    assert!(!machine.log().contains("download"), "{}", machine.log());
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

#[test]
fn one_process_fetches_and_the_others_wait() {
    let machine = Machine::new();
    let told = Told::default();
    fs::create_dir_all(&machine.locator.cache_dir).unwrap();
    let lock = fs::File::create(machine.locator.cache_dir.join("lock")).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| machine.locator.ensure(&told));
        while told.0.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        assert!(told.0.lock().unwrap()[0].contains("another build is fetching"));
        assert_eq!(machine.log(), "", "nothing is fetched meanwhile");
        lock.unlock().unwrap();
        waiting.join().unwrap().unwrap();
    });
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
        "rustup is told not to install (RUSTUP_AUTO_INSTALL=0); \
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
