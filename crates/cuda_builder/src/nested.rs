//! One run of the second cargo: a crate in, the PTX of one architecture out.

use crate::arch::Arch;
use crate::built_core::BuiltCore;
use crate::cargo::TARGET;
use crate::copies::Copies;
use crate::debug_info::DebugInfo;
use crate::error::BuildError;
use crate::messages::{Messages, Warning};
use crate::packages::Packages;
use crate::toolchain::{Progress, Toolchain};
use crate::{capabilities, cargo, debug_info, dep_info, inlining, local_memory, nolink, requests};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a kernel crate would otherwise have to state: that it does without the standard library,
/// and which unstable features of the language it uses. A crate that states it anyway compiles too.
/// Of its dependencies, some are given the first ([`crate::helpers`]).
const FOR_KERNELS: [&str; 5] = [
    "-Zcrate-attr=no_std",
    "-Zcrate-attr=feature(abi_ptx, asm_experimental_arch)",
    "-Aduplicate_features",
    "-Aunused_attributes",
    "-Aunused_features",
];

/// What keeps addresses right. To take constants out of indices, LLVM 22 has a pass that computes a
/// pointer minus a negated condition (`p.wrapping_sub(!c as usize)`) wrongly: branchless merges have
/// that, and so have the sorts of `core`.
const RIGHT_ADDRESSES: &str = "-Cllvm-args=-disable-separate-const-offset-from-gep";

/// What keeps arrays in registers: an array is in local memory while one of its indices is computed.
/// LLVM turns a loop's index into constants only if the unrolled loop has few enough instructions,
/// 300 by default. So that a long loop over ordinary memory stays a loop, there is also a limit to
/// how often one is repeated. `for x in [a, b]` moves the array into an iterator, which LLVM can take
/// apart only if rustc has inlined its `next` before: rustc's own limit of 100 is just short of it.
/// An adapter around such an iterator, in a loop of run-time length, would also need rustc's jump
/// threading. That is off for GPUs because it duplicates barriers, and must stay off.
const ARRAYS_IN_REGISTERS: [&str; 3] = [
    "-Cllvm-args=-unroll-threshold=4000",
    "-Cllvm-args=-unroll-full-max-count=128",
    "-Zinline-mir-hint-threshold=110",
];

/// What the runs for all architectures have in common.
pub(crate) struct Nested<'a> {
    pub toolchain: &'a Toolchain,
    pub packages: &'a Packages,
    pub manifest: &'a Path,
    pub target_dir: &'a Path,
    /// Where `core` is kept for other projects.
    pub core_cache: &'a Path,
    pub release: bool,
    pub debug: DebugInfo,
    pub extra_args: &'a [String],
    /// The architecture whose LLVM IR is written, and the file for it.
    pub llvm_ir: Option<(&'a Arch, &'a Path)>,
    pub features: &'a Features,
}

/// The features of the kernel crate that are on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Features {
    /// Whether the crate's default features are off.
    pub no_default: bool,
    /// Features by name.
    pub named: Vec<String>,
}

impl Features {
    /// Distinguishes what is compiled with different features; part of a file's name.
    fn tag(&self) -> String {
        let mut tag = if self.no_default { "" } else { "default" }.to_owned();
        for name in &self.named {
            if !tag.is_empty() {
                tag.push('+');
            }
            tag.push_str(name);
        }
        tag.replace('/', "-")
    }
}

/// The result of a run.
pub(crate) struct Compiled {
    pub ptx: String,
    pub warnings: Vec<Warning>,
    /// The sources that it was made from, in this crate and in other folders.
    pub sources: Vec<PathBuf>,
    /// The root of the other copy of the workspace that the target folder was last used for.
    pub other_copy: Option<PathBuf>,
}

