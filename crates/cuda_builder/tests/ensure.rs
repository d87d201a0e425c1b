//! Fetching the compiler, with programs that stand in for apt, dpkg and rustup:
//! nothing here goes to the network.
#![cfg(target_os = "linux")]

use cuda_builder::toolchain::{Locator, Pin, Progress, Source, ToolchainError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A machine: a search path with stand-ins, an apt configuration, an empty cache.
struct Machine {
    dir: tempfile::TempDir,
    locator: Locator,
}

/// The packages of the stand-in archive, and the files in each.
///
/// The loader stands in for the compiler: the launcher calls it with `--sysroot`.
const PACKAGES: [(&str, &str); 3] = [
    ("rustc", "usr/bin/rustc"),
    ("rust-src", "usr/src/rustc-1.97.1/library/core/src/lib.rs"),
    ("libc6", "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"),
];

/// Says what `rustc -vV` and `rustc --print=sysroot` say.
const COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        --sysroot) sysroot=$2; shift ;;
        -vV) printf 'rustc 1.97.1\nrelease: 1.97.1\n' ;;
        --print=sysroot) echo "$sysroot" ;;
    esac
    shift
done
"#;

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in ["bin", "etc-apt/sources.list.d", "archive"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(
            root.join("etc-apt/sources.list"),
            "deb http://archive.invalid/debian bookworm main\n",
        )
        .unwrap();
        for (package, file) in PACKAGES {
            let path = root.join("archive").join(package).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, COMPILER).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let machine = Self {
            locator: Locator {
                pin: Pin {
                    channel: "1.97.1".into(),
                },
                rustc_override: None,
                cache_dir: root.join("cache"),
                rustup_home: Some(root.join("rustup")),
                may_install: true,
                apt_dir: root.join("etc-apt"),
                path: format!("{}:/usr/bin:/bin", root.join("bin").display()).into(),
            },
            dir,
        };
        machine.apt();
        machine
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.root().join("bin").join(name);
        let log = self.root().join("log");
        let script = format!(
            "#!/bin/sh\necho \"{name} $*\" >> '{}'\n{script}\n",
            log.display()
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What was called so far.
    fn log(&self) -> String {
        fs::read_to_string(self.root().join("log")).unwrap_or_default()
    }

    fn forget_log(&self) {
        let _ = fs::remove_file(self.root().join("log"));
    }

    /// apt and dpkg, with packages that are tar files.
    fn apt(&self) {
        let archive = self.root().join("archive");
        let archive = archive.display();
        self.program(
            "apt-get",
            &format!(
                r#"shift 2; verb=$1; shift
case "$verb" in update) exit 0 ;; esac
if [ "$1" = --print-uris ]; then print=yes; shift; fi
for wanted in "$@"; do
    name=${{wanted%%=*}}; file=${{name}}_1.97.1_amd64.deb
    tar --sort=name --mtime=@0 -cf "{archive}/$file" -C "{archive}/$name" .
    if [ -n "$print" ]; then
        sum=$(sha256sum "{archive}/$file"); size=$(stat -c %s "{archive}/$file")
        echo "'http://archive.invalid/$file' $file $size SHA256:${{sum%% *}}"
    else
        [ -e "$file" ] || cp "{archive}/$file" .
    fi
done"#
            ),
        );
        self.program(
            "apt-cache",
            r#"shift 4
for name in "$@"; do
    case "$name" in
        rustc) printf 'Package: rustc\nVersion: 1.97.1+dfsg1-1\nDepends: libc6, gcc\n\n' ;;
        rust-src) printf 'Package: rust-src\nVersion: 1.97.1+dfsg1-1\n\n' ;;
        libc6) printf 'Package: libc6\nVersion: 2.43-7\n\n' ;;
    esac
