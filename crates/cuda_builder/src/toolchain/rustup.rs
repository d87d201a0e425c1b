//! The pinned toolchain in rustup.

use super::error::NO_RUSTUP;
use super::locator::is_on_path;
use super::process::{self, Patience};
use super::progress::Progress;
use super::{Locator, Source, Toolchain};
use std::process::Command;
use std::time::Duration;

/// A server that cannot be reached shows by rustup saying nothing after its
/// first line; once it downloads, it may take its time.
const PATIENCE: Patience = Patience {
    total: Duration::from_secs(900),
    silence: Some((1, Duration::from_secs(40))),
};

/// The toolchain, if it is installed with `rust-src`.
///
/// rustup's folders are read and rustup is not asked: asking may install.
///
/// # Errors
///
/// What is missing.
pub(super) fn installed(locator: &Locator) -> Result<Toolchain, String> {
    let channel = &locator.pin.channel;
    let home = locator
        .rustup_home
        .as_ref()
        .ok_or("there is no home folder")?;
    let start = format!("{channel}-");
    let rustc = format!("bin/rustc{}", std::env::consts::EXE_SUFFIX);
    let mut reason = format!("toolchain {channel} is not installed");
    for entry in std::fs::read_dir(home.join("toolchains"))
        .into_iter()
        .flatten()
        .flatten()
    {
        if entry.file_name().to_string_lossy().starts_with(&start) {
            match Toolchain::probe(&entry.path().join(&rustc), Source::Rustup) {
                Ok(toolchain) => return Ok(toolchain),
                Err(why) => reason = format!("toolchain {channel} does not serve: {why}"),
            }
        }
    }
    Err(reason)
}

/// Whether rustup could be asked.
pub(super) fn is_usable(locator: &Locator) -> Result<(), String> {
    if !is_on_path(locator, "rustup") {
        Err(NO_RUSTUP.into())
    } else if !locator.may_install {
        Err("it is told not to install (RUSTUP_AUTO_INSTALL=0)".into())
    } else {
        Ok(())
    }
}

/// Asks rustup to install it.
///
/// # Errors
///
/// Why it is not there afterwards.
pub(super) fn install(locator: &Locator, progress: &dyn Progress) -> Result<Toolchain, String> {
    let missing = match installed(locator) {
        Ok(toolchain) => return Ok(toolchain),
        Err(reason) => reason,
    };
    if !is_on_path(locator, "rustup") {
        return Err(NO_RUSTUP.into());
    }
    if !locator.may_install {
        return Err(format!(
            "{missing}, and rustup is told not to install (RUSTUP_AUTO_INSTALL=0)"
        ));
    }
    let channel = &locator.pin.channel;
    let mut rustup = Command::new("rustup");
    rustup
        .args(["toolchain", "install", channel])
        .args([
            "--profile",
            "minimal",
            "--component",
            "rust-src",
            "--no-self-update",
        ])
        .env("PATH", &locator.path)
        .env_remove("RUSTUP_TOOLCHAIN");
    if let Some(home) = &locator.rustup_home {
        rustup.env("RUSTUP_HOME", home);
    }
    progress.step(&format!(
        "asking rustup for the kernels' compiler, Rust {channel}"
    ));
    process::run_well(&mut rustup, &PATIENCE, || {})?;
    installed(locator).map_err(|reason| {
        format!("{reason} (`rustup toolchain uninstall {channel}` first, then install it again)")
    })
}

/// What is done instead, with why rustup did not do it.
pub(super) fn and_so(locator: &Locator, instead: &str) -> String {
    if !is_on_path(locator, "rustup") {
        instead.into()
    } else if !locator.may_install {
        format!("rustup is told not to install (RUSTUP_AUTO_INSTALL=0); {instead}")
    } else {
        format!("rustup could not install it; {instead}")
    }
}
