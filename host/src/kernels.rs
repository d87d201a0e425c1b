//! The kernels' PTX, topic by topic: compiled on demand, or read from a bundle.

use crate::home::{Home, NoHome, home};
use cuda_builder::toolchain::{Lines, Progress, Quiet};
use cuda_builder::{Arch, BuildError, DebugInfo, KernelCrate};
use lesson::Registered;
use lesson::registry::BASE_SM;
use lockstep::engine::{EngineError, PtxModule};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// The architectures that kernels are compiled for: everything since Ampere, and Hopper
/// with its own features. An engine looks for a kernel in this order.
pub const ARCHES: [&str; 2] = ["sm_80", "sm_90a"];

/// The reason why there are no kernels.
#[derive(Debug, thiserror::Error)]
pub enum KernelsError {
    /// There is no folder with kernels.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// They do not compile, or cannot be compiled here.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An engine's module is not available.
    #[error(transparent)]
    Module(#[from] EngineError),
}

/// Whether kernels are being compiled while others run, whose progress is shown.
static IS_AHEAD: AtomicBool = AtomicBool::new(false);

/// The crate `gpu-kernels` of a checkout, and its modules' texts.
struct Workshop {
    kernels: Arc<KernelCrate>,
}

impl Workshop {
    /// The workshop of the checkout with this root.
    fn open(root: &std::path::Path, debug: DebugInfo) -> Result<Self, BuildError> {
        let target = cuda_builder::target_dir_of(root);
        let kernels = KernelCrate::open(root.join("gpu-kernels"), target)?.debug(debug);
        Ok(Self {
            kernels: Arc::new(kernels),
        })
    }

    fn module(&self, topic: &str, arch: &'static str) -> PtxModule {
        let (kernels, own) = (self.kernels.clone(), topic.to_owned());
        PtxModule::deferred(topic, arch, move || {
            let lines = Lines::new(std::io::stderr());
            let progress: &dyn Progress = match IS_AHEAD.load(Ordering::Relaxed) {
                true => &Quiet,
                false => &lines,
            };
            let path = kernels
                .ptx(Some(&own), &Arch::new(arch), progress)
                .map_err(|error| error.to_string())?;
            read(path)
        })
    }

