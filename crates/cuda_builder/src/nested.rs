//! One run of the second cargo: a crate in, the PTX of one architecture out.

use crate::arch::Arch;
use crate::error::BuildError;
use crate::messages::{Messages, Warning};
use crate::packages::Packages;
use crate::toolchain::Toolchain;
use crate::{cargo, inlining, launch_bounds, nolink};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The target that rustc compiles kernels for.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// What every architecture's run has in common.
pub(crate) struct Nested<'a> {
    pub toolchain: &'a Toolchain,
    pub packages: &'a Packages,
    pub manifest: &'a Path,
    pub target_dir: &'a Path,
    pub release: bool,
    pub line_tables: bool,
    pub extra_args: &'a [String],
    pub features: &'a [String],
}

/// What a run yields.
pub(crate) struct Compiled {
    pub ptx: String,
    pub warnings: Vec<Warning>,
}

impl Nested<'_> {
    /// Compiles for `arch`.
    pub fn compile(&self, arch: &Arch) -> Result<Compiled, BuildError> {
        let profile = self.profile_name(arch);
        let mut warnings = self.run(arch, &profile)?;
        let assembly = match self.find_assembly(&profile) {
            Some(assembly) => assembly,
            None => {
                // Someone removed it, and cargo did not notice.
                self.forget(&profile);
                warnings = self.run(arch, &profile)?;
                self.find_assembly(&profile)
                    .ok_or_else(|| BuildError::NoPtx {
                        crate_name: self.packages.crate_name.clone(),
                        dir: self.profile_dir(&profile),
                    })?
            }
        };
        let ptx = fs::read_to_string(&assembly).map_err(|e| BuildError::io("read", assembly, e))?;
        Ok(Compiled {
            ptx: launch_bounds::apply(&inlining::apply(&ptx))?,
            warnings,
        })
    }

    /// A profile, and with it a folder, for each set of settings.
    ///
    /// The PTX has the same file name whatever it was compiled for, and cargo
    /// does not write it again where it finds nothing to do: in one folder,
    /// one architecture's could be taken for another's. (Flags alone do not
    /// make cargo keep results apart once `--remap-path-prefix` is among them;
    /// it would compile `core` anew with every change between the two.)
    fn profile_name(&self, arch: &Arch) -> String {
        let mut hasher = DefaultHasher::new();
        (
            self.release,
            self.line_tables,
            self.extra_args,
            self.features,
        )
            .hash(&mut hasher);
        self.rustflags(arch).hash(&mut hasher);
        format!("{arch}-{:08x}", hasher.finish() as u32)
    }

    /// Runs cargo to its end; returns the warnings about the sources.
    fn run(&self, arch: &Arch, profile: &str) -> Result<Vec<Warning>, BuildError> {
        let mut command = self.command(arch, profile)?;
        let failed = |output: String| BuildError::Cargo {
            command: "cargo rustc".into(),
            output,
        };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| {
                failed(format!(
                    "cannot run {}: {e}",
                    command.get_program().display()
                ))
            })?;
        let stderr = read_in_background(&mut child);
        let mut messages = Messages::default();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                messages.take(&line);
            }
        }
        let status = child.wait().map_err(|e| failed(e.to_string()))?;
        let stderr = stderr.join().unwrap_or_default();
        if status.success() {
            return Ok(messages.warnings);
        }
        if messages.errors.is_empty() {
            return Err(failed(stderr));
        }
        let rendered = format!("{}{}", messages.errors.concat(), stderr.trim_end());
        Err(BuildError::Compile { rendered })
    }

    fn command(&self, arch: &Arch, profile: &str) -> Result<Command, BuildError> {
        let linker = nolink::do_nothing_linker(self.target_dir)
            .map_err(|e| BuildError::io("write a linker into", self.target_dir, e))?;
        let format = if wants_colour() {
            "json-diagnostic-rendered-ansi"
        } else {
            "json"
        };
        let mut command = cargo::command();
        command
            .args([
                "rustc",
                "--quiet",
                "--lib",
                "--crate-type=cdylib",
                "-Zbuild-std=core",
            ])
            .arg(format!("--target={TARGET}"))
            .arg(format!("--profile={profile}"))
            .arg(format!("--message-format={format}"))
            .args(cargo::profile(profile, self.release, self.line_tables))
            .arg("--manifest-path")
            .arg(self.manifest)
            .arg("--target-dir")
            .arg(self.target_dir)
            .env("RUSTC", &self.toolchain.rustc)
            // The compiler is a stable one; `-Zbuild-std`, the `ptx-kernel` ABI
            // and `asm!` for this target are not stable yet.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", linker)
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                self.rustflags(arch).join(OsStr::new("\u{1f}")),
            );
        if !self.features.is_empty() {
            command.arg("--features").arg(self.features.join(","));
        }
        command.arg("--").arg("--emit=asm");
        if self.line_tables {
            // Of the kernel crate also which calls were inlined; see `inlining`.
            command.arg("-Cdebuginfo=line-tables-only");
        }
        command.args(self.extra_args);
        Ok(command)
    }

    /// Flags for the kernel crate *and* `core`: functions whose architecture
    /// differs are not inlined into each other.
    fn rustflags(&self, arch: &Arch) -> Vec<OsString> {
        let mut flags: Vec<OsString> = vec![
            format!("-Ctarget-cpu={arch}").into(),
            format!("-Ctarget-feature=+ptx{}", arch.ptx_version()).into(),
        ];
        // Paths in the PTX are the repository's, `core/src/…` and
        // `half-2.7.1/src/…`, on every machine.
        let library = self.toolchain.library();
        let resolved = library.canonicalize().unwrap_or_else(|_| library.clone());
        let mut prefixes = vec![self.packages.workspace_root.clone(), library, resolved];
        prefixes.extend(self.packages.registries.iter().cloned());
        for prefix in prefixes {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(prefix);
            flag.push("=");
            flags.push(flag);
        }
        flags
    }

    fn profile_dir(&self, profile: &str) -> PathBuf {
        self.target_dir.join(TARGET).join(profile)
    }

    /// Makes cargo compile the kernel crate again.
    fn forget(&self, profile: &str) {
        let start = format!("{}-", self.packages.name);
        let fingerprints = self.profile_dir(profile).join(".fingerprint");
        for entry in fs::read_dir(fingerprints).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&start) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The newest `<crate>.s`. Where cargo puts it is its own affair, so all
    /// of the profile's folder is searched.
    fn find_assembly(&self, profile: &str) -> Option<PathBuf> {
        let wanted = format!("{}.s", self.packages.crate_name);
        let mut newest = None;
        let mut todo = vec![self.profile_dir(profile)];
        while let Some(dir) = todo.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    todo.push(path);
                } else if entry.file_name() == *wanted {
                    let modified = entry.metadata().and_then(|data| data.modified()).ok();
                    newest = newest.max(Some((modified, path)));
                }
            }
        }
        newest.map(|(_, path)| path)
    }
}

fn read_in_background(child: &mut Child) -> std::thread::JoinHandle<String> {
    let stderr = child.stderr.take();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A build script's stderr is never a terminal, so only a spoken wish counts.
fn wants_colour() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let always = std::env::var_os("CARGO_TERM_COLOR").is_some_and(|value| value == "always");
    always && !is_set("NO_COLOR")
}
