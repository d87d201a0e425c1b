//! The simulator as an engine: runs anywhere, checks every access, counts.

use super::buffer::POISON;
use super::panic::{self, PanicRecord, SINK_SYMBOL};
use super::pending;
use super::unwritten::Unwritten;
use super::{
    DeviceProperties, Engine, EngineError, EngineKind, LaunchConfig, Observe, Place, Prepared,
    PtxModule, Timed, Timing,
};
use crate::record::Recorded;
use ptx_sim::diagnostics::FaultKind;
use ptx_sim::{
    Launch, LaunchError, LaunchOptions, Member, Pending, Report, Schedule, Touches, Trace,
    TraceOptions, Usage,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::Location;
use std::rc::Rc;

/// A simulated device with the modules it may run.
pub struct Sim {
    properties: DeviceProperties,
    modules: RefCell<Vec<PtxModule>>,
    /// Warp instructions that a launch may execute; `ptx_sim`'s default if `None`.
    fuel: Option<u64>,
    /// Whether to check for races and similar bugs.
    check: bool,
    /// The order that launches run in, if not the usual one.
    schedule: Option<Schedule>,
    /// The launches, if they are recorded.
    record: Option<RefCell<Recorded>>,
    /// The kernel whose first launch is to be traced, if any.
    trace: RefCell<Option<(String, TraceOptions)>>,
    traced: RefCell<Option<Traced>>,
    /// Whether a block of every launch is traced.
    traces_all: bool,
    /// Runs launches, if not in the usual way.
    launcher: RefCell<Option<Launcher>>,
    /// Sizes of the allocations, by address.
    allocations: RefCell<BTreeMap<u64, u64>>,
    state: RefCell<State>,
    /// The machine that it is a device of.
    machine: Rc<MachineId>,
    /// The stream whose launch it runs.
    stream: Cell<Option<pending::Id>>,
    /// Whether it does what a stream was given.
    is_at_work: Cell<bool>,
    /// Where values were last read, and their size in bytes.
    last_read: Cell<Option<(u64, usize)>>,
}

/// A machine of simulators; what its streams were given goes with it.
struct MachineId(pending::Id);

impl Drop for MachineId {
    fn drop(&mut self) {
        pending::ended(self.0);
    }
}

/// Runs a launch on a simulator, by [`Sim::launch_with`] or [`Sim::launch_under`].
pub type Launcher = Rc<dyn Fn(&Sim, &Prepared) -> Result<(), EngineError>>;

struct State {
    device: ptx_sim::Device,
    /// The modules in the engine's order; `None` until one is needed.
    loaded: Vec<Option<Rc<Loaded>>>,
}

/// What a launch did, event by event.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Its geometry.
    pub config: LaunchConfig,
    /// The events of one block.
    pub trace: Trace,
}

/// A module on the device.
struct Loaded {
    on_device: ptx_sim::LoadedModule,
    /// Address of the record that a panic leaves, if the module has a place for it.
    sink: Option<u64>,
}

impl Sim {
    /// The newest architecture whose PTX it runs.
    const SM: u32 = 90;
    /// The number it reports; no kernel's result may depend on it.
    const N_MULTIPROCESSORS: u32 = 4;

    /// Works on any machine. Modules are parsed when they are first used.
    pub fn new(modules: Vec<PtxModule>) -> Self {
        Self::on(
            ptx_sim::Device::new(),
            modules,
            Rc::new(MachineId(pending::new_id())),
        )
    }

    /// The devices of one simulated machine.
    pub(crate) fn several(n: usize) -> Vec<Self> {
        let devices = ptx_sim::Device::several(n, &ptx_sim::DeviceConfig::default());
        let machine = Rc::new(MachineId(pending::new_id()));
        let on = |device| Self::on(device, Vec::new(), machine.clone());
        devices.into_iter().map(on).collect()
    }

