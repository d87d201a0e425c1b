//! The second cargo, called so that the first one does not disturb it.

use crate::toolchain::Progress;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The target that rustc compiles kernels for.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// Variables of the outer build, or of the user's settings for host code, that would change how
/// kernels are compiled.
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

/// Prefixes of variables that cargo sets for a build script about the package being built.
const ABOUT_THE_OUTER_PACKAGE: &[&str] = &[
    "CARGO_CFG_",
    "CARGO_FEATURE_",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_",
    "DEP_",
];

/// A cargo command without the outer build's settings. The job server (`CARGO_MAKEFLAGS`) stays, so
/// that both together start no more jobs than one alone.
///
/// It runs in the crate's folder, so that cargo's configuration for the crate applies, above all
/// where its registries are.
pub(crate) fn command(manifest: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    if let Some(dir) = manifest.parent() {
        command.current_dir(dir);
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
    // Set, not removed: an empty wrapper also overrules the one in a user's cargo configuration
    // (and `cargo clippy` works through such a wrapper).
    command
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    command
}

/// Runs a cargo command to its end, passing on the lines of its stdout; reports what it waits for,
/// and returns its complaint about the build.
///
/// # Errors
///
/// It cannot be run. The error is a text.
pub(crate) fn run(
    command: &mut Command,
    progress: &dyn Progress,
    mut take: impl FnMut(&str) + Send,
) -> Result<(ExitStatus, String), String> {
    let mut child = command
        // cargo's own output is parsed here; the compiler's gets its colours from the message
        // format.
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_TERM_QUIET", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run {}: {e}", command.get_program().display()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let complaint = std::thread::scope(|scope| {
        scope.spawn(|| lines(stdout).for_each(|line| take(&line)));
        complaint(lines(stderr), progress)
    });
    let status = child.wait().map_err(|e| e.to_string())?;
    Ok((status, complaint))
}

/// The lines of a pipe, even if they are not UTF-8.
fn lines(pipe: Option<impl Read>) -> impl Iterator<Item = String> {
    let lines = pipe.into_iter().flat_map(|pipe| {
        let lines = BufReader::new(pipe).split(b'\n');
        lines.map_while(Result::ok)
    });
    lines.map(|line| String::from_utf8_lossy(&line).into_owned())
}

/// LLVM's words about an operation that a host would call a library for.
const NO_LIBRARY: &str = "unsupported library call";

/// cargo's complaint about the build: its output from the first error on, also of LLVM. What it waits
/// for before that is reported at once.
fn complaint(lines: impl Iterator<Item = String>, progress: &dyn Progress) -> String {
    let mut all = String::new();
    let mut error = None;
    for line in lines {
        if let Some(what) = line.trim_start().strip_prefix("Blocking waiting for ") {
            progress.note(&format!("another cargo is running; waiting for its {what}"));
        }
        if line.starts_with("error") || line.contains("LLVM ERROR") {
            error.get_or_insert(all.len());
        }
        all += &line;
        all.push('\n');
        if line.contains(NO_LIBRARY) {
            all += "help: the device's compiler has no code for an operation that is used, and does \
                    not say where: mostly a conversion between a 128-bit integer and a float, such as \
                    `u128 as f64`, or one in a function of `core` that is called\n";
        }
    }
    all.split_off(error.unwrap_or(0))
}

/// Settings for `core` where kernels are optimised. LLVM optimises what they use of it together with
/// them; to do that before takes a third of its time, and the PTX is the same. What rustc itself does
/// is in each function that is generic or inlined, and is done.
pub(crate) const CORE: [(&str, &str); 2] = [
    ("opt-level", "0"),
    ("rustflags", "[\"-Zmir-opt-level=2\", \"-Zinline-mir=yes\"]"),
];

/// Arguments for the profile that kernels are compiled with.
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
        // `.loc` lines and nothing else: the code is the same either way.
        ("debug", debug.to_string()),
        ("strip", "false".to_string()),
        ("incremental", "false".to_string()),
        // Else each has the debug information of `std`: 10 MB for a few lines.
        ("build-override.strip", "\"debuginfo\"".to_string()),
        ("debug-assertions", (!optimised).to_string()),
        ("overflow-checks", (!optimised).to_string()),
    ];
    let settings = settings.map(|(key, value)| format!("profile.{name}.{key}={value}"));
    let core = CORE.iter().filter(|_| optimised);
    let core = core.map(|(key, value)| format!("profile.{name}.package.core.{key}={value}"));
    let settings = settings.into_iter().chain(core);
    let settings = settings.flat_map(|setting| ["--config".into(), setting.into()]);
    [OsString::from("-Zprofile-rustflags")]
        .into_iter()
        .chain(settings)
        .collect()
}

/// Arguments that give the result of the build script of the package with this `links`: cargo then
/// compiles neither the script nor what it depends on, this crate among others.
pub(crate) fn without_build_script(links: Option<&str>) -> Vec<OsString> {
    let result = |links| format!("target.{TARGET}.{links}.rustc-link-lib=[]");
    let setting = links.map(|links| ["--config".into(), result(links).into()]);
    setting.into_iter().flatten().collect()
}

