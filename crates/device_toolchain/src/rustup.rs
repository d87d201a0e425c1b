//! The pinned toolchain in rustup.

use crate::error::NO_RUSTUP;
use crate::{Locator, Progress, Source, Toolchain, process};
use std::process::Command;
use std::time::Duration;

/// The toolchain, if it is installed with `rust-src`.
///
/// Reads rustup's folders rather than asking rustup, which might install something.
///
/// # Errors
///
/// The missing part.
pub(crate) fn installed(locator: &Locator) -> Result<Toolchain, String> {
    let channel = &locator.channel;
    let home = locator.rustup_home.as_ref();
    let toolchains = home.ok_or("there is no home folder")?.join("toolchains");
    let start = format!("{channel}-");
    let rustc = format!("bin/rustc{}", std::env::consts::EXE_SUFFIX);
    let mut reason = format!("toolchain {channel} is not installed");
    for entry in std::fs::read_dir(toolchains)
        .into_iter()
        .flatten()
        .flatten()
    {
        if entry.file_name().to_string_lossy().starts_with(&start) {
            match Toolchain::probe(&entry.path().join(&rustc), Source::Rustup) {
                Ok(toolchain) => return Ok(toolchain),
                Err(why) => reason = format!("toolchain {channel} cannot be used: {why}"),
            }
        }
    }
    Err(reason)
}

/// Checks that rustup could be asked.
pub(crate) fn is_usable(locator: &Locator) -> Result<(), String> {
    if !locator.has("rustup") {
        Err(NO_RUSTUP.into())
    } else if !locator.may_install {
        Err("it may not install toolchains (RUSTUP_AUTO_INSTALL=0)".into())
    } else {
        Ok(())
    }
}

/// Asks rustup to install it.
///
/// # Errors
///
/// The reason why it is not there afterwards.
pub(crate) fn install(locator: &Locator, progress: &dyn Progress) -> Result<Toolchain, String> {
    let missing = match installed(locator) {
        Ok(toolchain) => return Ok(toolchain),
        Err(reason) => reason,
    };
    is_usable(locator).map_err(|reason| match &*reason {
        NO_RUSTUP => reason,
        _ => format!("{missing}, and {}", reason.replacen("it", "rustup", 1)),
    })?;
    let channel = &locator.channel;
    let mut rustup = Command::new("rustup");
    rustup
        .args(["toolchain", "install", channel, "--profile", "minimal"])
        .args(["--component", "rust-src", "--no-self-update"])
        .env("PATH", &locator.path)
        // If no server answers, packages are the alternative, and should not have to wait long.
        .env("RUSTUP_MAX_RETRIES", "1")
        .env_remove("RUSTUP_TOOLCHAIN");
    if let Some(home) = &locator.rustup_home {
        rustup.env("RUSTUP_HOME", home);
    }
    progress.step(&format!(
        "asking rustup for the kernels' compiler, Rust {channel}"
    ));
    process::run(&mut rustup, Duration::from_secs(900), || {})?;
    installed(locator).map_err(|reason| {
        format!("{reason} (`rustup toolchain uninstall {channel}` first, then install it again)")
    })
}

/// The alternative, with the reason why rustup did not do it.
pub(crate) fn and_so(locator: &Locator, instead: &str) -> String {
    match is_usable(locator) {
        Ok(()) => format!("rustup could not install it; {instead}"),
        Err(reason) if reason == NO_RUSTUP => instead.into(),
        Err(reason) => format!("{}; {instead}", reason.replacen("it", "rustup", 1)),
    }
}