    /// Whether it has compiled a module, perhaps from older sources.
    fn has_compiled(&self, module: &PtxModule) -> bool {
        let arch = module.target_name().map(Arch::new);
        arch.is_some_and(|arch| self.kernels.place(module.topic(), &arch).exists())
    }
}

fn read(path: PathBuf) -> Result<String, String> {
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// One module per topic and architecture, in the order in which an engine looks for an
/// entry. Each is compiled, or read, when its text is first needed.
///
/// # Errors
///
/// There is no folder with kernels.
pub fn modules() -> Result<Vec<PtxModule>, KernelsError> {
    static MODULES: OnceLock<Vec<PtxModule>> = OnceLock::new();
    if let Some(modules) = MODULES.get() {
        return Ok(modules.clone());
    }
    let modules = match home()? {
        Home::Checkout { root } => {
            let workshop = Workshop::open(root, DebugInfo::LineTables)?;
            of_each(workshop.kernels.modules(), |topic, arch| {
                workshop.module(topic, arch)
            })
        }
        Home::Bundle { dir, mark } => of_each(&mark.topics, |topic, arch| {
            let path = dir.join("ptx").join(format!("{topic}.{arch}.ptx"));
            PtxModule::deferred(topic, arch, move || read(path.clone()))
        }),
    };
    let sources = home()?.source("");
    let modules = modules
        .into_iter()
        .map(|module| module.with_sources(&sources))
        .collect();
    Ok(MODULES.get_or_init(|| modules).clone())
}

fn of_each(topics: &[String], module: impl Fn(&str, &'static str) -> PtxModule) -> Vec<PtxModule> {
    ARCHES
        .iter()
        .flat_map(|arch| topics.iter().map(|topic| module(topic, arch)))
        .collect()
}

/// The same; the modules that these kernels need on the simulator are compiled now, so that an
/// error shows before any of them runs.
///
/// # Errors
///
/// As [`modules`], and kernels that do not compile.
pub fn modules_for(selected: &[Registered]) -> Result<Vec<PtxModule>, KernelsError> {
    let modules = modules()?;
    compile(&wanted(&modules, selected))?;
    Ok(modules)
}

/// As [`modules_for`], but of modules that were never compiled here only the first kernel's are waited
/// for: the others are compiled while it and those after it run.
///
/// # Errors
///
/// As [`modules_for`].
pub fn compile_ahead(selected: &[Registered]) -> Result<Ahead, KernelsError> {
    let modules = modules()?;
    let workshop = match home()? {
        Home::Checkout { root } => Some(Workshop::open(root, DebugInfo::LineTables)?),
        Home::Bundle { .. } => None,
    };
    let first = wanted(&modules, selected.get(..1).unwrap_or_default());
    let is_new = |module: &PtxModule| {
        let is_first = first.iter().any(|first| first.id() == module.id());
        let workshop = workshop.as_ref();
        !is_first && workshop.is_some_and(|workshop| !workshop.has_compiled(module))
    };
    let wanted = wanted(&modules, selected).into_iter();
    let (later, now): (Vec<_>, Vec<_>) = wanted.partition(is_new);
    compile(&now)?;
    IS_AHEAD.store(!later.is_empty(), Ordering::Relaxed);
    let thread = std::thread::spawn(move || compile(&later));
    Ok(Ahead { thread })
}

/// Modules that are being compiled.
pub struct Ahead {
    thread: JoinHandle<Result<(), KernelsError>>,
}

impl Ahead {
    /// Waits for the modules.
    ///
    /// # Errors
    ///
    /// Kernels that do not compile.
    pub fn end(self) -> Result<(), KernelsError> {
        joined(self.thread.join())
    }
}

fn joined<T>(result: std::thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The modules that kernels need on the simulator.
fn wanted(modules: &[PtxModule], selected: &[Registered]) -> Vec<PtxModule> {
    let wanted: BTreeSet<(&str, u32)> = selected
        .iter()
        .filter_map(|registered| Some((registered.kernel.topic?, registered.kernel.min_sm)))
        .collect();
    let is_wanted = |module: &&PtxModule| {
        let sm = module.target().map_or(0, |(sm, _)| sm);
        let is_least = |min_sm: u32| match min_sm {
            ..=BASE_SM => sm == BASE_SM,
            _ => sm >= min_sm,
        };
        let mut wanted = wanted.iter();
        wanted.any(|&(topic, min_sm)| module.topic() == Some(topic) && is_least(min_sm))
    };
    modules.iter().filter(is_wanted).cloned().collect()
}

/// Compiles modules: in parallel for the architectures. For one of them, cargo would only wait for
/// itself.
fn compile(modules: &[PtxModule]) -> Result<(), KernelsError> {
    std::thread::scope(|scope| {
        let of_arch = |arch: &'static str| {
            move || {
                let mut of_arch = modules
                    .iter()
                    .filter(|module| module.target_name() == Some(arch));
                of_arch.try_for_each(|module| module.text().map(drop))
            }
        };
        let threads = ARCHES.map(|arch| scope.spawn(of_arch(arch)));
        let mut results = threads.into_iter().map(|thread| joined(thread.join()));
        results.try_for_each(|result| result)
    })?;
    Ok(())
}

/// The first of the modules that has the kernel, in the engine's order; a module whose text
/// is not available has no kernels.
pub fn with_entry(modules: &[PtxModule], registered: Registered) -> Option<&PtxModule> {
    let kernel = registered.kernel;
    modules.iter().find(|module| {
        let is_candidate = module.topic().is_none() || module.topic() == kernel.topic;
        is_candidate && module.names(kernel.id)
    })
}

/// The module of a kernel with the source's variables, for a debugger; in a bundle, the one that is
/// there.
///
/// # Errors
///
/// As [`module_with`].
pub fn module_for_debugging(
    registered: Registered,
    arch: Option<&str>,
) -> Result<PtxModule, KernelsError> {
    let kernel = registered.kernel;
    let (Home::Checkout { root }, Some(topic)) = (home()?, kernel.topic) else {
        return module_with(kernel.id, arch);
    };
    let least = usize::from(kernel.min_sm > BASE_SM);
    let named = ARCHES.into_iter().find(|known| arch == Some(known));
    let workshop = Workshop::open(root, DebugInfo::Full)?;
    let module = workshop.module(topic, named.unwrap_or(ARCHES[least]));
    let module = module.with_sources(home()?.source(""));
    // An error of the compilation is reported, not passed over.
    module.text()?;
    Ok(module)
}

/// The module that has the kernel of this name, for an architecture or the first that
/// has it.
///
/// # Errors
///
/// Those of [`modules_for`]; or no module has it.
pub fn module_with(entry: &str, arch: Option<&str>) -> Result<PtxModule, KernelsError> {
    let topic = crate::registry::kernels()
        .find(|registered| registered.kernel.id == entry)
        .and_then(|registered| registered.kernel.topic);
    for module in modules()? {
        let is_candidate = (topic.is_none() || module.topic() == topic)
            && arch.is_none_or(|arch| module.target_name() == Some(arch));
        if !is_candidate {
            continue;
        }
        // A compilation error is reported, not skipped.
        module.text()?;
        if module.names(entry) {
            return Ok(module);
        }
    }
    let modules = match arch {
        Some(arch) => format!("the kernels for {arch}"),
        None => "the kernels".to_owned(),
    };
    Err(KernelsError::Module(EngineError::NoSuchKernel {
        kernel: entry.to_owned(),
        modules,
    }))
}
