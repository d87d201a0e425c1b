//! `cargo xtask doctor` as a user meets it. Nothing here goes to the network.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs it without this machine's own settings.
fn doctor(configure: impl FnOnce(&mut Command)) -> (Output, Value) {
    examine(Command::new(env!("CARGO_BIN_EXE_xtask")), configure)
}

fn examine(mut command: Command, configure: impl FnOnce(&mut Command)) -> (Output, Value) {
    command
        .args(["doctor", "--json"])
        .env_remove("LOCKSTEP_RUSTC");
    configure(&mut command);
    let output = command.output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    (output, report)
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no check {name}"))
}

#[test]
fn a_compiler_that_does_not_serve_is_named_with_the_cure() {
    let cache = tempfile::tempdir().unwrap();
    let (output, report) = doctor(|command| {
        command
            .env("LOCKSTEP_RUSTC", "/no/such/rustc")
            .env("LOCKSTEP_CACHE", cache.path());
    });
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report["ok"], false);
    let compiler = check(&report, "device compiler");
    assert_eq!(compiler["status"], "missing");
    assert!(
        compiler["detail"]
            .as_str()
            .unwrap()
            .contains("/no/such/rustc")
    );
    assert!(
        compiler["cure"]
            .as_str()
            .unwrap()
            .contains("LOCKSTEP_RUSTC")
    );
}

#[test]
fn a_cache_that_cannot_be_used_and_must_be_is_named_with_the_cure() {
    let (output, report) = doctor(|command| {
        command
            .env("RUSTUP_HOME", "/no/such/folder")
            // A file where the folder should be: not even root can use it.
            .env(
                "LOCKSTEP_CACHE",
                concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
            );
    });
    assert_eq!(output.status.code(), Some(1));
    let cache = check(&report, "cache folder");
    assert_eq!(cache["status"], "missing");
    assert!(cache["cure"].as_str().unwrap().contains("LOCKSTEP_CACHE"));
}

#[test]
fn without_any_way_to_a_compiler_both_commands_are_given() {
    let cache = tempfile::tempdir().unwrap();
    let (output, report) = doctor(|command| {
        command
            .env("LOCKSTEP_CACHE", cache.path())
            .env("RUSTUP_HOME", cache.path().join("no-rustup"))
            .env("PATH", cache.path());
    });
    assert_eq!(output.status.code(), Some(1));
    let compiler = check(&report, "device compiler");
    assert_eq!(compiler["status"], "missing");
    let cure = compiler["cure"].as_str().unwrap();
    assert!(cure.contains("rustup toolchain install") && cure.contains("LOCKSTEP_RUSTC"));
}

/// A compiler in the cache that only reports its version.
#[cfg(unix)]
fn stand_in_compiler(cache: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let entry = cache.join("rustc-1.97.1-amd64");
    fs::create_dir_all(entry.join("bin")).unwrap();
    fs::create_dir_all(entry.join("lib/rustlib/src/rust/library/core/src")).unwrap();
    let core = entry.join("lib/rustlib/src/rust/library/core/src/lib.rs");
    fs::write(core, "").unwrap();
    let rustc = entry.join("bin/rustc");
    let script = "#!/bin/sh\ncase $1 in -vV) echo 'release: 1.97.1' ;; *) echo \"${0%/bin/rustc}\" ;; esac\n";
    fs::write(&rustc, script).unwrap();
    fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
#[cfg(unix)]
fn a_filled_cache_may_be_read_only() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache");
    stand_in_compiler(&cache);
    for (folder, mode) in [(home.path(), 0o755), (&cache, 0o555)] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }
    // Other users may not be able to read the program's folder, and root may write everywhere.
    let program = home.path().join("xtask");
    let mut install = Command::new("install");
    install.args(["-m", "755", env!("CARGO_BIN_EXE_xtask")]);
    assert!(install.arg(&program).status().unwrap().success());
    let mut command = Command::new(&program);
    if fs::metadata(&program).unwrap().uid() == 0 {
        let may_enter = |dir: &Path| fs::metadata(dir).unwrap().mode() & 0o1 != 0;
        if !Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .all(may_enter)
        {
            eprintln!("not tried: only root may read this repository");
            return;
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let (_, report) = examine(command, |command| {
        command
            .env("LOCKSTEP_CACHE", &cache)
            .env("RUSTUP_HOME", home.path().join("no-rustup"));
    });
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(check(&report, "device compiler")["status"], "ok");
    let folder = check(&report, "cache folder");
    assert_eq!(folder["status"], "ok", "{folder}");
    let detail = folder["detail"].as_str().unwrap();
    assert!(
        detail.ends_with("it cannot be written to, and need not be"),
        "{detail}"
    );
}

#[test]
fn a_relative_cache_is_named_with_the_whole_path() {
    let home = tempfile::tempdir().unwrap();
    let (output, report) = doctor(|command| {
        command
            .current_dir(home.path())
            .env("LOCKSTEP_CACHE", "my cache");
    });
    assert_eq!(output.status.code(), Some(1));
    let compiler = check(&report, "device compiler");
    let whole = home.path().join("my cache");
    assert_eq!(
        compiler["cure"],
        format!("export LOCKSTEP_CACHE='{}'", whole.display())
    );
    assert!(!compiler["detail"].as_str().unwrap().contains('\n'));
}

#[test]
fn looking_makes_no_folder() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache");
    let (_, report) = doctor(|command| {
        command.env("LOCKSTEP_CACHE", &cache);
    });
    let folder = check(&report, "cache folder");
    let named = cache.display().to_string();
    assert!(
        folder["detail"].as_str().unwrap().contains(&named),
        "{folder}"
    );
    assert!(!cache.exists());
}

#[test]
fn a_machine_without_a_gpu_is_no_sick_machine() {
    let (_, report) = doctor(|command| {
        command.env("LOCKSTEP_LIBCUDA", "/no/such/driver.so");
    });
    assert_eq!(check(&report, "CUDA driver")["status"], "absent");
}

#[test]
#[cfg(unix)]
fn a_machine_is_ready_once_it_has_the_compiler() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache");
    let rustup = home.path().join("rustup");
    fs::create_dir(&rustup).unwrap();
    // A rustup that could install it, but must not be asked to; and the host's compiler, which
    // rustup would install.
    for name in ["rustup", "rustc"] {
        let program = rustup.join(name);
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let told = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(rustup.clone()).chain(std::env::split_paths(&path));
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("doctor")
            .env_remove("LOCKSTEP_RUSTC")
            .env_remove("RUSTUP_AUTO_INSTALL")
            .env_remove("RUSTC")
            .env("LOCKSTEP_LIBCUDA", "/no/such/driver.so")
            .env("LOCKSTEP_CACHE", &cache)
            .env("RUSTUP_HOME", home.path().join("no-toolchains"))
            .env("PATH", std::env::join_paths(folders).unwrap())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let before = told();
    let not_yet = "\nThe first run fetches the device compiler (see above); then kernels compile";
    assert!(before.contains(not_yet), "{before}");
    stand_in_compiler(&cache);
    let after = told();
    assert!(after.contains("\nReady: kernels compile"), "{after}");
}
