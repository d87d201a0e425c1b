//! The builder: from a kernel crate's path to PTX files.

use crate::arch::Arch;
use crate::error::BuildError;
use crate::packages::Packages;
use crate::toolchain::{Locator, Terminal, Toolchain};
use crate::{cargo, nolink};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The target that rustc compiles kernels for.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// The name of our cargo profile.
const PROFILE: &str = "kernels";

/// Compiles one kernel crate to PTX. See the crate's documentation for an example.
#[derive(Debug, Clone)]
pub struct CudaBuilder {
    path: PathBuf,
    arch: Arch,
    extra_arches: Vec<Arch>,
    copy_to: Option<PathBuf>,
    release: bool,
    line_tables: bool,
    extra_args: Vec<String>,
    features: Vec<String>,
}

/// What a build made.
#[derive(Debug, Clone)]
pub struct BuildOutput {
    /// The PTX of the architecture named by [`CudaBuilder::arch`].
    pub ptx_path: PathBuf,
    /// Every PTX file: that one first, then those of [`CudaBuilder::extra_arch`].
    pub ptx: Vec<Ptx>,
    /// The compiler that made them.
    pub toolchain: Toolchain,
}

/// One PTX file.
#[derive(Debug, Clone)]
pub struct Ptx {
    /// What it was compiled for.
    pub arch: Arch,
    /// Where it is.
    pub path: PathBuf,
}

impl CudaBuilder {
    /// Will compile the crate in the folder `path`, which is relative to the
    /// current folder (for a build script: its package's).
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().into(),
            arch: Arch::new("sm_80"),
            extra_arches: Vec::new(),
            copy_to: None,
            release: true,
            line_tables: true,
            extra_args: Vec::new(),
            features: Vec::new(),
        }
    }

    /// The architecture, `"sm_80"` if nothing is said. PTX runs on that
    /// architecture and on all later ones, except where the name ends in `a`.
    pub fn arch(mut self, name: &str) -> Self {
        self.arch = Arch::new(name);
        self
    }

    /// A further architecture to compile the same crate for. The crate sees
    /// `cfg(target_feature = "sm_90a")`.
    pub fn extra_arch(mut self, name: &str) -> Self {
        self.extra_arches.push(Arch::new(name));
        self
    }

    /// Another PTX version (86 is 8.6) than [`Arch`] has for the architecture named last.
    pub fn ptx_version(mut self, version: u32) -> Self {
        self.extra_arches
            .last_mut()
            .unwrap_or(&mut self.arch)
            .set_ptx_version(version);
        self
    }

    /// Where the PTX is copied: `kernels.ptx`, and `kernels.sm_90a.ptx` beside
    /// it for a further architecture.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().into());
        self
    }

    /// Whether to optimise fully and leave out `debug_assert!` and overflow
    /// checks (the default).
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Whether the PTX names the source line of each instruction (`.loc`; the
    /// default). The code is the same with and without.
    pub fn emit_line_tables(mut self, emit: bool) -> Self {
        self.line_tables = emit;
        self
    }

    /// Further arguments for rustc.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.extra_args
            .extend(args.iter().map(|arg| arg.as_ref().to_string()));
        self
    }

    /// Features of the kernel crate to turn on.
    pub fn features(mut self, features: &[impl AsRef<str>]) -> Self {
        self.features
            .extend(features.iter().map(|feature| feature.as_ref().to_string()));
        self
    }

    /// Builds; on an error prints it and ends the build script, so that cargo
    /// shows rustc's messages and not a panic.
    pub fn build_or_exit(self) -> BuildOutput {
        self.build().unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::exit(1);
        })
    }

    /// Compiles for every architecture.
    ///
    /// In a build script it also tells cargo what to watch.
    ///
    /// # Errors
    ///
    /// No compiler, kernels that do not compile, files that cannot be written.
    pub fn build(self) -> Result<BuildOutput, BuildError> {
        let manifest = self.path.join("Cargo.toml");
        let manifest = manifest
            .canonicalize()
            .map_err(|e| BuildError::io("find the kernel crate's", manifest, e))?;
        let toolchain = Locator::from_env(&self.path)?.ensure(&Terminal::default())?;
        let mut metadata = cargo::command();
        let packages = Packages::of(metadata.env("RUSTC", &toolchain.rustc), &manifest)?;

        let target_dir = cargo::target_dir();
        let ptx_dir = target_dir.join("ptx");
        fs::create_dir_all(&ptx_dir)
            .map_err(|e| BuildError::io("create the folder", &ptx_dir, e))?;
        // Two outer builds (another profile, another checkout with the same
        // target folder) must not take each other's assembly.
        let lock_path = ptx_dir.join("lock");
        let lock = fs::File::create(&lock_path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|e| BuildError::io("lock", lock_path, e))?;

        let nested = Nested {
            builder: &self,
            toolchain: &toolchain,
            packages: &packages,
            manifest,
            target_dir,
        };
        let mut ptx = Vec::new();
        for arch in std::iter::once(&self.arch).chain(&self.extra_arches) {
            let built = nested.compile(arch)?;
            let path = match &self.copy_to {
                None => built,
                Some(copy_to) => {
                    let to = if ptx.is_empty() {
                        copy_to.clone()
                    } else {
                        copy_to.with_extension(format!("{arch}.ptx"))
                    };
                    copy_if_different(&built, &to)?;
                    to
                }
            };
            ptx.push(Ptx {
                arch: arch.clone(),
                path,
            });
        }
        drop(lock);

        if in_build_script() {
            for path in packages.watched() {
                println!("cargo::rerun-if-changed={}", path.display());
            }
            for variable in ["LOCKSTEP_RUSTC", "LOCKSTEP_CACHE"] {
                println!("cargo::rerun-if-env-changed={variable}");
            }
        }
        Ok(BuildOutput {
            ptx_path: ptx[0].path.clone(),
            ptx,
            toolchain,
        })
    }
}

