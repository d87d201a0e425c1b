//! The builder: from a kernel crate's path to PTX files.

use crate::arch::Arch;
use crate::debug_info::DebugInfo;
use crate::error::BuildError;
use crate::nested::{Compiled, Features, Nested};
use crate::output::{self, BuildOutput, Ptx};
use crate::packages::Packages;
use crate::toolchain::{Locator, PINNED, Progress, Terminal, Toolchain};
use crate::{cargo, messages};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Compiles one kernel crate to PTX. See the crate's documentation for an example.
#[derive(Debug, Clone)]
pub struct CudaBuilder {
    path: PathBuf,
    arch: Arch,
    extra_arches: Vec<Arch>,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    exported_as: String,
    channel: String,
    release: bool,
    pub(crate) debug: DebugInfo,
    extra_args: Vec<String>,
    llvm_ir: Option<PathBuf>,
    features: Features,
}

impl CudaBuilder {
    /// A builder for the crate in the folder `path`, which is relative to the current folder (for a
    /// build script: its package's).
    ///
    /// The path may be `"."`: a package whose library holds the kernels, and whose program launches
    /// them.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().into(),
            arch: Arch::new("sm_80"),
            extra_arches: Vec::new(),
            copy_to: None,
            target_dir: None,
            exported_as: output::VARIABLE.into(),
            channel: PINNED.into(),
            release: true,
            debug: DebugInfo::LineTables,
            extra_args: Vec::new(),
            llvm_ir: None,
            features: Features::default(),
        }
    }

    /// The architecture, `"sm_80"` by default. PTX runs on that architecture and on all later ones,
    /// unless the name ends in `a`.
    pub fn arch(mut self, arch: impl Into<Arch>) -> Self {
        self.arch = arch.into();
        self
    }

    /// A further architecture to compile the same crate for. The crate sees
    /// `cfg(target_feature = "sm_90a")`.
    pub fn extra_arch(mut self, name: &str) -> Self {
        self.extra_arches.push(Arch::new(name));
        self
    }

    /// Replaces the PTX version that [`Arch`] has for the architecture named last (86 is 8.6).
    pub fn ptx_version(mut self, version: u32) -> Self {
        self.extra_arches
            .last_mut()
            .unwrap_or(&mut self.arch)
            .set_ptx_version(version);
        self
    }

    /// The environment variable that gives the application the PTX's path, if this is a build
    /// script; `KERNELS_PTX` by default:
    ///
    /// ```ignore
    /// const PTX: &str = include_str!(env!("KERNELS_PTX"));
    /// ```
    ///
    /// The PTX of [`CudaBuilder::extra_arch`] is in `KERNELS_PTX_SM_90A`.
    pub fn export_as(mut self, variable: &str) -> Self {
        self.exported_as = variable.into();
        self
    }

    /// Another release of Rust than [`PINNED`], as rustup names it: `"1.98.0"`.
    ///
    /// It is a preference: `LOCKSTEP_RUSTC` overrides it, and if rustup cannot install it, the
    /// distribution's packages are used in whichever release they have.
    pub fn toolchain(mut self, channel: &str) -> Self {
        self.channel = channel.into();
        self
    }

    /// Where to write the PTX: `kernels.ptx`, and `kernels.sm_90a.ptx` next to it for a further
    /// architecture. A build script does not need this: the PTX goes to `OUT_DIR`, and the
    /// application gets its path ([`CudaBuilder::export_as`]).
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().into());
        self
    }

    /// The folder that the second cargo builds in. A build script does not need to name one;
    /// elsewhere, the default is in the system's temporary folder.
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().into());
        self
    }

    /// Whether to optimise fully and leave out `debug_assert!` and overflow
    /// checks (the default).
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Whether the PTX names the source line of each instruction (`.loc`; the default). The code is
    /// the same either way.
    pub fn emit_line_tables(mut self, emit: bool) -> Self {
        self.debug = match emit {
            true => DebugInfo::LineTables,
            false => DebugInfo::None,
        };
        self
    }

    /// Further arguments for rustc, which override the builder's own.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.extra_args
            .extend(args.iter().map(|arg| arg.as_ref().to_string()));
        self
    }

    /// A file for the LLVM IR, after all optimisations, that the PTX of the architecture named by
    /// [`CudaBuilder::arch`] is made from; Rust-CUDA's name.
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        self.llvm_ir = Some(std::path::absolute(path).unwrap_or_else(|_| path.into()));
        self
    }

    /// Features of the kernel crate to turn on.
    pub fn features(mut self, features: &[impl AsRef<str>]) -> Self {
        self.features
            .named
            .extend(features.iter().map(|feature| feature.as_ref().to_string()));
        self
    }

    /// Turns the kernel crate's default features off.
    pub fn no_default_features(mut self) -> Self {
        self.features.no_default = true;
        self
    }

    /// Builds; on an error, ends the build script.
    ///
    /// If the kernels do not compile, the script ends *without* an error, and the compilation of
    /// its package fails instead, with the errors of the device's compiler at their places in the
    /// source: that way editors show them too. It fails wherever `#[kernel]` or
    /// `lockstep::kernels!` is used or the PTX is included, otherwise when it is linked. With
    /// [`CudaBuilder::copy_to`], and for all other errors, the script prints the error and fails.
    pub fn build_or_exit(self) -> BuildOutput {
        let progress = Terminal::default();
        let built = self.set_up(&progress).and_then(|setup| {
            self.build_in(&setup, &progress).or_else(|error| {
                if self.leave(&error, &setup)? {
                    std::process::exit(0);
                }
                Err(error)
            })
        });
        built.unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::exit(1);
        })
    }

    /// Leaves the kernels' errors for the package's compilation, if there will be one.
    fn leave(&self, error: &BuildError, setup: &Setup) -> Result<bool, BuildError> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let (Some(out_dir), Some(package), BuildError::Compile { errors, .. }) =
            (variable("OUT_DIR"), variable("CARGO_MANIFEST_DIR"), error)
        else {
            return Ok(false);
        };
        if !cargo::in_build_script() || self.copy_to.is_some() {
            return Ok(false);
        }
        let is_own = cargo::canonical(&package.join("Cargo.toml"))
            .is_ok_and(|manifest| manifest == setup.manifest);
        let root = &setup.packages.workspace_root;
        let left = errors.leave(
            &out_dir,
            &self.exported_as,
            is_own.then_some(&setup.packages.crate_name),
            (!package.starts_with(root)).then_some(root),
        );
        left.map_err(|e| BuildError::io("write the kernels' errors into", out_dir, e))?;
        Ok(true)
    }

    /// Compiles for every architecture.
    ///
    /// In a build script it also tells cargo what to watch, and the application where the
    /// PTX is.
    ///
    /// If a package compiles its own kernels, its build script runs a second time, in the second
    /// cargo. There is no PTX yet then, so an empty file takes its place.
    ///
    /// # Errors
    ///
    /// There is no compiler, the kernels do not compile, or files cannot be written.
    pub fn build(self) -> Result<BuildOutput, BuildError> {
        let progress = Terminal::default();
        let setup = self.set_up(&progress)?;
        self.build_in(&setup, &progress)
    }

    fn build_in(
        &self,
        setup: &Setup,
        progress: &(dyn Progress + Sync),
    ) -> Result<BuildOutput, BuildError> {
        let is_second = cargo::is_second();
        let compiled = match is_second {
            true => Vec::new(),
            false => self
                .compile(setup, progress)
                .inspect_err(|_| self.forget_ptx(setup))?,
        };
        let mut ptx = Vec::new();
        for (index, arch) in self.arches().enumerate() {
            let path = self.ptx_path(arch, index == 0, setup);
            let text = compiled.get(index).map_or("", |compiled| &compiled.ptx);
            if !is_second || !path.exists() {
                write_if_different(&path, text)?;
            }
            let arch = arch.clone();
            ptx.push(Ptx { arch, path });
        }
        let warnings: Vec<_> = compiled.iter().flat_map(|c| c.warnings.clone()).collect();
        messages::show(&warnings);
        if cargo::in_build_script() {
            warn_of_other_copy(&setup.packages, &compiled);
            let sources = compiled.into_iter().flat_map(|compiled| compiled.sources);
            watch(setup.packages.watched().into_iter().chain(sources));
            output::export(&self.exported_as, &setup.packages, &ptx);
        }
        Ok(BuildOutput {
            ptx_path: ptx[0].path.clone(),
            ptx,
            toolchain: setup.toolchain.clone(),
        })
    }

    /// Removes the PTX of an earlier build, unless the user chose its place.
    fn forget_ptx(&self, setup: &Setup) {
        for (index, arch) in self.arches().enumerate() {
            if self.copy_to.is_none() {
                let _ = fs::remove_file(self.ptx_path(arch, index == 0, setup));
            }
        }
    }

    fn arches(&self) -> impl Iterator<Item = &Arch> {
        std::iter::once(&self.arch).chain(&self.extra_arches)
    }

    fn compile(
        &self,
        setup: &Setup,
        progress: &(dyn Progress + Sync),
    ) -> Result<Vec<Compiled>, BuildError> {
        let nested = setup.nested(self, &self.features);
        // Most of a cold build is `core`, which keeps one processor busy per architecture: in
        // parallel they take as long as one.
        std::thread::scope(|scope| {
            let nested = &nested;
            let threads: Vec<_> = self
                .arches()
                .map(|arch| scope.spawn(move || nested.compile(arch, progress)))
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        })
    }

    /// Determines what every run of the second cargo needs, and fetches the compiler.
    pub(crate) fn set_up(&self, progress: &dyn Progress) -> Result<Setup, BuildError> {
        let manifest = self.path.join("Cargo.toml");
        let manifest = cargo::canonical(&manifest)
            .map_err(|e| BuildError::io("find the kernel crate's manifest", manifest, e))?;
        let mut locator = Locator::from_env()?;
        locator.channel.clone_from(&self.channel);
        let toolchain = locator.ensure(progress)?;
        let mut metadata = cargo::command(&manifest);
        let packages = Packages::of(metadata.env("RUSTC", &toolchain.rustc), &manifest, progress)?;
        if packages.crate_name.is_empty() {
            return Err(BuildError::NoLibrary { manifest });
        }
        let target_dir = self.target_dir.clone().unwrap_or_else(cargo::target_dir);
        Ok(Setup {
            core_cache: locator.cache_dir.join("core"),
            toolchain,
            packages,
            manifest,
            target_dir,
        })
    }

    fn ptx_path(&self, arch: &Arch, is_first: bool, setup: &Setup) -> PathBuf {
        match &self.copy_to {
            Some(path) if is_first => path.clone(),
            Some(path) => path.with_extension(format!("{arch}.ptx")),
            None => {
                let out_dir = std::env::var_os("OUT_DIR").filter(|_| self.target_dir.is_none());
                let dir = out_dir.map_or_else(|| setup.target_dir.clone(), PathBuf::from);
                dir.join(format!("{}.{arch}.ptx", setup.packages.crate_name))
            }
        }
    }
}

