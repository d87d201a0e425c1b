//! A kernel crate that is compiled in parts, each when it is needed.
//!
//! A single PTX module for a whole catalogue would be recompiled for every changed line. So a crate
//! may name its parts, by cargo's own means: every feature listed in its `default` feature is a
//! *module*, compiled with that feature alone. The host, which compiles the crate as it is, sees
//! all of them.
//!
//! ```toml
//! [features]
//! default = ["copy", "transpose"]
//! copy = []
//! transpose = []
//! ```
//!
//! It may also name further arguments for rustc ([`CudaBuilder::build_args`]):
//!
//! ```toml
//! [package.metadata.cuda]
//! build-args = ["-Cdebug-assertions"]
//! ```
//!
//! What was compiled is kept, with a record of its inputs.
//!
//! Left out: finding out which module has a kernel. Whoever launches the kernel knows.

use crate::builder::{CudaBuilder, Setup, write_if_different};
use crate::debug_info::DebugInfo;
use crate::error::BuildError;
use crate::nested::{self, Features};
use crate::record::{self, Record};
use crate::toolchain::Progress;
use crate::{Arch, cargo, messages};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

/// A kernel crate that is compiled in parts.
#[derive(Debug)]
pub struct KernelCrate {
    /// The crate's folder.
    dir: PathBuf,
    /// Where everything made from it goes.
    target_dir: PathBuf,
    name: String,
    modules: Vec<String>,
    build_args: Vec<String>,
    debug: DebugInfo,
    setup: OnceLock<Setup>,
    setting_up: Mutex<()>,
}