impl Nested<'_> {
    /// Compiles for `arch`.
    pub fn compile(&self, arch: &Arch, progress: &dyn Progress) -> Result<Compiled, BuildError> {
        let profile = self.profile_name(arch);
        // cargo releases its own lock before the PTX is read.
        let _lock = lock(&self.target_dir.join(format!("{profile}.lock")), progress)?;
        let assembly = self.assembly(&profile);
        let core = BuiltCore {
            cache: self.core_cache,
            target_dir: self.target_dir,
            profile: &profile,
            target: TARGET,
        };
        core.lay_out();
        let other_copy = self.take_over(&profile, progress)?;
        let mut warnings = self.run(arch, &profile, &assembly, progress)?;
        core.keep();
        let no_ptx = || BuildError::NoPtx {
            crate_name: self.packages.crate_name.clone(),
            dir: self.profile_dir(&profile),
        };
        let sources = self.sources(&profile).ok_or_else(no_ptx)?;
        if !assembly.exists() {
            return Err(no_ptx());
        }
        let ptx = fs::read_to_string(&assembly).map_err(|e| BuildError::io("read", assembly, e))?;
        let compiled = self.packages.own_paths_relative(&ptx);
        let ptx = inlining::apply(&compiled);
        if self.release {
            let owner = |file: &str| self.packages.owner(file);
            let findings = local_memory::find(&ptx, owner).into_iter();
            warnings.extend(findings.map(|finding| finding.warning()));
        }
        let ptx = requests::apply(&ptx)?;
        Ok(Compiled {
            ptx: match self.debug {
                DebugInfo::Full => debug_info::keep(&ptx, &compiled),
                DebugInfo::LineTables | DebugInfo::None => ptx,
            },
            warnings,
            sources,
            other_copy,
        })
    }

    /// Has cargo forget what it compiled here of another copy of the workspace; returns that copy's
    /// root.
    fn take_over(
        &self,
        profile: &str,
        progress: &dyn Progress,
    ) -> Result<Option<PathBuf>, BuildError> {
        let note = self.target_dir.join(format!("{profile}.copies"));
        let copies = Copies::read(&note);
        let mut other_copy = None;
        if let Some((root, packages)) = copies.other(self.packages) {
            other_copy = Some(root.to_path_buf());
            let mut command = self.cargo("clean", profile);
            command.args(packages.iter().flat_map(|package| ["--package", package]));
            let failed = |output: String| BuildError::Cargo {
                command: "cargo clean".into(),
                output,
            };
            let (status, complaint) = cargo::run(&mut command, progress, |_| {}).map_err(failed)?;
            if !status.success() {
                return Err(failed(complaint));
            }
        }
        copies
            .claim(self.packages, &note)
            .map_err(|e| BuildError::io("write", note, e))?;
        Ok(other_copy)
    }

    /// A profile, and with it a folder, for each set of settings except the features.
    ///
    /// Flags alone do not make cargo keep results apart if `--remap-path-prefix` is among them: it
    /// would recompile `core` at every switch between two sets.
    fn profile_name(&self, arch: &Arch) -> String {
        let mut hasher = DefaultHasher::new();
        (self.release, self.line_tables(), cargo::CORE).hash(&mut hasher);
        self.rustflags(arch).hash(&mut hasher);
        format!("{arch}-{:08x}", hasher.finish() as u32)
    }

    /// Whether the PTX names source lines. The crates that kernels depend on are compiled for that
    /// alone, even where the kernels' variables are described too: they are then not compiled again.
    fn line_tables(&self) -> bool {
        self.debug != DebugInfo::None
    }

    /// Where rustc writes the PTX: under a separate name for each set of features, and for each
    /// crate of that name if projects share a target folder.
    fn assembly(&self, profile: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.manifest.hash(&mut hasher);
        let (name, place) = (&self.packages.crate_name, hasher.finish() as u32);
        // cargo does not make it again when the flags change back.
        let debug = match self.debug {
            DebugInfo::Full => ".debug",
            DebugInfo::LineTables | DebugInfo::None => "",
        };
        let name = format!("{name}.{}.{place:08x}{debug}.s", self.features.tag());
        self.profile_dir(profile).join(name)
    }

    /// The flag that makes rustc write something there. A comma would end the flag, so the path
    /// starts where cargo runs rustc, if possible.
    fn emit(&self, what: &str, path: &Path) -> Result<OsString, BuildError> {
        let root = &self.packages.workspace_root;
        let path = path.strip_prefix(root).unwrap_or(path);
        if path.as_os_str().to_string_lossy().contains(',') {
            let why = "rustc accepts no path with a comma; set CARGO_TARGET_DIR to another folder";
            return Err(BuildError::io("write", path, io::Error::other(why)));
        }
        let mut emit = OsString::from(format!("--emit={what}="));
        emit.push(path);
        Ok(emit)
    }

    /// The files that the PTX was made from, according to cargo's note of its last run; `None` if
    /// there is no note.
    fn sources(&self, profile: &str) -> Option<Vec<PathBuf>> {
        let note = format!("{}.d", self.packages.crate_name);
        let note = fs::read_to_string(self.profile_dir(profile).join(note)).ok()?;
        // What a build script makes there depends on the other listed files.
        let is_made = |path: &PathBuf| path.starts_with(self.target_dir);
        // cargo may be configured to name them relative to the workspace's root.
        let root = &self.packages.workspace_root;
        let sources = dep_info::sources(&note).into_iter();
        let sources = sources.map(|path| root.join(path));
        Some(sources.filter(|path| !is_made(path)).collect())
    }

    /// Runs cargo to its end, reporting what it waits for.
    fn run(
        &self,
        arch: &Arch,
        profile: &str,
        assembly: &Path,
        progress: &dyn Progress,
    ) -> Result<Vec<Warning>, BuildError> {
        let mut command = self.command(arch, profile, assembly)?;
        let failed = |output: String| BuildError::Cargo {
            command: "cargo rustc".into(),
            output,
        };
        let mut messages = Messages::new(
            wants_colour(),
            &self.packages.helpers,
            &self.packages.host_only,
        );
        let (status, complaint) =
            cargo::run(&mut command, progress, |line| messages.take(line)).map_err(failed)?;
        if status.success() {
            return Ok(messages.warnings);
        }
        if messages.errors.is_empty() {
            return Err(failed(complaint));
        }
        let rendered = format!("{}{}", messages.rendered(), complaint.trim_end());
        Err(BuildError::Compile {
            rendered,
            errors: messages.errors,
        })
    }

    fn command(&self, arch: &Arch, profile: &str, assembly: &Path) -> Result<Command, BuildError> {
        let linker = nolink::do_nothing_linker(self.target_dir)
            .map_err(|e| BuildError::io("write a linker into", self.target_dir, e))?;
        let mut command = self.cargo("rustc", profile);
        command
            .args(["--lib", "--crate-type=cdylib", "-Zbuild-std=core"])
            .arg("--message-format=json-diagnostic-rendered-ansi")
            .args(cargo::without_std(profile, &self.packages.helpers))
            .env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", linker)
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                self.rustflags(arch).join(OsStr::new("\u{1f}")),
            );
        if self.features.no_default {
            command.arg("--no-default-features");
        }
        if !self.features.named.is_empty() {
            command.arg("--features").arg(self.features.named.join(","));
        }
        command
            .arg("--")
            .arg(self.emit("asm", assembly)?)
            .args(FOR_KERNELS)
            .arg(RIGHT_ADDRESSES)
            .args(ARRAYS_IN_REGISTERS)
            .args(capabilities::target_features(arch));
        if let Some((_, path)) = self.llvm_ir.filter(|(of, _)| *of == arch) {
            command.arg(self.emit("llvm-ir", path)?);
        }
        if self.features.no_default {
            // What one part of the crate leaves unused, others may use.
            command.args(["-Adead_code", "-Aunused_imports", "-Aunused_macros"]);
        }
        if self.line_tables() {
            // For the kernel crate, also which calls were inlined; see `inlining`.
            command.arg("-Zverbose-asm");
            command.arg(match self.debug {
                DebugInfo::Full => "-Cdebuginfo=full",
                DebugInfo::LineTables | DebugInfo::None => "-Cdebuginfo=line-tables-only",
            });
            // What a macro of the crate expands to belongs to the line that uses the macro.
            command.arg("-Ccollapse-macro-debuginfo=yes");
        }
        command.args(self.extra_args);
        Ok(command)
    }

    /// A command of cargo for what it compiles here with this profile.
    fn cargo(&self, name: &str, profile: &str) -> Command {
        let mut command = cargo::command(self.manifest);
        command
            .arg(name)
            .arg(format!("--target={TARGET}"))
            .arg(format!("--profile={profile}"))
            .args(cargo::profile(profile, self.release, self.line_tables()))
            .args(cargo::without_build_script(self.packages.links.as_deref()))
            .arg("--manifest-path")
            .arg(self.manifest)
            .arg("--target-dir")
            .arg(self.target_dir)
            // A user's setting may split the folder.
            .env("CARGO_BUILD_BUILD_DIR", self.target_dir)
            .env("RUSTC", &self.toolchain.rustc)
            // The compiler is a stable one; `-Zbuild-std`, the `ptx-kernel` ABI
            // and `asm!` for this target are not stable yet.
            .env("RUSTC_BOOTSTRAP", "1");
        command
    }

    /// Flags for the kernel crate *and* `core`: functions with different architectures are not
    /// inlined into each other.
    fn rustflags(&self, arch: &Arch) -> Vec<OsString> {
        let mut flags: Vec<OsString> = vec![
            format!("-Ctarget-cpu={arch}").into(),
            format!("-Ctarget-feature=+ptx{}", arch.ptx_version()).into(),
        ];
        // Paths in the PTX are `core/src/…` and `half-2.7.1/src/…` on every machine. The
        // workspace's own are cut afterwards (`Packages::own_paths_relative`): a flag that names
        // its folder would recompile `core` in every copy of it.
        let library = self.toolchain.library();
        let resolved = library.canonicalize().unwrap_or_else(|_| library.clone());
        let mut prefixes = vec![library, resolved];
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
}