done"#,
        );
        self.program(
            "dpkg",
            r#"case "$1" in --print-architecture) echo amd64 ;; -x) tar -xf "$2" -C "$3" ;; esac"#,
        );
        self.program("dpkg-deb", r#"cat "$2""#);
    }

    fn entry(&self) -> PathBuf {
        self.locator.cache_dir.join("rustc-1.97.1-amd64")
    }

    fn ensure(&self) -> Result<cuda_builder::toolchain::Toolchain, ToolchainError> {
        self.locator.ensure(&Told::default())
    }
}

/// Remembers what it was told.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Progress for Told {
    fn step(&self, text: &str) {
        self.0.lock().unwrap().push(text.into());
    }

    fn bytes(&self, _: u64, _: u64) {}
}

#[test]
fn packages_are_fetched_once_and_found_from_then_on() {
    let machine = Machine::new();
    assert!(machine.locator.locate().unwrap().is_none());
    let toolchain = machine.ensure().unwrap();
    assert_eq!(toolchain.source, Source::Packages);
    assert_eq!(toolchain.rustc, machine.entry().join("bin/rustc"));
    assert!(toolchain.library().join("core/src/lib.rs").exists());
    assert!(
        !machine.locator.cache_dir.join("fetch").exists(),
        "packages are not kept"
    );

    machine.forget_log();
    assert_eq!(machine.ensure().unwrap().rustc, toolchain.rustc);
    assert_eq!(machine.log(), "", "the second time nothing is called");
}

#[test]
fn apt_is_given_the_systems_archive_with_another_suite() {
    let machine = Machine::new();
    // Stop after the lists, so that apt's files stay.
    machine.program("apt-cache", "exit 0");
    let _ = machine.ensure();
    let fetch = machine.locator.cache_dir.join("fetch/sid");
    let sources = fs::read_to_string(fetch.join("archive.sources")).unwrap();
    assert!(
        sources.contains("URIs: http://archive.invalid/debian\nSuites: sid\n"),
        "{sources}"
    );
    let config = fs::read_to_string(fetch.join("apt.conf")).unwrap();
    assert!(config.contains(&format!("Dir::State::Lists \"{}/lists\"", fetch.display())));
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
fn a_package_that_came_damaged_is_fetched_again() {
    let machine = Machine::new();
    // A download that was cut and filled up: the right size, other bytes.
    machine.program(
        "dpkg",
        "case \"$1\" in --print-architecture) echo amd64 ;; *) exit 1 ;; esac",
    );
    machine.ensure().unwrap_err();
    let deb = machine
        .locator
        .cache_dir
        .join("fetch/sid/debs/rust-src_1.97.1_amd64.deb");
    let size = fs::metadata(&deb).unwrap().len();
    fs::write(&deb, vec![0; usize::try_from(size).unwrap()]).unwrap();
    machine.apt();
    machine.ensure().unwrap();
}

#[test]
fn packages_that_are_whole_are_not_fetched_again_after_an_interruption() {
    let machine = Machine::new();
    machine.program(
        "dpkg-deb",
        "echo 'dpkg-deb: error: No space left on device' >&2; exit 2",
    );
    let error = machine.ensure().unwrap_err().to_string();
    assert!(error.contains("No space left on device"), "{error}");
    assert!(
        !machine
            .locator
            .cache_dir
            .join("rustc-1.97.1-amd64.partial")
            .exists()
    );
    let deb = machine
        .locator
        .cache_dir
        .join("fetch/sid/debs/libc6_1.97.1_amd64.deb");
    assert!(deb.exists());
    machine.program("dpkg-deb", r#"cat "$2""#);
    machine.program("cp", "echo 'fetched again' >&2; exit 1");
    machine.ensure().unwrap();
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
fn rustup(machine: &Machine) {
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
    assert!(
        told.0.lock().unwrap().iter().any(|step| step
            == "rustup is told not to install (RUSTUP_AUTO_INSTALL=0); using the distribution's packages"),
    );
}

#[test]
fn a_rustup_without_a_server_leads_on_to_the_packages() {
    let machine = Machine::new();
    machine.program(
        "rustup",
        "echo 'error: could not download file' >&2; exit 1",
    );
    assert_eq!(machine.ensure().unwrap().source, Source::Packages);
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