    fn on(device: ptx_sim::Device, modules: Vec<PtxModule>, machine: Rc<MachineId>) -> Self {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        let loaded = std::iter::repeat_with(|| None)
            .take(modules.len())
            .collect();
        Self {
            properties: DeviceProperties {
                name: format!("PTX simulator ({n_threads} threads)"),
                sm: Self::SM,
                memory_bytes: device.config().memory_bytes,
                n_multiprocessors: Self::N_MULTIPROCESSORS,
                shared_per_block_bytes: device.config().shared_limit,
                driver: None,
                sm_clock_mhz: None,
                memory_clock_mhz: None,
                l2_cache_bytes: None,
            },
            modules: RefCell::new(modules),
            fuel: None,
            check: false,
            schedule: None,
            record: None,
            trace: RefCell::new(None),
            traced: RefCell::new(None),
            traces_all: false,
            launcher: RefCell::default(),
            allocations: RefCell::default(),
            state: RefCell::new(State { device, loaded }),
            machine,
            stream: Cell::new(None),
            is_at_work: Cell::new(false),
            last_read: Cell::new(None),
        }
    }

    /// The same, but a kernel is assumed to never end after this many warp instructions, over all
    /// blocks of a launch.
    pub fn with_fuel(self, fuel: Option<u64>) -> Self {
        Self { fuel, ..self }
    }

    /// The same, but reports as errors what a GPU lets pass: races, reads of unwritten memory,
    /// asynchronous copies not waited for (`docs/checks.md`). Slower.
    pub fn with_check(self, check: bool) -> Self {
        Self { check, ..self }
    }

    /// The same, but launches run in this order.
    pub fn with_schedule(self, schedule: Option<Schedule>) -> Self {
        Self { schedule, ..self }
    }

    /// Adds a module and loads it.
    ///
    /// # Errors
    ///
    /// It is not available, or not PTX that the simulator knows.
    pub fn add_module(&self, module: PtxModule) -> Result<(), EngineError> {
        let mut state = self.state.borrow_mut();
        let loaded = load(&mut state.device, &module)?;
        state.loaded.push(Some(Rc::new(loaded)));
        self.modules.borrow_mut().push(module);
        Ok(())
    }

    /// Copies within the device, or between devices of its machine.
    pub(crate) fn copy(&self, to: u64, from: u64, size_bytes: u64) -> Result<(), EngineError> {
        let device = &self.state.borrow().device;
        device.copy(from, to, size_bytes).map_err(memory)
    }

    /// If it checks, refuses uses of memory by a stream, or by the host, that others may still work
    /// on; gives those that there are to note.
    pub(crate) fn check_uses(
        &self,
        stream: Option<pending::Id>,
        uses: impl FnOnce() -> Vec<Pending>,
    ) -> Result<Vec<Pending>, EngineError> {
        if !self.check || self.is_at_work.get() {
            return Ok(Vec::new());
        }
        let uses = uses();
        let check = |of| pending::check(self.machine.0, stream, of);
        uses.iter().try_for_each(check)?;
        Ok(uses)
    }

    /// Notes what a stream was given.
    pub(crate) fn begin(&self, stream: pending::Id, uses: Vec<Pending>) {
        pending::begin(self.machine.0, stream, uses);
    }