/// Waits until no other process holds the lock in this file, and says so if one does.
pub(crate) fn lock(path: &Path, progress: &dyn Progress) -> Result<File, BuildError> {
    let failed = |e| BuildError::io("lock", path, e);
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir).map_err(|e| BuildError::io("create the folder", dir, e))?;
    let file = File::create(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress.note("another process is compiling kernels here; waiting for it");
            file.lock().map_err(failed)?;
        }
        Err(TryLockError::Error(e)) => return Err(failed(e)),
    }
    Ok(file)
}

/// A build script's stderr is never a terminal, so only an explicit request counts there.
fn wants_colour() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let always = std::env::var_os("CARGO_TERM_COLOR").is_some_and(|value| value == "always");
    (always || std::io::stderr().is_terminal()) && !is_set("NO_COLOR")
}

#[cfg(test)]
mod tests {
    use super::lock;
    use crate::toolchain::Progress;
    use std::sync::mpsc::{Sender, channel};

    /// Passes every note on.
    struct Told(Sender<String>);

    impl Progress for Told {
        fn step(&self, text: &str) {
            self.0.send(text.to_owned()).unwrap();
        }

        fn bytes(&self, _: u64, _: u64) {}
    }

    #[test]
    fn who_waits_for_a_lock_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/sm_90.lock");
        let (sender, told) = channel();
        let held = lock(&path, &Told(sender.clone())).unwrap();
        assert!(told.try_recv().is_err(), "nothing was waited for");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| lock(&path, &Told(sender)).map(drop));
            assert!(told.recv().unwrap().contains("waiting for it"));
            drop(held);
            second.join().unwrap().unwrap();
        });
    }
}
