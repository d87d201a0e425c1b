//! One CUDA context: its stream, its loaded modules, its launches.

use super::super::panic::PanicRecord;
use super::super::{
    BaselineModule, DeviceProperties, EngineError, LaunchConfig, LibraryCall, Prepared, PtxModule,
};
use super::libraries::Libraries;
use super::panics::PanicMemory;
use crate::driver::objects::Attribute;
use crate::driver::stream::Geometry;
use crate::driver::{Context, Event, Function, Module, Stream};
use cuda_driver::DriverError;
use cuda_std::launch::ParamValue;
use ptx_sim::MAX_CLUSTER;
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// A kernel that runs longer than this is assumed to never end, unless the environment variable
/// sets another limit.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Environment variable for another time limit, in seconds.
pub(crate) const TIME_LIMIT_OVERRIDE: &str = "LOCKSTEP_TIME_LIMIT_S";

/// How long something on a GPU may take.
pub(crate) fn time_limit() -> Duration {
    std::env::var(TIME_LIMIT_OVERRIDE)
        .ok()
        .and_then(|text| text.parse().ok())
        .map_or(TIME_LIMIT, Duration::from_secs)
}

/// Dynamic shared memory that every kernel may use without opting in.
const SHARED_WITHOUT_OPT_IN_BYTES: u32 = 48 * 1024;

/// The first architecture that can start a launch before the previous one has finished.
const FIRST_SM_WITH_PDL: u32 = 90;

/// Why work on the device was not done.
pub(super) enum RunError {
    /// Found before the device was involved.
    Engine(EngineError),
    /// The device or the driver returned an error.
    Device(DriverError),
    /// It did not finish within this time.
    Timeout(Duration),
}

impl From<EngineError> for RunError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<DriverError> for RunError {
    fn from(error: DriverError) -> Self {
        Self::Device(error)
    }
}

/// A context and everything in it. Fields are dropped in this order.
pub(super) struct Session {
    /// The engine's modules in its order; `None` until one is needed.
    loaded: Vec<Option<Module>>,
    /// CUDA C++ baselines, to be timed alongside the kernels.
    baselines: Vec<Module>,
    /// NVIDIA's libraries, likewise.
    libraries: Libraries,
    panics: PanicMemory,
    time_limit: Duration,
    stream: Stream,
    context: Context,
}

impl Session {
    pub(super) fn new(ordinal: u32, n_modules: usize) -> Result<Self, EngineError> {
        let context = Context::of(ordinal)?;
        let stream = Stream::new()?;
        let loaded = std::iter::repeat_with(|| None).take(n_modules).collect();
        Ok(Self {
            loaded,
            baselines: Vec::new(),
            libraries: Libraries::default(),
            panics: PanicMemory::new()?,
            time_limit: time_limit(),
            stream,
            context,
        })
    }

    /// Its context.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The record of a kernel that panicked, available even after its fault.
    pub(super) fn panic_record(&self) -> Option<PanicRecord> {
        self.panics.record()
    }

    /// Loads one more module, after all others.
    pub(super) fn add(&mut self, source: &PtxModule) -> Result<(), EngineError> {
        let module = load(source)?;
        self.panics.listen_to(&module)?;
        self.loaded.push(Some(module));
        Ok(())
    }

    /// Loads modules until one has the entry.
    pub(super) fn load_for(
        &mut self,
        modules: &[PtxModule],
        launch: &Prepared,
    ) -> Result<(), EngineError> {
        let entry = launch.entry();
        for index in candidates(modules, launch) {
            let loaded = &mut self.loaded[index];
            if loaded.is_none() {
                let module = load(&modules[index])?;
                self.panics.listen_to(&module)?;
                *loaded = Some(module);
            }
            if loaded
                .as_ref()
                .is_some_and(|module| module.function(entry).is_ok())
            {
                return Ok(());
            }
        }
        Err(EngineError::no_such_kernel(launch, modules))
    }

    /// The launch, ready to be enqueued in a stream, with what it needs loaded.
    pub(super) fn prepare(
        &mut self,
        modules: &[PtxModule],
        launch: &Prepared,
        device: &DeviceProperties,
    ) -> Result<Resolved, RunError> {
        self.load_for(modules, launch)?;
        self.resolve(modules, launch, device)
    }