/// One run of the second cargo for each architecture.
struct Nested<'a> {
    builder: &'a CudaBuilder,
    toolchain: &'a Toolchain,
    packages: &'a Packages,
    manifest: PathBuf,
    target_dir: PathBuf,
}

impl Nested<'_> {
    /// Compiles for `arch` and returns where the PTX lies.
    ///
    /// Every architecture has the same file name in cargo's folder, and cargo
    /// does not write the file again where it finds nothing to do. So the PTX
    /// is put aside as soon as it is written; while cargo runs, the previous
    /// one bears another name, so that a build killed in between leaves none
    /// that could be taken for current.
    fn compile(&self, arch: &Arch) -> Result<PathBuf, BuildError> {
        let current = self.target_dir.join("ptx").join(format!(
            "{}.{arch}{}.ptx",
            self.packages.crate_name,
            if self.builder.release { "" } else { ".debug" },
        ));
        let previous = current.with_extension("previous");
        match fs::rename(&current, &previous) {
            Ok(()) => {}
            Err(_) => {
                // Nothing that could be trusted if cargo says "fresh".
                let _ = fs::remove_file(&previous);
            }
        }
        let mut compiled_now = self.run(arch)?;
        if !compiled_now && !previous.exists() {
            self.forget();
            compiled_now = self.run(arch)?;
        }
        if compiled_now {
            let made = self.find_assembly()?;
            fs::copy(&made, &current).map_err(|e| BuildError::io("write", &current, e))?;
            let _ = fs::remove_file(&previous);
        } else {
            fs::rename(&previous, &current).map_err(|e| BuildError::io("write", &current, e))?;
        }
        Ok(current)
    }

    /// Runs cargo; tells whether it compiled the kernel crate (and did not
    /// merely find it up to date).
    fn run(&self, arch: &Arch) -> Result<bool, BuildError> {
        let mut command = self.command(arch)?;
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
                messages.take(&line, &self.packages.name);
            }
        }
        let status = child.wait().map_err(|e| failed(e.to_string()))?;
        let stderr = stderr.join().unwrap_or_default();
        if status.success() {
            messages.show_warnings();
            return Ok(messages.compiled_now);
        }
        if messages.errors.is_empty() {
            return Err(failed(stderr));
        }
        let rendered = format!("{}{}", messages.errors.concat(), stderr.trim_end());
        Err(BuildError::Compile { rendered })
    }

    fn command(&self, arch: &Arch) -> Result<Command, BuildError> {
        let linker = nolink::do_nothing_linker(&self.target_dir)
            .map_err(|e| BuildError::io("write a linker into", &self.target_dir, e))?;
        let message_format = if wants_colour() {
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
            .arg(format!("--profile={PROFILE}"))
            .arg(format!("--message-format={message_format}"))
            .args(cargo::profile(
                PROFILE,
                self.builder.release,
                self.builder.line_tables,
            ))
            .arg("--manifest-path")
            .arg(&self.manifest)
            .arg("--target-dir")
            .arg(&self.target_dir)
            .env("RUSTC", &self.toolchain.rustc)
            // The compiler is a stable one; `-Zbuild-std`, the `ptx-kernel` ABI
            // and `asm!` for this target are not stable yet.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", linker)
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                self.rustflags(arch).join(std::ffi::OsStr::new("\u{1f}")),
            );
        if !self.builder.features.is_empty() {
            command
                .arg("--features")
                .arg(self.builder.features.join(","));
        }
        command
            .arg("--")
            .arg("--emit=asm")
            .args(&self.builder.extra_args);
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

    fn profile_dir(&self) -> PathBuf {
        self.target_dir.join(TARGET).join(PROFILE)
    }

    /// Makes cargo compile the kernel crate again.
    fn forget(&self) {
        let start = format!("{}-", self.packages.name);
        let Ok(entries) = fs::read_dir(self.profile_dir().join(".fingerprint")) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&start) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The newest `<crate>.s`. Where cargo puts it is its own affair, so all
    /// of the profile's folder is searched.
    fn find_assembly(&self) -> Result<PathBuf, BuildError> {
        let wanted = format!("{}.s", self.packages.crate_name);
        let mut newest = None;
        let mut todo = vec![self.profile_dir()];
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
        newest
            .map(|(_, path)| path)
            .ok_or_else(|| BuildError::NoPtx {
                crate_name: self.packages.crate_name.clone(),
                dir: self.profile_dir(),
            })
    }
}