/// Arguments that have these packages compiled without the standard library.
pub(crate) fn without_std(profile: &str, packages: &[String]) -> Vec<OsString> {
    let flags = "[\"-Zcrate-attr=no_std\"]";
    let of = |package| format!("profile.{profile}.package.\"{package}\".rustflags={flags}");
    packages
        .iter()
        .flat_map(|package| ["--config".into(), of(package).into()])
        .collect()
}

/// The folder that the second cargo builds in: `lockstep-kernels` next to the outer build's own
/// folders, so that all of its profiles share it and `cargo clean` removes it. It is not the outer
/// folder itself, which is locked while a build script runs.
pub(crate) fn target_dir() -> PathBuf {
    let Some(out_dir) = std::env::var_os("OUT_DIR").map(PathBuf::from) else {
        return std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(std::env::temp_dir, PathBuf::from)
            .join(FOLDER);
    };
    target_dir_above(&out_dir).join(FOLDER)
}

/// The target folder that contains a build script's `OUT_DIR`, such as
/// `target/debug/build/app-0123/out`; cargo marks the target folders that it made.
fn target_dir_above(out_dir: &Path) -> &Path {
    let is_marked = |dir: &&Path| dir.join("CACHEDIR.TAG").exists();
    let by_place = || {
        let build = out_dir.ancestors().nth(2)?;
        build.ends_with("build").then(|| build.ancestors().nth(2))?
    };
    let marked = out_dir.ancestors().skip(1).find(is_marked);
    marked.or_else(by_place).unwrap_or(out_dir)
}

pub(crate) const FOLDER: &str = "lockstep-kernels";

/// An existing path, absolute and without links. On Windows links are not resolved: that would put
/// `\\?\` before the path, which cargo and rustc do not write.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    if cfg!(windows) {
        path.metadata()?;
        return std::path::absolute(path);
    }
    path.canonicalize()
}

/// Whether cargo is running us as a build script.
pub(crate) fn in_build_script() -> bool {
    let is_set = |name| std::env::var_os(name).is_some();
    is_set("OUT_DIR") && is_set("CARGO_MANIFEST_DIR") && is_set("NUM_JOBS")
}

/// Whether the second cargo runs the build script, because the package contains its own kernels.
pub(crate) fn is_second() -> bool {
    in_build_script()
        && std::env::var_os("CARGO_CFG_TARGET_ARCH").is_some_and(|arch| arch == "nvptx64")
}

#[cfg(test)]
mod tests {
    use super::{run, target_dir_above};
    use crate::toolchain::Lines;
    use std::fs;
    use std::process::Command;

    #[test]
    #[cfg(unix)]
    fn an_error_of_llvm_is_told() {
        let says = "printf 'rustc-LLVM ERROR: unsupported library call operation\\nerror: could not\\n' >&2";
        let ran = run(
            Command::new("sh").args(["-c", says]),
            &Lines::new(Vec::new()),
            |_| {},
        );
        let (_, complaint) = ran.unwrap();
        assert!(complaint.starts_with("rustc-LLVM ERROR"), "{complaint}");
        assert!(complaint.contains("`u128 as f64`"), "{complaint}");
    }

    #[test]
    #[cfg(unix)]
    fn what_cargo_waits_for_is_told_and_is_no_complaint() {
        let says = "\
            echo '    Blocking waiting for file lock on package cache' >&2
            echo '   Compiling core v0.0.0' >&2
            echo message; echo another
            printf 'error: could not compile\\n  caused by\\n' >&2
            exit 101";
        let (mut told, mut taken) = (Vec::new(), Vec::new());
        let progress = Lines::new(&mut told);
        let take = |line: &str| taken.push(line.to_owned());
        let ran = run(Command::new("sh").args(["-c", says]), &progress, take);
        let (status, complaint) = ran.unwrap();
        assert_eq!(status.code(), Some(101));
        assert_eq!(taken, ["message", "another"]);
        assert_eq!(complaint, "error: could not compile\n  caused by\n");
        let waits = "another cargo is running; waiting for its file lock on package cache\n";
        assert_eq!(
            String::from_utf8(told).unwrap(),
            format!("lockstep: {waits}")
        );
    }

    #[test]
    fn the_target_folder_is_known_by_its_mark_or_its_place() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("target");
        let out = target.join("aarch64-unknown-linux-gnu/debug/build/app-0123/out");
        fs::create_dir_all(&out).unwrap();
        assert_eq!(target_dir_above(&out), out.ancestors().nth(4).unwrap());
        fs::write(target.join("CACHEDIR.TAG"), "").unwrap();
        assert_eq!(target_dir_above(&out), target);
        let elsewhere = root.path().join("out");
        assert_eq!(target_dir_above(&elsewhere), elsewhere);
    }
}