    /// Does a stream's work, whose use of memory has been checked.
    pub(crate) fn at_work<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = self.is_at_work.replace(true);
        let done = work();
        self.is_at_work.set(before);
        done
    }

    /// Runs a launch in a stream.
    pub(crate) fn launch_in(
        &self,
        launch: &Prepared,
        stream: pending::Id,
        caller: &Location<'_>,
    ) -> Result<(), EngineError> {
        self.stream.set(Some(stream));
        let launched = self.launched(launch, Observe::Nothing);
        self.stream.set(None);
        let footprint = launched?.and_then(|report| report.footprint);
        let uses = footprint.map(|footprint| Pending {
            touches: Touches::Parts(footprint),
            what: format!("the kernel `{}` launched at {caller}", launch.entry()),
        });
        self.begin(stream, uses.into_iter().collect());
        Ok(())
    }

    /// Whether a launch is counted.
    fn counts(&self, observe: Observe) -> bool {
        observe == Observe::Counts || self.record.is_some()
    }

    /// Runs a launch; gives its report, unless a [`Launcher`] runs it.
    fn launched(&self, launch: &Prepared, observe: Observe) -> Result<Option<Report>, EngineError> {
        const FIRST_BLOCK: TraceOptions = TraceOptions {
            block: 0,
            accesses: 4,
            events: 100_000,
        };
        let launcher = self.launcher.borrow().clone();
        if let Some(launcher) = launcher {
            return launcher(self, launch).map(|()| None);
        }
        let asked = self.trace_of(launch);
        let options = LaunchOptions {
            count: self.counts(observe),
            footprint: self.check && self.stream.get().is_some(),
            trace: asked.or(self.traces_all.then_some(FIRST_BLOCK)),
            ..self.options()
        };
        let mut report = self.launch_with(launch, options)?;
        if asked.is_some()
            && let Some(trace) = report.trace.take()
        {
            let config = launch.config();
            let trace = *trace;
            *self.traced.borrow_mut() = Some(Traced { config, trace });
        }
        if let Some(record) = &self.record {
            record.borrow_mut().add(launch, &report);
        }
        if self.stream.get().is_some() {
            // Nobody gets the report.
            show(&report.printed);
        }
        Ok(Some(report))
    }

    /// Where the host last read values, and their size in bytes.
    pub fn last_read(&self) -> Option<(u64, usize)> {
        self.last_read.get()
    }

    /// Whether launches are checked for races and similar bugs.
    pub fn is_checked(&self) -> bool {
        self.check
    }

    /// Runs a launch with `ptx_sim`'s own options, and returns `ptx_sim`'s report.
    ///
    /// # Errors
    ///
    /// As [`Engine::launch`].
    pub fn launch_with(
        &self,
        launch: &Prepared,
        options: LaunchOptions,
    ) -> Result<Report, EngineError> {
        self.launch_on_device(launch, options, |device, loaded, simulated| {
            device.launch(loaded, launch.entry(), simulated)
        })
    }

    /// Runs a launch under a debugger. `f` gets it before its first instruction; afterwards it runs
    /// to its end. Orders are those of checked launches.
    ///
    /// # Errors
    ///
    /// As [`Engine::launch`]; what the checks find, if launches are checked.
    pub fn debug<R>(
        &self,
        launch: &Prepared,
        schedule: Option<Schedule>,
        f: impl FnOnce(&mut ptx_sim::debug::Session<'_, '_>) -> R,
    ) -> Result<R, EngineError> {
        let options = self.options();
        let options = LaunchOptions {
            schedule: schedule.or(options.schedule),
            check: true,
            ..options
        };
        self.launch_on_device(launch, options, |device, loaded, simulated| {
            let under_control = |session: &mut ptx_sim::debug::Session<'_, '_>| {
                let result = f(session);
                (
                    result,
                    (self.is_checked()).then(|| session.finding()).flatten(),
                )
            };
            let debugged = device.debug(loaded, launch.entry(), simulated, under_control)?;
            let ((result, found), ended) = debugged;
            ended?;
            found.map_or(Ok(result), |found| Err(found.error))
        })
    }

    fn launch_on_device<R>(
        &self,
        launch: &Prepared,
        options: LaunchOptions,
        run: impl FnOnce(
            &ptx_sim::Device,
            &ptx_sim::LoadedModule,
            &Launch<'_>,
        ) -> Result<R, LaunchError>,
    ) -> Result<R, EngineError> {
        let loaded = self.module_with(launch)?;
        let params = bytes_of(launch);
        let simulated = simulated(launch, &params, options);
        let device = &self.state.borrow().device;
        if launch.is_cooperative() {
            check_room(device, &loaded, launch)?;
        }
        run(device, &loaded.on_device, &simulated)
            .map_err(|error| self.failed(&loaded, launch, simulated.options.schedule, error))
    }

    /// A launch's error, with the message of a panic that caused it. What it has printed goes to
    /// the standard output: there is no report to put it in.
    fn failed(
        &self,
        loaded: &Loaded,
        launch: &Prepared,
        schedule: Option<Schedule>,
        error: LaunchError,
    ) -> EngineError {
        let place = launch.place().under(schedule);
        let device = &self.state.borrow().device;
        show(&device.printed_before_failure());
        let record = loaded.sink.and_then(|sink| take_record(device, sink));
        match record {
            Some(record) => {
                let error = launch_error(place, &of_panic(error, &record, launch.config().block));
                panic::explain(error, &record, &self.modules.borrow())
            }
            None => launch_error(place, &error),
        }
    }

    /// Runs launches on simulators at the same time. An error is about one of them.
    pub(crate) fn launch_together(
        launches: &[(&Self, &Prepared, pending::Id)],
        schedule: Option<Schedule>,
    ) -> Result<Vec<Report>, Box<(usize, EngineError)>> {
        let load = |sim: &Self, launch: &Prepared| {
            let module = sim.module_with(launch)?;
            if launch.is_cooperative() {
                check_room(&sim.state.borrow().device, &module, launch)?;
            }
            Ok(module)
        };
        let of_first = launches
            .first()
            .and_then(|(sim, ..)| sim.options().schedule);
        let schedule = schedule.or(of_first);
        let mut loaded = Vec::new();
        for (member, (sim, launch, _)) in launches.iter().enumerate() {
            loaded.push(load(sim, launch).map_err(|error| Box::new((member, error)))?);
        }
        let params: Vec<_> = launches
            .iter()
            .map(|(_, launch, _)| bytes_of(launch))
            .collect();
        let states: Vec<_> = launches
            .iter()
            .map(|(sim, ..)| sim.state.borrow())
            .collect();
        let members: Vec<Member<'_>> = (0..launches.len())
            .map(|i| {
                let (sim, launch, stream) = launches[i];
                let options = LaunchOptions {
                    schedule,
                    ..sim.options_in(Some(stream))
                };
                Member {
                    device: &states[i].device,
                    module: &loaded[i].on_device,
                    kernel: launch.entry(),
                    launch: simulated(launch, &params[i], options),
                }
            })
            .collect();
        ptx_sim::launch_together(&members).map_err(|failed| {
            let (sim, launch, _) = launches[failed.member];
            let error = sim.failed(&loaded[failed.member], launch, schedule, failed.error);
            Box::new((failed.member, error))
        })
    }

    /// Whether both are devices of one machine.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        let (own, other) = (self.state.borrow(), other.state.borrow());
        own.device.is_beside(&other.device)
    }

    /// Gives its kernels access to the memory of another one, or takes it away.
    pub(crate) fn set_peer(&self, peer: &Self, may: bool) -> Result<(), EngineError> {
        let (own, peer) = (self.state.borrow(), peer.state.borrow());
        if may && own.device.is_peer_enabled(&peer.device) {
            return Ok(());
        }
        let done = match may {
            true => own.device.enable_peer(&peer.device),
            false => own.device.disable_peer(&peer.device),
        };
        done.map_err(|error| EngineError::Devices(error.to_string()))
    }

    /// Runs a launch in an order other than the usual one. It is not counted: a kernel's cost is
    /// its cost in the usual order, where lanes that can stay together do.
    ///
    /// # Errors
    ///
    /// As [`Engine::launch`].
    pub fn launch_under(&self, launch: &Prepared, schedule: Schedule) -> Result<(), EngineError> {
        let options = LaunchOptions {
            count: false,
            schedule: Some(schedule),
            ..self.options()
        };
        self.launch_with(launch, options).map(drop)
    }

    /// Makes launches run through `launcher`, without reports; `None` restores the usual way. This
    /// lets every lesson's own checks judge a kernel in another order, and lets a lesson's launches
    /// be repeated for timing.
    pub fn launch_by(&self, launcher: Option<Launcher>) {
        *self.launcher.borrow_mut() = launcher;
    }

    /// All allocations: addresses and contents.
    ///
    /// # Errors
    ///
    /// As [`Engine::read`].
    pub fn memory(&self) -> Result<Vec<(u64, Vec<u8>)>, EngineError> {
        let allocations = self.allocations.borrow();
        let copy = |(&address, &size_bytes): (&u64, &u64)| {
            let mut bytes = vec![0; size_bytes as usize];
            self.read(address, &mut bytes)?;
            Ok((address, bytes))
        };
        allocations.iter().map(copy).collect()
    }

    /// The options of every launch.
    fn options(&self) -> LaunchOptions {
        self.options_in(self.stream.get())
    }

    /// The same for a launch in a stream.
    fn options_in(&self, stream: Option<pending::Id>) -> LaunchOptions {
        let pending = match self.check {
            true => pending::unknown_to(self.machine.0, stream),
            false => Vec::new(),
        };
        LaunchOptions {
            fuel: self.fuel,
            check: self.check,
            schedule: self.schedule,
            pending,
            ..LaunchOptions::default()
        }
    }

    /// The same, but every launch is counted and kept for [`Sim::recorded`].
    pub fn with_record(self) -> Self {
        Self {
            record: Some(RefCell::default()),
            ..self
        }
    }

    /// The launches, if they were recorded.
    pub fn recorded(self) -> Recorded {
        self.record.map(RefCell::into_inner).unwrap_or_default()
    }

    /// The launches since the previous call, if they were recorded.
    pub fn take_recorded(&self) -> Recorded {
        self.record.as_ref().map(RefCell::take).unwrap_or_default()
    }

    /// The same, but keeps the events of one block of a kernel's first launch, for [`Sim::traced`].
    pub fn with_trace(self, entry: &str, options: TraceOptions) -> Self {
        self.trace_next(entry, options);
        self
    }

    /// The same for the next launch of a kernel; discards what was kept before.
    pub fn trace_next(&self, entry: &str, options: TraceOptions) {
        *self.trace.borrow_mut() = Some((entry.to_owned(), options));
        *self.traced.borrow_mut() = None;
    }

    /// The same, but the first block of every launch is traced, and is in the launch's report.
    pub fn with_traces(self, traces_all: bool) -> Self {
        Self { traces_all, ..self }
    }

    /// The events that were kept; `None` if the kernel was not launched.
    pub fn traced(&self) -> Option<Traced> {
        self.traced.borrow().clone()
    }

    /// What to trace of a launch.
    fn trace_of(&self, launch: &Prepared) -> Option<TraceOptions> {
        let trace = self.trace.borrow();
        let (entry, options) = trace.as_ref()?;
        (entry == launch.entry() && self.traced.borrow().is_none()).then_some(*options)
    }

    /// The module with the entry, loading modules until it is found.
    fn module_with(&self, launch: &Prepared) -> Result<Rc<Loaded>, EngineError> {
        let modules = self.modules.borrow();
        let mut state = self.state.borrow_mut();
        let State { device, loaded } = &mut *state;
        for (source, loaded) in modules.iter().zip(loaded) {
            if !source.may_have(launch) {
                continue;
            }
            if loaded.is_none() {
                *loaded = Some(Rc::new(load(device, source)?));
            }
            if let Some(loaded) = loaded
                && loaded.on_device.module().kernel(launch.entry()).is_some()
            {
                return Ok(loaded.clone());
            }
        }
        Err(EngineError::no_such_kernel(launch, &modules))
    }
}