    /// The launch, ready to be enqueued; call [`Session::load_for`] first.
    pub(super) fn resolve(
        &self,
        modules: &[PtxModule],
        launch: &Prepared,
        device: &DeviceProperties,
    ) -> Result<Resolved, RunError> {
        let entry = launch.entry();
        let found = candidates(modules, launch).find_map(|index| {
            let module = self.loaded[index].as_ref()?;
            Some((index, module.function(entry).ok()?))
        });
        let (index, function) = found.ok_or_else(|| EngineError::no_such_kernel(launch, &[]))?;
        // Compiled for an older architecture, it would not wait for the launch before it.
        let uses_pdl = launch.uses_pdl() && supports_pdl(&modules[index]);
        Resolved::new(function, launch, device, uses_pdl)
    }

    /// The same for the entry's CUDA C++ baseline.
    pub(super) fn resolve_baseline(
        &self,
        launch: &Prepared,
        device: &DeviceProperties,
    ) -> Result<Resolved, RunError> {
        let entry = launch.entry();
        let module = self
            .baseline_of(entry)
            .ok_or_else(|| EngineError::no_such_kernel(launch, &[]))?;
        let function = module.function(entry)?;
        // Baselines are compiled for this device.
        let uses_pdl = launch.uses_pdl() && device.sm >= FIRST_SM_WITH_PDL;
        Resolved::new(function, launch, device, uses_pdl)
    }

    /// Enqueues the launch in the session's stream.
    pub(super) fn enqueue(&self, launch: &Resolved) -> Result<(), RunError> {
        self.enqueue_in(&self.stream, launch)
    }

    /// Enqueues the launch in a stream.
    pub(super) fn enqueue_in(&self, stream: &Stream, launch: &Resolved) -> Result<(), RunError> {
        let param_addresses: Vec<*mut c_void> = launch
            .params
            .iter()
            .map(|param| param.as_bytes().as_ptr().cast_mut().cast())
            .collect();
        let geometry = launch.geometry();
        // SAFETY: whoever prepared the launch promised what the kernel requires, and a kernel that
        // declares itself early does its own waiting.
        Ok(unsafe { stream.launch(&launch.function, &geometry, &param_addresses) }?)
    }

    /// Waits until the session's stream is empty or the time limit is reached.
    pub(super) fn wait(&self) -> Result<(), RunError> {
        self.wait_for(&self.stream)
    }

