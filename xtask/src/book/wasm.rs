//! The simulator as WebAssembly, for the book's live pages.
//!
//! The host's Rust need not know the target: the kernels' compiler does, and brings the
//! standard library's sources (`-Zbuild-std`). The linker is `rust-lld`, which comes with
//! rustup's toolchains, or LLVM's `wasm-ld` or `lld`.
//!
//! Left out: fetching a linker. A page without WebAssembly shows cases that were computed before.

use crate::{progress, workspace};
use anyhow::{Context, bail};
use cuda_builder::toolchain::{Locator, Toolchain};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target.
const TARGET: &str = "wasm32-unknown-unknown";

/// The cargo profile that it is compiled with. Optimised for size: a page loads all of it, and its
/// kernels are small.
const PROFILE: [&str; 6] = [
    "inherits='release'",
    "opt-level='s'",
    "lto='fat'",
    "codegen-units=1",
    "panic='abort'",
    "strip=true",
];

/// Variables with the user's settings for host code, which would change the output.
const NOT_FOR_IT: [&str; 6] = [
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
];

/// Builds the library if its inputs have changed; returns its file.
///
/// # Errors
///
/// There is no linker, no compiler, or it does not compile.
pub fn build() -> anyhow::Result<PathBuf> {
    let linker = linker().context(
        "there is no linker for WebAssembly: neither rust-lld (it comes with rustup's \
         toolchains) nor wasm-ld (Debian's package lld)",
    )?;
    let toolchain = Locator::from_env()?.ensure(&*progress::on_stderr())?;
    let status = cargo(&toolchain, &linker)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("the simulator could not be compiled for WebAssembly (see above)");
    }
    let file = file();
    match file.is_file() {
        true => Ok(file),
        false => bail!("cargo did not make {}", file.display()),
    }
}

/// Where it is, once it has been built.
pub fn file() -> PathBuf {
    target_dir().join(TARGET).join("live").join("live.wasm")
}

/// A folder of its own: cargo's other runs use another compiler.
fn target_dir() -> PathBuf {
    workspace::own_folder("live")
}

fn cargo(toolchain: &Toolchain, linker: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--lib", "--package=live", "--profile=live"])
        .arg("-Zbuild-std=std,panic_abort")
        .arg(format!("--target={TARGET}"))
        .arg("--target-dir")
        .arg(target_dir())
        .current_dir(workspace::root());
    for setting in PROFILE {
        command
            .arg("--config")
            .arg(format!("profile.live.{setting}"));
    }
    for variable in NOT_FOR_IT {
        command.env_remove(variable);
    }
    command
        .env("RUSTC", &toolchain.rustc)
        // Allows `-Zbuild-std` in a stable compiler.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    command
}

/// A linker that makes WebAssembly.
fn linker() -> Option<PathBuf> {
    let of_rustup = rust_lld(&sysroot()?);
    of_rustup.or_else(|| {
        let path = std::env::var_os("PATH")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        on_path(&folders)
    })
}

/// The linker of the host's toolchain.
fn rust_lld(sysroot: &Path) -> Option<PathBuf> {
    let hosts = std::fs::read_dir(sysroot.join("lib/rustlib")).ok()?;
    let mut programs = hosts.flatten().map(|host| {
        let name = format!("bin/rust-lld{}", std::env::consts::EXE_SUFFIX);
        host.path().join(name)
    });
    programs.find(|program| program.is_file())
}

/// `wasm-ld`, or one of the names that distributions give it, such as `wasm-ld-19`.
fn on_path(folders: &[PathBuf]) -> Option<PathBuf> {
    let is_it = |name: &str| {
        let version = name.strip_prefix("wasm-ld");
        version.is_some_and(|rest| {
            rest.is_empty()
                || rest
                    .strip_prefix('-')
                    .is_some_and(|n| n.parse::<u32>().is_ok())
        })
    };
    let entries = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    let mut files = entries.flatten().flatten();
    files.find_map(|file| is_it(&file.file_name().to_string_lossy()).then(|| file.path()))
}

fn sysroot() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc)
        .arg("--print=sysroot")
        .current_dir(workspace::root())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::{on_path, rust_lld};

    #[test]
    fn linkers_are_found_by_their_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let make = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
            std::fs::write(&path, "").expect("it is written");
            path
        };
        let folders = [dir.path().to_path_buf()];
        make("wasm-ld-new");
        assert_eq!(on_path(&folders), None);
        let versioned = make("wasm-ld-19");
        assert_eq!(on_path(&folders), Some(versioned));
        assert_eq!(rust_lld(dir.path()), None);
        let name = format!("rust-lld{}", std::env::consts::EXE_SUFFIX);
        let own = make(&format!("lib/rustlib/x86_64-unknown-linux-gnu/bin/{name}"));
        assert_eq!(rust_lld(dir.path()), Some(own));
    }
}
