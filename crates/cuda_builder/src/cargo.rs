//! The second cargo: how it is called so that the first one does not disturb it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables by which the outer build, or the user's habits for host code,
/// would change how kernels are compiled.
const NOT_FOR_KERNELS: &[&str] = &[
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "RUSTC_LINKER",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
];

/// Beginnings of variables that cargo sets for a build script about the package
/// being built.
const ABOUT_THE_OUTER_PACKAGE: &[&str] = &[
    "CARGO_CFG_",
    "CARGO_FEATURE_",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_",
    "DEP_",
];

/// A cargo command without the outer build's settings. The job server
/// (`CARGO_MAKEFLAGS`) stays, so that both together start no more jobs than one.
///
/// It runs above the crate of that manifest: where rustup chooses the toolchain by the
/// folder, cargo is the host's and not the one that the crate's own
/// `rust-toolchain.toml` names, which need not be installed.
pub(crate) fn command(manifest: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    if let Some(above) = manifest.parent().and_then(Path::parent) {
        command.current_dir(above);
    }
    for variable in NOT_FOR_KERNELS {
        command.env_remove(variable);
    }
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if ABOUT_THE_OUTER_PACKAGE
            .iter()
            .any(|start| name_text.starts_with(start))
        {
            command.env_remove(&name);
        }
    }
    // Set, not removed: an empty wrapper also overrules the one in a user's
    // cargo configuration (and `cargo clippy` works by such a wrapper).
    command
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    command
}

/// `--config` arguments for the profile that kernels are compiled with.
pub(crate) fn profile(name: &str, optimised: bool, line_tables: bool) -> Vec<OsString> {
    let debug = if line_tables {
        "\"line-directives-only\""
    } else {
        "0"
    };
    let settings = [
        ("inherits", "\"release\"".to_string()),
        ("opt-level", if optimised { "3" } else { "1" }.to_string()),
        // With fat LTO the assembly of the crate is the whole program.
        ("lto", "\"fat\"".to_string()),
        ("codegen-units", "1".to_string()),
        ("panic", "\"abort\"".to_string()),
        // `.loc` lines and nothing else: the code is the same with and without.
        ("debug", debug.to_string()),
        ("strip", "false".to_string()),
        ("incremental", "false".to_string()),
        ("debug-assertions", (!optimised).to_string()),
        ("overflow-checks", (!optimised).to_string()),
    ];
    settings
        .into_iter()
        .flat_map(|(key, value)| {
            [
                "--config".into(),
                format!("profile.{name}.{key}={value}").into(),
            ]
        })
        .collect()
}

/// The folder for what the second cargo builds: `lockstep-kernels` beside the
/// outer build's own folders, so that all of its profiles share it and `cargo
/// clean` removes it. It is not the outer folder itself, which is locked while
/// a build script runs.
pub(crate) fn target_dir() -> PathBuf {
    let Some(out_dir) = std::env::var_os("OUT_DIR").map(PathBuf::from) else {
        return std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(std::env::temp_dir, PathBuf::from)
            .join(FOLDER);
    };
    out_dir
        .ancestors()
        .skip(1)
        .find(|dir| dir.join("CACHEDIR.TAG").exists())
        .map_or_else(|| out_dir.join(FOLDER), |target| target.join(FOLDER))
}

pub(crate) const FOLDER: &str = "lockstep-kernels";

/// Whether cargo runs us as a build script.
pub(crate) fn in_build_script() -> bool {
    let is_set = |name| std::env::var_os(name).is_some();
    is_set("OUT_DIR") && is_set("CARGO_MANIFEST_DIR") && is_set("NUM_JOBS")
}