    /// Waits until a stream is empty or the time limit is reached.
    pub(super) fn wait_for(&self, stream: &Stream) -> Result<(), RunError> {
        let end = Event::untimed()?;
        stream.mark(&end)?;
        let started = Instant::now();
        while !end.is_passed()? {
            let waited = started.elapsed();
            if waited > self.time_limit {
                return Err(RunError::Timeout(self.time_limit));
            }
            // Most launches end within microseconds; the rest need no hurry.
            if waited > Duration::from_millis(2) {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        Ok(())
    }

    /// Loads CUDA C++ baselines alongside the kernels.
    pub(super) fn load_baselines(
        &mut self,
        baselines: &[BaselineModule],
    ) -> Result<(), EngineError> {
        for baseline in baselines {
            let module =
                Module::of_cubin(&baseline.image).map_err(|error| EngineError::Module {
                    module: baseline.name.clone(),
                    log: error.to_string(),
                })?;
            self.baselines.push(module);
        }
        Ok(())
    }

    pub(super) fn libraries(&mut self) -> &mut Libraries {
        &mut self.libraries
    }

    /// Prepares what a library call needs in addition to its buffers.
    pub(super) fn prepare_call(&mut self, call: &LibraryCall) -> Result<(), EngineError> {
        self.libraries.prepare(call, &self.stream)
    }

    /// Enqueues the prepared call of a library.
    pub(super) fn enqueue_call(&self, call: &LibraryCall) -> Result<(), EngineError> {
        self.libraries.enqueue(call, &self.stream)
    }

    pub(super) fn has_baseline(&self, entry: &str) -> bool {
        self.baseline_of(entry).is_some()
    }

    fn baseline_of(&self, entry: &str) -> Option<&Module> {
        self.baselines
            .iter()
            .find(|module| module.function(entry).is_ok())
    }
}

/// Has the driver compile PTX and load it; an error carries the compiler's own log.
fn load(source: &PtxModule) -> Result<Module, EngineError> {
    Module::of_ptx(source.text()?).map_err(|log| EngineError::Module {
        module: source.name.clone(),
        log,
    })
}

/// Whether the module's kernels can wait for the launch before theirs.
fn supports_pdl(module: &PtxModule) -> bool {
    module
        .target()
        .is_some_and(|(sm, _)| sm >= FIRST_SM_WITH_PDL)
}

/// Indices of the modules to search for the launch's entry. Those that name it come first, since
/// asking the driver in vain is an error that debuggers and sanitizers report.
fn candidates(modules: &[PtxModule], launch: &Prepared) -> impl Iterator<Item = usize> {
    let names = |&index: &usize| modules[index].names(launch.entry());
    let named = in_order(modules, launch).into_iter().filter(names);
    let others = in_order(modules, launch).into_iter();
    named.chain(others.filter(move |index| !names(index)))
}

/// Indices of the modules that may have the launch's entry, in search order: unchanged, except that
/// an early launch prefers those that support it.
fn in_order(modules: &[PtxModule], launch: &Prepared) -> Vec<usize> {
    let may_have = |&index: &usize| modules[index].may_have(launch);
    let mut order: Vec<usize> = (0..modules.len()).filter(may_have).collect();
    if launch.uses_pdl() {
        order.sort_by_key(|&index| !supports_pdl(&modules[index]));
    }
    order
}

/// A launch whose function has been found and whose resources have been checked.
pub(super) struct Resolved {
    function: Function,
    config: LaunchConfig,
    params: Vec<ParamValue>,
    /// Whether it may start before the work ahead of it in the stream has finished.
    uses_pdl: bool,
    is_cooperative: bool,
}

impl Resolved {
    fn new(
        function: Function,
        launch: &Prepared,
        device: &DeviceProperties,
        uses_pdl: bool,
    ) -> Result<Self, RunError> {
        check_resources(&function, launch, device)?;
        Ok(Self {
            function,
            config: launch.config(),
            params: launch.params().to_vec(),
            uses_pdl,
            is_cooperative: launch.is_cooperative(),
        })
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            grid: self.config.grid,
            block: self.config.block,
            shared_bytes: self.config.dynamic_shared_bytes,
            cluster: self.config.cluster.map(|cluster| cluster.map(u32::from)),
            uses_pdl: self.uses_pdl,
            is_cooperative: self.is_cooperative,
        }
    }
}

/// Checks what only the compiled kernel can say, and opts in to large shared memory if the launch
/// needs it.
fn check_resources(
    function: &Function,
    launch: &Prepared,
    device: &DeviceProperties,
) -> Result<(), RunError> {
    let refused = |reason| {
        RunError::Engine(EngineError::Refused {
            place: launch.place(),
            reason,
        })
    };
    let n_threads = launch.config().threads_per_block();
    let max_threads = function.attribute(Attribute::MaxThreadsPerBlock)?;
    if n_threads > u64::from(max_threads) {
        let n_registers = function.attribute(Attribute::Registers)?;
        return Err(refused(format!(
            "{n_threads} threads per block, but with {n_registers} registers per thread \
             and its launch bounds the kernel allows {max_threads}"
        )));
    }
    let dynamic = launch.config().dynamic_shared_bytes;
    let fixed = function.attribute(Attribute::SharedSizeBytes)?;
    if u64::from(dynamic) + u64::from(fixed) > u64::from(device.shared_per_block_bytes) {
        return Err(refused(format!(
            "{dynamic} bytes of dynamic and {fixed} of static shared memory, \
             but a block of this GPU has at most {}",
            device.shared_per_block_bytes
        )));
    }
    if dynamic > SHARED_WITHOUT_OPT_IN_BYTES.saturating_sub(fixed) {
        function.allow_dynamic_shared(dynamic)?;
    }
    let cluster = launch.config().cluster.unwrap_or([1; 3]);
    let n_blocks: u32 = cluster.into_iter().map(u32::from).product();
    if n_blocks > MAX_CLUSTER {
        function.allow_large_clusters()?;
    }
    Ok(())
}
