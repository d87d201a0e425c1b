//! Typed launches: a kernel's marker type, a geometry and arguments that fit.

use super::config::LaunchConfig;
use super::module::{ModuleId, PtxModule};
use super::{EngineError, Place};
use cuda_std::launch::{Kernel, KernelArgs, LaunchBounds, ParamValue, SafeKernel};
use cuda_std::view::Geometry;
use std::borrow::Cow;

/// The topic of a kernel written in `module_path`: the module directly below the crate.
pub const fn topic_of(module_path: &'static str) -> Option<&'static str> {
    let of_crate = until_colon(module_path).len();
    if of_crate == module_path.len() {
        return None;
    }
    let (_, below) = module_path.split_at(of_crate + "::".len());
    Some(until_colon(below))
}

const fn until_colon(path: &'static str) -> &'static str {
    let mut length = 0;
    while length < path.len() && path.as_bytes()[length] != b':' {
        length += 1;
    }
    path.split_at(length).0
}

/// A launch that follows CUDA's rules, ready to be made any number of times.
#[derive(Clone, Debug)]
pub struct Prepared {
    entry: Cow<'static, str>,
    /// The kernel's topic, if known.
    topic: Option<&'static str>,
    /// The only module to search for the kernel, if there is one.
    module: Option<ModuleId>,
    config: LaunchConfig,
    params: Vec<ParamValue>,
    uses_pdl: bool,
    is_cooperative: bool,
}

impl Prepared {
    /// A launch of the kernel `K`.
    ///
    /// # Safety
    ///
    /// `args` must satisfy the kernel's own `# Safety` section every time the launch is made: live
    /// device memory of the length it uses.
    ///
    /// # Errors
    ///
    /// [`EngineError::Refused`] when `config` breaks a rule of CUDA or the
    /// kernel's launch bounds.
    pub unsafe fn of<K: Kernel>(config: LaunchConfig, args: K::Args) -> Result<Self, EngineError> {
        let mut params = Vec::new();
        args.push_params(&mut |param| params.push(param));
        let prepared = Self::checked(K::NAME.into(), config, params, K::LAUNCH_BOUNDS)?;
        Ok(Self {
            topic: topic_of(K::MODULE_PATH),
            uses_pdl: K::USES_PDL,
            is_cooperative: K::IS_COOPERATIVE,
            ..prepared
        })
    }

    /// A launch of the safe kernel `K` on an engine with this memory ([`Engine::memory`](super::Engine::memory)), if its
    /// geometry and its buffers fit.
    ///
    /// # Safety
    ///
    /// It is made only while the borrows of `views` last, and ends before they do.
    ///
    /// # Errors
    ///
    /// As [`Prepared::of`]; a buffer is shorter than the other arguments say, or the geometry
    /// would have threads share an element.
    pub unsafe fn admitted<K: SafeKernel>(
        config: LaunchConfig,
        memory: u64,
        views: K::Views<'_>,
    ) -> Result<Self, EngineError> {
        let geometry = Geometry {
            grid: config.grid,
            block: config.block,
        };
        let args = K::admit(geometry, memory, views).map_err(|unfit| EngineError::Refused {
            place: Place::of(K::NAME, config),
            reason: unfit.to_string(),
        })?;
        // SAFETY: the arguments are what `admit` returned for this geometry; the caller promises
        // the rest.
        unsafe { Self::of::<K>(config, args) }
    }

    /// A launch of the entry `entry`, for PTX that has no marker types.
    ///
    /// # Safety
    ///
    /// As [`Prepared::of`], and `params` must be those of the entry.
    ///
    /// # Errors
    ///
    /// As [`Prepared::of`].
    pub unsafe fn by_name(
        entry: impl Into<Cow<'static, str>>,
        config: LaunchConfig,
        params: Vec<ParamValue>,
    ) -> Result<Self, EngineError> {
        Self::checked(entry.into(), config, params, None)
    }

    fn checked(
        entry: Cow<'static, str>,
        config: LaunchConfig,
        params: Vec<ParamValue>,
        bounds: Option<LaunchBounds>,
    ) -> Result<Self, EngineError> {
        let prepared = Self {
            entry,
            topic: None,
            module: None,
            config,
            params,
            uses_pdl: false,
            is_cooperative: false,
        };
        match config.broken_rule(bounds) {
            Some(reason) => Err(EngineError::Refused {
                place: prepared.place(),
                reason,
            }),
            None => Ok(prepared),
        }
    }

    /// Name of the PTX entry.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The kernel's topic, if known.
    pub fn topic(&self) -> Option<&'static str> {
        self.topic
    }

    /// The same launch, but only of the kernel in this module.
    #[must_use]
    pub fn in_module(self, module: &PtxModule) -> Self {
        Self {
            module: Some(module.id()),
            ..self
        }
    }

    /// The only module to search for the kernel, if there is one.
    pub fn module(&self) -> Option<ModuleId> {
        self.module
    }

    /// Its geometry.
    pub fn config(&self) -> LaunchConfig {
        self.config
    }

    /// Its parameters, as the PTX entry declares them.
    pub fn params(&self) -> &[ParamValue] {
        &self.params
    }

    /// Whether it may start before the previous launch in the stream has finished.
    pub fn uses_pdl(&self) -> bool {
        self.uses_pdl
    }

    /// Whether its blocks may wait for each other, and must therefore be resident at once.
    pub fn is_cooperative(&self) -> bool {
        self.is_cooperative
    }

    /// The same launch on other memory: `to` maps each address to its place there.
    ///
    /// # Errors
    ///
    /// A tensor map of the memory there is not possible.
    pub fn relocated(&self, to: &dyn Fn(u64) -> u64) -> Result<Self, EngineError> {
        let there = |param: &ParamValue| param.relocated(to);
        let params: Result<_, _> = self.params.iter().map(there).collect();
        let params = params.map_err(|reason| EngineError::Refused {
            place: self.place(),
            reason: format!("a tensor map cannot be moved to other memory: {reason}"),
        })?;
        Ok(Self {
            params,
            ..self.clone()
        })
    }

    /// The place that an error about it names.
    pub fn place(&self) -> Place {
        Place::of(self.entry.as_ref(), self.config)
    }
}

impl PtxModule {
    /// Whether the kernel of a launch can be in this module.
    pub fn may_have(&self, launch: &Prepared) -> bool {
        if let Some(module) = launch.module() {
            return module == self.id();
        }
        match (self.topic(), launch.topic()) {
            (Some(own), Some(wanted)) => own == wanted,
            _ => true,
        }
    }
}

impl EngineError {
    /// No module of `modules` has the entry.
    pub(super) fn no_such_kernel(launch: &Prepared, modules: &[PtxModule]) -> Self {
        let names: Vec<_> = modules
            .iter()
            .filter(|module| module.may_have(launch))
            .map(|module| format!("`{}`", module.name))
            .collect();
        Self::NoSuchKernel {
            kernel: launch.entry().to_owned(),
            modules: names.join(", "),
        }
    }
}
