//! A loaded module, and launches of its kernels.

use crate::engine::{Machine, Observe, Prepared, PtxModule};
use crate::graph;
use crate::{Device, Error, LaunchConfig, Report};
use cuda_std::launch::{Kernel, SafeKernel};
use std::fmt;

/// A PTX module on a device.
#[derive(Clone)]
pub struct Module {
    device: Device,
    source: PtxModule,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Module");
        shown
            .field("name", &self.source.name)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// Loads a module: PTX text, or a [`PtxModule`] with a name and a folder of sources.
    ///
    /// # Errors
    ///
    /// The text is not PTX, or not for this device. The error names the line, or contains the
    /// driver's own log.
    pub fn load(&self, module: impl Into<PtxModule>) -> Result<Module, Error> {
        let module = module.into();
        self.machine().add_module(module.clone())?;
        Ok(Module::new(self.clone(), module))
    }
}

impl Module {
    pub(crate) fn new(device: Device, source: PtxModule) -> Self {
        Self { device, source }
    }

    /// The device that it is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn source(&self) -> &PtxModule {
        &self.source
    }

    /// Launches a kernel that is a safe `fn` ([`cuda_std::view`]), waits for its end, and reports
    /// its cost. Arguments are [`Buffer::input`](crate::engine::Buffer::input),
    /// [`Buffer::output`](crate::engine::Buffer::output) and numbers.
    ///
    /// ```no_run
    /// # mod kernels {
    /// #     use cuda_std::prelude::*;
    /// #     use cuda_std::view::{Disjoint, Global};
    /// #     #[kernel]
    /// #     pub fn double(x: Global<[f32; n]>, mut y: Disjoint<[f32; n]>, n: u32) {}
    /// # }
    /// # let device = lockstep::Device::simulator();
    /// # let module = device.load("")?;
    /// let x = device.upload("x", &[1.0f32; 1000])?;
    /// let mut y = device.alloc::<f32>("y", 1000)?;
    /// let config = lockstep::LaunchConfig::linear(1000, 256);
    /// module.run(kernels::double, config, (x.input(), y.output(), 1000))?;
    /// # Ok::<(), lockstep::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Module::launch`]; a buffer is another simulator's or shorter than the other arguments
    /// say, or the geometry would have threads share an element.
    pub fn run<K: SafeKernel>(
        &self,
        _kernel: K,
        config: LaunchConfig,
        views: K::Views<'_>,
    ) -> Result<Report, Error> {
        // SAFETY: the borrows of the views last until the launch has finished.
        let launch =
            unsafe { Prepared::admitted::<K>(config, self.device.engine().memory(), views) }?;
        self.run_to_end(&launch.in_module(&self.source), K::FILE)
    }

    /// Launches a kernel, waits for its end, and reports its cost.
    ///
    /// The compiler checks the number, order and types of the arguments. CUDA's limits and the
    /// kernel's launch bounds are checked before the launch.
    ///
    /// # Safety
    ///
    /// What the kernel's own `# Safety` section asks: live buffers of the length it uses, of this
    /// device. The simulator checks every access anyway, and a wrong one is an error; only a buffer of
    /// another simulator may have the address of one of its own.
    ///
    /// # Errors
    ///
    /// The module has no such kernel, the launch breaks a rule, or the kernel does something wrong.
    /// All errors name the kernel and its geometry.
    pub unsafe fn launch<K: Kernel>(
        &self,
        kernel: K,
        config: LaunchConfig,
        args: K::Args,
    ) -> Result<Report, Error> {
        // SAFETY: the caller's promise.
        let launch = unsafe { self.prepare(kernel, config, args) }?;
        self.run_to_end(&launch, K::FILE)
    }

    /// A launch of a kernel, to be made later, any number of times.
    ///
    /// # Safety
    ///
    /// As [`Module::launch`], every time it is made.
    ///
    /// # Errors
    ///
    /// The launch breaks a rule.
    pub unsafe fn prepare<K: Kernel>(
        &self,
        _kernel: K,
        config: LaunchConfig,
        args: K::Args,
    ) -> Result<Prepared, Error> {
        // SAFETY: the caller's promise.
        let launch = unsafe { Prepared::of::<K>(config, args) }?;
        Ok(launch.in_module(&self.source))
    }

    fn run_to_end(&self, launch: &Prepared, file: &'static str) -> Result<Report, Error> {
        graph::refuse_launch_while_recording()?;
        let (counted, time_ms) = match self.device.machine() {
            Machine::Sim(sim) => {
                let report = crate::engine::Engine::launch(sim, launch, Observe::Counts)?;
                (report, None)
            }
            Machine::Gpu(gpu) => (None, Some(gpu.launch_timed(launch)?)),
        };
        let is_checked = matches!(self.device.machine(), Machine::Sim(sim) if sim.is_checked());
        Ok(Report {
            place: launch.place(),
            file,
            module: self.source.clone(),
            counted,
            time_ms,
            is_checked,
        })
    }
}