/// A use of memory by the host.
fn by_host(address: u64, n_bytes: u64, writes: bool) -> Vec<Pending> {
    let usage = if writes { Usage::WRITE } else { Usage::READ };
    vec![Pending {
        touches: Touches::All(address..address + n_bytes, usage),
        what: format!("a {} by the host", if writes { "write" } else { "read" }),
    }]
}

/// The bytes of a launch's parameters.
fn bytes_of(launch: &Prepared) -> Vec<&[u8]> {
    let params = launch.params().iter();
    params.map(|param| param.as_bytes()).collect()
}

/// A launch as the simulator takes it.
fn simulated<'a>(launch: &Prepared, params: &'a [&'a [u8]], options: LaunchOptions) -> Launch<'a> {
    let config = launch.config();
    let cluster = config.cluster.map(|cluster| cluster.map(u32::from));
    Launch {
        grid: config.grid,
        block: config.block,
        dynamic_shared_bytes: config.dynamic_shared_bytes,
        params,
        options: LaunchOptions {
            cluster: cluster.or(options.cluster),
            // As on a GPU, a launch may ask for them.
            non_portable_cluster: true,
            cooperative: launch.is_cooperative(),
            ..options
        },
    }
}

/// Refuses a cooperative launch whose blocks cannot all be resident at once.
fn check_room(
    device: &ptx_sim::Device,
    loaded: &Loaded,
    launch: &Prepared,
) -> Result<(), EngineError> {
    let config = launch.config();
    let kernel = loaded.on_device.module().kernel(launch.entry());
    let fixed = kernel.map_or(0, |kernel| kernel.static_shared_bytes);
    let shared_bytes = fixed.saturating_add(config.dynamic_shared_bytes);
    let n_threads = config.threads_per_block() as u32;
    let room = device.config().resident_blocks(n_threads, shared_bytes);
    let n_blocks: u64 = config.grid.iter().map(|&n| u64::from(n)).product();
    if n_blocks <= room {
        return Ok(());
    }
    Err(EngineError::Refused {
        place: launch.place(),
        reason: format!(
            "{n_blocks} blocks that wait for each other, but only {room} of {n_threads} threads and \
             {shared_bytes} bytes of shared memory are resident at once: launch fewer, and let each do \
             more"
        ),
    })
}

fn load(device: &mut ptx_sim::Device, source: &PtxModule) -> Result<Loaded, EngineError> {
    let failed = |log: String| EngineError::Module {
        module: source.name.clone(),
        log,
    };
    let loaded = device.load(source.parsed()?);
    let on_device = loaded.map_err(|error| failed(error.to_string()))?;
    let variable = on_device.global_address(SINK_SYMBOL);
    let sink = variable.map(|v| listen(device, v)).transpose()?;
    Ok(Loaded { on_device, sink })
}

/// Gives the module a place to leave a panic's record.
fn listen(device: &mut ptx_sim::Device, variable: u64) -> Result<u64, EngineError> {
    let n_bytes = PanicRecord::SIZE_BYTES as u64;
    let record = device.alloc(n_bytes, "panic record").map_err(memory)?;
    device.fill(record, n_bytes, 0).map_err(memory)?;
    let address = record.to_le_bytes();
    device.write(variable, &address).map_err(memory)?;
    Ok(record)
}

/// The record at `sink`, if a thread left one; `sink` is then emptied.
fn take_record(device: &ptx_sim::Device, sink: u64) -> Option<PanicRecord> {
    let mut bytes = [0; PanicRecord::SIZE_BYTES];
    device.read(sink, &mut bytes).ok()?;
    device.fill(sink, PanicRecord::SIZE_BYTES as u64, 0).ok()?;
    PanicRecord::from_bytes(&bytes)
}

fn memory(error: impl std::fmt::Display) -> EngineError {
    EngineError::Memory(error.to_string())
}

/// An error if nobody has written some of these values.
fn refuse_unwritten(
    device: &ptx_sim::Device,
    address: u64,
    n_bytes: u64,
    value_bytes: u64,
) -> Result<(), EngineError> {
    let ranges = device.unwritten(address, n_bytes).map_err(memory)?;
    let (Some(range), Some(buffer)) = (ranges.first(), device.allocation_at(address)) else {
        return Ok(());
    };
    let value_at = |byte: u64| (byte - buffer.address) / value_bytes;
    let mut n_unwritten = 0;
    // A value may be written in part, and be in two ranges.
    let mut next = 0;
    for range in &ranges {
        let end = value_at(range.end - 1) + 1;
        n_unwritten += end - value_at(range.start).max(next);
        next = end;
    }
    Err(EngineError::Unwritten(Box::new(Unwritten {
        first: value_at(range.start),
        n_unwritten,
        n_read: n_bytes / value_bytes,
        omission: device.omission(range.start),
        buffer: buffer.label,
    })))
}

/// The fault that a panic ends in, of the thread that has left the record: lanes of a warp that panic
/// trap together, and the first of them need not be the one that wrote. Its message is the record's.
fn of_panic(error: LaunchError, record: &PanicRecord, block: [u32; 3]) -> LaunchError {
    let LaunchError::Fault(mut fault) = error else {
        return error;
    };
    if let FaultKind::Trap { message } = &mut fault.kind {
        *message = None;
        let [x, y, z] = record.thread();
        let number = x + block[0] * (y + block[1] * z);
        if fault.thread.block == record.block() && fault.thread.warp == number / 32 {
            fault.thread.thread = record.thread();
            fault.thread.lane = number % 32;
        }
    }
    LaunchError::Fault(fault)
}

/// Distinguishes what the simulator distinguishes.
fn launch_error(place: Place, error: &LaunchError) -> EngineError {
    let report = error.to_string();
    match error {
        LaunchError::InvalidLaunch { message, .. } => EngineError::Refused {
            place,
            reason: message.clone(),
        },
        LaunchError::Fault(_) => EngineError::Fault { place, report },
        LaunchError::OutOfFuel(_) => EngineError::NeverEnds { place, report },
        LaunchError::Unsupported { .. } => EngineError::Unsupported { place, report },
        LaunchError::HostOutOfMemory { .. } => EngineError::Memory(format!("{place}: {report}")),
        LaunchError::Internal { .. } => EngineError::Internal {
            engine: "simulator",
            what: format!("{place}: {report}"),
        },
    }
}

impl Engine for Sim {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn device(&self) -> &DeviceProperties {
        &self.properties
    }

    fn memory(&self) -> u64 {
        self.machine.0
    }

    fn alloc(&self, size_bytes: u64, label: &str) -> Result<u64, EngineError> {
        let device = &mut self.state.borrow_mut().device;
        let address = device.alloc(size_bytes, label).map_err(memory)?;
        self.allocations.borrow_mut().insert(address, size_bytes);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<(), EngineError> {
        if let Some(size_bytes) = self.allocations.borrow_mut().remove(&address) {
            pending::freed(self.machine.0, &(address..address + size_bytes.max(1)));
        }
        self.state.borrow_mut().device.free(address).map_err(memory)
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), EngineError> {
        self.check_uses(None, || by_host(address, bytes.len() as u64, true))?;
        let device = &mut self.state.borrow_mut().device;
        device.write(address, bytes).map_err(memory)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), EngineError> {
        self.check_uses(None, || by_host(address, bytes.len() as u64, false))?;
        let device = &mut self.state.borrow_mut().device;
        device.read(address, bytes).map_err(memory)
    }

    fn read_values(
        &self,
        address: u64,
        bytes: &mut [u8],
        value_bytes: usize,
        gaps: bool,
    ) -> Result<(), EngineError> {
        self.last_read.set(Some((address, value_bytes)));
        if self.check && !gaps {
            let device = &self.state.borrow().device;
            refuse_unwritten(device, address, bytes.len() as u64, value_bytes as u64)?;
        }
        self.read(address, bytes)
    }

    fn fill(&self, address: u64, size_bytes: u64, value: u8) -> Result<(), EngineError> {
        self.check_uses(None, || by_host(address, size_bytes, true))?;
        let device = &mut self.state.borrow_mut().device;
        device.fill(address, size_bytes, value).map_err(memory)
    }

    fn poison(&self, address: u64, size_bytes: u64) -> Result<(), EngineError> {
        self.fill(address, size_bytes, POISON)?;
        let device = &mut self.state.borrow_mut().device;
        device.mark_unwritten(address, size_bytes).map_err(memory)
    }

    fn launch(&self, launch: &Prepared, observe: Observe) -> Result<Option<Report>, EngineError> {
        let report = self.launched(launch, observe)?;
        Ok(report.filter(|_| self.counts(observe)))
    }

    fn is_usable(&self) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Prints what threads have printed; under `cargo test` it is part of the test's output.
fn show(printed: &[String]) {
    printed.iter().for_each(|text| print!("{text}"));
}

impl Timing for Sim {
    fn perform(&self, work: &Timed<'_>) -> Result<(), EngineError> {
        match work {
            Timed::Launches(launches) => launches
                .iter()
                .try_for_each(|launch| self.launch(launch, Observe::Nothing).map(drop)),
            Timed::Fills(fills) => fills
                .iter()
                .try_for_each(|fill| self.fill(fill.address, fill.size_bytes, fill.value)),
            &Timed::Copy {
                to,
                from,
                size_bytes,
            } => self.copy(to, from, size_bytes),
            Timed::Baselines(_) | Timed::Library(_) => Err(EngineError::BaselinesNeedGpu),
        }
    }
}