impl KernelCrate {
    /// The crate in the folder `dir`; what is made from it goes to `target_dir`.
    ///
    /// # Errors
    ///
    /// There is no crate, or its manifest cannot be read.
    pub fn open(dir: impl AsRef<Path>, target_dir: impl AsRef<Path>) -> Result<Self, BuildError> {
        let dir = dir.as_ref();
        let dir =
            cargo::canonical(dir).map_err(|e| BuildError::io("find the kernel crate", dir, e))?;
        let path = dir.join("Cargo.toml");
        let text = fs::read_to_string(&path).map_err(|e| BuildError::io("read", &path, e))?;
        let manifest: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            BuildError::io("read", &path, std::io::Error::other(e.to_string()))
        })?;
        let name_in = |table: &str| manifest.get(table).and_then(|table| table.get("name"));
        let name = name_in("lib").or_else(|| name_in("package"));
        let modules = manifest.get("features").and_then(|f| f.get("default"));
        let metadata = manifest.get("package").and_then(|p| p.get("metadata"));
        let build_args = metadata.and_then(|m| m.get("cuda")?.get("build-args"));
        let texts = |list: Option<&toml::Value>| -> Vec<String> {
            let list = list.and_then(toml::Value::as_array).into_iter().flatten();
            list.filter_map(|text| text.as_str().map(str::to_owned))
                .collect()
        };
        Ok(Self {
            name: name
                .and_then(toml::Value::as_str)
                .unwrap_or_default()
                .replace('-', "_"),
            modules: texts(modules),
            build_args: texts(build_args),
            debug: DebugInfo::LineTables,
            dir,
            target_dir: target_dir.as_ref().into(),
            setup: OnceLock::new(),
            setting_up: Mutex::new(()),
        })
    }

    /// What the PTX says about sources; by default [`DebugInfo::LineTables`]. Each kind is kept in
    /// files of its own.
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.debug = debug;
        self
    }

    /// Its modules, in the manifest's order; none if it is compiled as a whole.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }

    /// Where the PTX of one module, or of the whole crate, is kept for an architecture, current or
    /// not, once it has been compiled.
    pub fn place(&self, module: Option<&str>, arch: &Arch) -> PathBuf {
        self.files(module, arch).ptx
    }

    /// The PTX of one module, or of the whole crate, for an architecture; compiled if its inputs
    /// have changed.
    ///
    /// Only one process at a time compiles for an architecture; others wait for it.
    ///
    /// # Errors
    ///
    /// There is no compiler, the kernels do not compile, or files cannot be written.
    pub fn ptx(
        &self,
        module: Option<&str>,
        arch: &Arch,
        progress: &dyn Progress,
    ) -> Result<PathBuf, BuildError> {
        let files = self.files(module, arch);
        let settings = self.settings(arch);
        if files.are_current(&settings, &self.dir) {
            return Ok(files.ptx);
        }
        let lock = nested::lock(&files.lock, progress)?;
        // Another process may have made it in the meantime.
        if files.are_current(&settings, &self.dir) {
            return Ok(files.ptx);
        }
        self.compile(module, arch, progress, &settings, &files)?;
        drop(lock);
        Ok(files.ptx)
    }

    fn compile(
        &self,
        module: Option<&str>,
        arch: &Arch,
        progress: &dyn Progress,
        settings: &str,
        files: &Files,
    ) -> Result<(), BuildError> {
        let setup = self.set_up(progress)?;
        progress.step(&format!(
            "compiling {} for {arch}",
            module.unwrap_or("the kernels")
        ));
        let features = Features {
            no_default: module.is_some(),
            named: module.into_iter().map(str::to_owned).collect(),
        };
        let started = SystemTime::now();
        let builder = self.builder();
        let compiled = setup.nested(&builder, &features).compile(arch, progress)?;
        messages::show(&compiled.warnings);
        let inputs = setup.packages.files().chain(compiled.sources);
        let record = Record::of(settings.into(), &self.dir, inputs, started);
        // While the PTX is being written there is no record, whatever happens.
        let _ = fs::remove_file(&files.record);
        write_if_different(&files.ptx, &compiled.ptx)?;
        record
            .write(&files.record)
            .map_err(|e| BuildError::io("write", &files.record, e))
    }

    fn builder(&self) -> CudaBuilder {
        CudaBuilder::new(&self.dir)
            .target_dir(&self.target_dir)
            .build_args(&self.build_args)
            .debug(self.debug)
    }

    /// Called once per process, and only when something is to be compiled.
    fn set_up(&self, progress: &dyn Progress) -> Result<&Setup, BuildError> {
        let _one_at_a_time = self.setting_up.lock();
        if let Some(setup) = self.setup.get() {
            return Ok(setup);
        }
        let setup = self.builder().set_up(progress)?;
        Ok(self.setup.get_or_init(|| setup))
    }

    /// What PTX depends on besides files.
    fn settings(&self, arch: &Arch) -> String {
        let named = std::env::var_os("LOCKSTEP_RUSTC").unwrap_or_default();
        record::settings(&format!(
            "{arch}, PTX {}, compiler {}, {:?}, {:?}",
            arch.ptx_version(),
            named.display(),
            self.build_args,
            self.debug
        ))
    }

    fn files(&self, module: Option<&str>, arch: &Arch) -> Files {
        let debug = match self.debug {
            DebugInfo::LineTables => "",
            DebugInfo::None => ".plain",
            DebugInfo::Full => ".debug",
        };
        let name = match module {
            Some(module) => format!("{}.{module}.{arch}{debug}", self.name),
            None => format!("{}.{arch}{debug}", self.name),
        };
        // A crate that shares the target folder with another copy of it has its own place there,
        // the same one after both were moved together.
        let mut hasher = DefaultHasher::new();
        record::relative(&self.dir, &self.target_dir).hash(&mut hasher);
        let place = format!("{:08x}", hasher.finish() as u32);
        let dir = self.target_dir.join("ptx").join(place);
        Files {
            ptx: dir.join(format!("{name}.ptx")),
            record: dir.join(format!("{name}.json")),
            lock: dir.join(format!("{arch}.lock")),
        }
    }
}

/// Where a module's PTX is kept.
struct Files {
    ptx: PathBuf,
    record: PathBuf,
    /// Held by the process that compiles for the architecture.
    lock: PathBuf,
}

impl Files {
    fn are_current(&self, settings: &str, crate_dir: &Path) -> bool {
        self.ptx.exists()
            && Record::read(&self.record).is_some_and(|record| record.holds(settings, crate_dir))
    }
}

/// The folder for what is made from the kernels of the workspace with this root: next to what cargo
/// makes there.
pub fn target_dir_of(workspace: &Path) -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty());
    let target = set.map_or_else(|| "target".into(), PathBuf::from);
    workspace.join(target).join(cargo::FOLDER)
}