/// What the second cargo said, line by line, in its JSON form.
#[derive(Default)]
struct Messages {
    /// Rendered errors.
    errors: Vec<String>,
    /// Warnings about packages in the workspace: one line, and as rendered.
    warnings: Vec<(String, String)>,
    compiled_now: bool,
}

impl Messages {
    fn take(&mut self, line: &str, package: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return;
        };
        match message["reason"].as_str() {
            Some("compiler-artifact")
                if message["target"]["name"] == package
                    || message["target"]["name"] == package.replace('-', "_") =>
            {
                self.compiled_now |= message["fresh"] == false;
            }
            Some("compiler-message") => {
                let diagnostic = &message["message"];
                let text = diagnostic["message"].as_str().unwrap_or_default();
                let rendered = diagnostic["rendered"].as_str().unwrap_or(text).to_string();
                match diagnostic["level"].as_str() {
                    Some("error" | "error: internal compiler error") => self.errors.push(rendered),
                    Some("warning") if is_about_a_place(diagnostic) => {
                        self.warnings.push((one_line(diagnostic, text), rendered));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn show_warnings(&self) {
        for (line, rendered) in &self.warnings {
            if in_build_script() {
                println!("cargo::warning={line}");
            } else {
                let _ = std::io::stderr().write_all(rendered.as_bytes());
            }
        }
    }
}

/// Warnings about no place in the sources are about our own command line: that
/// PTX versions as target features are unstable, which we know.
fn is_about_a_place(diagnostic: &Value) -> bool {
    diagnostic["spans"]
        .as_array()
        .is_some_and(|spans| !spans.is_empty())
}

fn one_line(diagnostic: &Value, text: &str) -> String {
    let span = &diagnostic["spans"][0];
    let text = text.lines().next().unwrap_or_default();
    match (span["file_name"].as_str(), span["line_start"].as_u64()) {
        (Some(file), Some(line)) => format!("{file}:{line}: {text}"),
        _ => text.to_string(),
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

/// Whether cargo runs us as a build script.
fn in_build_script() -> bool {
    std::env::var_os("OUT_DIR").is_some() && std::env::var_os("CARGO_MANIFEST_DIR").is_some()
}

/// A build script's stderr is never a terminal, so only a spoken wish counts.
fn wants_colour() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR")
        && std::env::var_os("CARGO_TERM_COLOR").is_some_and(|value| value == "always")
}

/// Copies, but leaves an equal file alone: what includes it is then not
/// compiled again.
fn copy_if_different(from: &Path, to: &Path) -> Result<(), BuildError> {
    let new = fs::read(from).map_err(|e| BuildError::io("read", from, e))?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|e| BuildError::io("create the folder", parent, e))?;
    }
    fs::write(to, new).map_err(|e| BuildError::io("write", to, e))
}