/// What all runs of the second cargo for a crate have in common.
#[derive(Debug)]
pub(crate) struct Setup {
    core_cache: PathBuf,
    pub toolchain: Toolchain,
    pub packages: Packages,
    pub manifest: PathBuf,
    pub target_dir: PathBuf,
}

impl Setup {
    /// Runs with these settings.
    pub fn nested<'a>(&'a self, builder: &'a CudaBuilder, features: &'a Features) -> Nested<'a> {
        Nested {
            toolchain: &self.toolchain,
            packages: &self.packages,
            manifest: &self.manifest,
            target_dir: &self.target_dir,
            core_cache: &self.core_cache,
            release: builder.release,
            debug: builder.debug,
            extra_args: &builder.extra_args,
            llvm_ir: builder.llvm_ir.as_deref().map(|path| (&builder.arch, path)),
            features,
        }
    }
}

/// Warns if the target folder has served another copy of the workspace with other sources: cargo may
/// keep the libraries that it made of them for the host, except the build script's own package.
fn warn_of_other_copy(packages: &Packages, compiled: &[Compiled]) {
    let root = &packages.workspace_root;
    let is_own = |source: &Path| own_package().is_some_and(|own| source.starts_with(own));
    for compiled in compiled {
        let Some(other) = &compiled.other_copy else {
            continue;
        };
        let is_equal = |file: &Path| {
            let read = |root: &Path| fs::read(root.join(file)).ok();
            read(other) == read(root)
        };
        let sources = compiled.sources.iter().filter(|source| !is_own(source));
        let files = sources.filter_map(|source| source.strip_prefix(root).ok());
        let differing: Vec<_> = files
            .filter(|file| !is_equal(file))
            .map(|file| file.display().to_string())
            .collect();
        if !differing.is_empty() {
            println!(
                "cargo::warning=this target folder was last used for {}, which differs in {}: the \
                 kernels are compiled again, but cargo may keep the other copy's code for the \
                 host; touch these files, or set cargo's `build.build-dir` so that every copy has \
                 its own folder",
                other.display(),
                differing.join(", ")
            );
            return;
        }
    }
}

/// The folder of the package whose build script this is.
fn own_package() -> Option<PathBuf> {
    std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)
}

/// Tells cargo which changes to rerun the build script for.
///
/// Among the paths is one in the build script's own package: to cargo such a path is another one in
/// another copy of the package, so that a target folder that copies share is not taken as it is.
fn watch(paths: impl Iterator<Item = PathBuf>) {
    let own = own_package().map(|dir| dir.join("Cargo.toml"));
    let paths: BTreeSet<PathBuf> = paths.chain(own).collect();
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    for variable in ["LOCKSTEP_RUSTC", "LOCKSTEP_CACHE"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
}

/// Writes a file unless it is already equal, so that what includes it is not compiled again.
pub(crate) fn write_if_different(path: &Path, text: &str) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| BuildError::io("create the folder", parent, e))?;
    }
    fs::write(path, text).map_err(|e| BuildError::io("write", path, e))
}
