//! Checks of the compilers, and of the folder where one is kept.

use super::check::Check;
use crate::workspace;
use cuda_builder::CudaBuilder;
use cuda_builder::toolchain::{Locator, Toolchain, ToolchainError};
use indicatif::HumanBytes;
use std::path::PathBuf;
use std::process::Command;

pub(super) fn checks(deep: bool) -> Vec<Check> {
    let mut checks = vec![host()];
    let locator = match Locator::from_env() {
        Ok(locator) => locator,
        Err(error) => {
            checks.push(unknown(&error));
            return checks;
        }
    };
    let found = locator.locate();
    let toolchain = match found {
        Ok(Some(toolchain)) => {
            checks.extend(device(&toolchain));
            Some(toolchain)
        }
        Ok(None) => {
            checks.push(to_be_fetched(&locator));
            None
        }
        Err(error) => {
            let detail = error.to_string();
            checks.push(Check::missing(
                DEVICE,
                detail.lines().next().unwrap_or_default(),
                "unset LOCKSTEP_RUSTC, or set it to a rustc 1.97 or newer with rust-src",
            ));
            None
        }
    };
    let serves = checks.iter().any(|check| check.name == "rust-src");
    checks.push(if serves {
        cache_in_use(&locator)
    } else {
        cache_to_fill(&locator)
    });
    if deep {
        match toolchain {
            Some(_) => checks.push(compile()),
            None => checks.push(Check::absent(
                "compile a kernel",
                "not tried: there is no compiler yet",
                "cargo xtask run-all    # fetches it",
            )),
        }
    }
    checks
}

/// The name of the check of the kernels' compiler.
pub(super) const DEVICE: &str = "device compiler";

const CURE_CACHE: &str = "export LOCKSTEP_CACHE=/some/writable/folder";

/// The places to look in are not known.
fn unknown(error: &ToolchainError) -> Check {
    let detail = error.to_string();
    let cure = match error {
        ToolchainError::RelativeCache { absolute, .. } => {
            format!("export LOCKSTEP_CACHE='{}'", absolute.display())
        }
        _ => CURE_CACHE.into(),
    };
    Check::missing(DEVICE, detail.lines().next().unwrap_or_default(), cure)
}

fn host() -> Check {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("--version")
        .current_dir(workspace::root())
        .output();
    match output {
        Ok(output) if output.status.success() => Check::ok(
            "host compiler",
            String::from_utf8_lossy(&output.stdout).trim(),
        ),
        _ => Check::missing(
            "host compiler",
            "rustc does not run in this repository",
            "rustup toolchain install    # in this folder: reads rust-toolchain.toml",
        ),
    }
}

fn device(toolchain: &Toolchain) -> [Check; 2] {
    let Toolchain {
        release, source, ..
    } = toolchain;
    [
        Check::ok(
            DEVICE,
            format!("rustc {release}, {source}: {}", toolchain.rustc.display()),
        ),
        Check::ok("rust-src", toolchain.library().display().to_string()),
    ]
}

fn to_be_fetched(locator: &Locator) -> Check {
    match locator.prospect() {
        Ok(way) => Check::absent(
            DEVICE,
            format!("not installed yet; {way}"),
            "cargo xtask run-all    # the first run fetches it",
        ),
        Err(reasons) => Check::missing(
            DEVICE,
            format!("not installed, and it cannot be fetched:\n{reasons}"),
            format!(
                "rustup toolchain install {} --profile minimal --component rust-src\n\
                 export LOCKSTEP_RUSTC=/path/to/rustc    # or: 1.97 or newer, with rust-src",
                locator.channel
            ),
        ),
    }
}

/// Nothing has to be fetched, so nothing can be wrong with it.
fn cache_in_use(locator: &Locator) -> Check {
    let dir = locator.cache_dir.display();
    let detail = match locator.room() {
        Ok(room) => format!("{dir}, {} free", HumanBytes(room.free)),
        Err(_) => format!("{dir}; it cannot be written to, and need not be"),
    };
    Check::ok("cache folder", detail)
}

/// The compiler will be fetched into it.
fn cache_to_fill(locator: &Locator) -> Check {
    let (name, dir) = ("cache folder", locator.cache_dir.display());
    match locator.room() {
        Ok(room) if room.is_enough() || locator.asks_rustup() => {
            Check::ok(name, format!("{dir}, {} free", HumanBytes(room.free)))
        }
        Ok(room) => Check::missing(
            name,
            format!("{dir}: {room}"),
            format!("free some space there, or\n{CURE_CACHE}"),
        ),
        Err(error) => {
            let detail = error.to_string();
            Check::missing(name, detail.lines().next().unwrap_or_default(), CURE_CACHE)
        }
    }
}

/// Compiles a kernel that depends on nothing but `core`.
fn compile() -> Check {
    let name = "compile a kernel";
    match try_to_compile() {
        Ok(n_lines) => Check::ok(name, format!("{n_lines} lines of PTX")),
        Err(error) => Check::missing(
            name,
            format!("{error:#}"),
            "remove the cache folder and run `cargo xtask doctor --deep` again",
        ),
    }
}

fn try_to_compile() -> anyhow::Result<usize> {
    let dir = tempfile::tempdir()?;
    let write = |file: &str, text: &str| -> std::io::Result<PathBuf> {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(dir.path()))?;
        std::fs::write(&path, text)?;
        Ok(path)
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"doctor\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    )?;
    write("src/lib.rs", KERNEL)?;
    let built = CudaBuilder::new(dir.path())
        .target_dir(dir.path().join("target"))
        .build()?;
    let ptx = std::fs::read_to_string(&built.ptx_path)?;
    anyhow::ensure!(
        ptx.contains(".entry write_index"),
        "the PTX has no kernel in it"
    );
    Ok(ptx.lines().count())
}

const KERNEL: &str = "\
#![feature(stdarch_nvptx)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}
#[unsafe(no_mangle)]
pub unsafe extern \"ptx-kernel\" fn write_index(out: *mut u32) {
    let index = unsafe { core::arch::nvptx::_thread_idx_x() } as usize;
    unsafe { *out.add(index) = index as u32 };
}
";
