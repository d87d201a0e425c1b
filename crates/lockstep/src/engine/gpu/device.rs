//! The device: its memory, its modules, its synchronous launches.

use super::super::panic;
use super::super::{
    DeviceProperties, Engine, EngineError, EngineKind, Fill, Observe, Place, Prepared, PtxModule,
    Timed, Timing,
};
use super::memory::{self, Allocations};
use super::sensors::Board;
use super::session::{RunError, Session, TIME_LIMIT_OVERRIDE};
use crate::driver;
use cuda_driver::DriverError;
use ptx_sim::Report;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// A CUDA device with the modules it may run.
pub struct Gpu {
    /// Its number.
    pub(crate) ordinal: u32,
    /// The numbers of those whose memory its kernels may use, as far as this process has asked.
    pub(super) peers: RefCell<BTreeSet<u32>>,
    pub(super) properties: DeviceProperties,
    pub(super) modules: RefCell<Vec<PtxModule>>,
    /// Clocks and temperature, if the driver's management library is there.
    pub(super) board: Option<Board>,
    /// Whether launches run the kernels' baselines.
    runs_baselines: Cell<bool>,
    state: RefCell<State>,
    pub(super) allocations: RefCell<Allocations>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each GPU, and it is lost once"
)]
enum State {
    Up(Session),
    Lost(String),
}

/// Whether the error came from the kernel that ran and took the context with it: the `CUresult`
/// values for illegal addresses and instructions, misaligned accesses, asserts, traps, timeouts and
/// uncorrectable memory.
fn is_fault(error: &DriverError) -> bool {
    matches!(error.code, 214 | 700 | 702 | 710 | 714..=719 | 999)
}

/// Whether a device of that architecture can run the module. A module without a readable target is
/// left to the driver, which says what is wrong with it.
fn can_run(module: &PtxModule, device_sm: u32) -> bool {
    match module.target() {
        Some((sm, true)) => sm == device_sm,
        Some((sm, false)) => sm <= device_sm,
        None => true,
    }
}

impl Gpu {
    /// The first device that the driver lists.
    ///
    /// # Errors
    ///
    /// No driver, no device, or a device that cannot be used.
    pub fn new(modules: Vec<PtxModule>) -> Result<Self, EngineError> {
        Self::nth(0, modules)
    }

    /// The device with this index, counted from 0.
    ///
    /// # Errors
    ///
    /// As [`Gpu::new`], or there is no device with that index.
    pub fn nth(index: usize, modules: Vec<PtxModule>) -> Result<Self, EngineError> {
        let driver = cuda_driver::load()?;
        driver.init()?;
        let mut devices = driver.devices()?;
        if index >= devices.len() {
            return Err(match devices.len() {
                0 => EngineError::NoGpu,
                n_devices => EngineError::NoSuchGpu { index, n_devices },
            });
        }
        let info = devices.swap_remove(index);
        let version = driver.version()?;
        let (major, minor) = info.compute_capability;
        let properties = DeviceProperties {
            name: info.name,
            sm: major * 10 + minor,
            memory_bytes: info.memory_bytes,
            n_multiprocessors: info.n_multiprocessors,
            shared_per_block_bytes: info.shared_per_block_optin_bytes,
            driver: Some(version.to_string()),
            sm_clock_mhz: info.clock_khz.map(|khz| khz / 1000),
            memory_clock_mhz: info.memory_clock_khz.map(|khz| khz / 1000),
            l2_cache_bytes: info.l2_cache_bytes,
        };
        let modules: Vec<_> = modules
            .into_iter()
            .filter(|module| can_run(module, properties.sm))
            .collect();
        let session = Session::new(info.ordinal, modules.len())?;
        Ok(Self {
            ordinal: info.ordinal,
            peers: RefCell::default(),
            properties,
            modules: RefCell::new(modules),
            board: info.pci_bus_id.as_deref().and_then(Board::find),
            runs_baselines: Cell::new(false),
            state: RefCell::new(State::Up(session)),
            allocations: RefCell::default(),
        })
    }

    /// Makes launches run the kernels' CUDA C++ baselines, or the kernels again. This way every
    /// lesson checks the baselines as it checks the kernels: a wrong one is not a yardstick.
    pub fn run_baselines(&self, runs_baselines: bool) {
        self.runs_baselines.set(runs_baselines);
    }

    /// Takes ownership of memory that was allocated elsewhere.
    pub(crate) fn adopt(&self, address: u64, size_bytes: u64) {
        self.allocations.borrow_mut().add(address, size_bytes);
    }

    /// Gives up ownership of memory.
    ///
    /// # Errors
    ///
    /// The memory is not this GPU's.
    pub(crate) fn disown(&self, address: u64) -> Result<(), EngineError> {
        match self.allocations.borrow_mut().remove(address) {
            true => Ok(()),
            false => Err(EngineError::Memory(format!(
                "no memory of this device starts at {address:#x}: the buffer belongs to another one"
            ))),
        }
    }

    /// Adds a module and loads it.
    ///
    /// # Errors
    ///
    /// It is not available, it is for another architecture, or the driver refuses it.
    pub fn add_module(&self, module: PtxModule) -> Result<(), EngineError> {
        if !can_run(&module, self.properties.sm) {
            return Err(EngineError::Module {
                log: format!(
                    "it is compiled for {}, but this GPU is sm_{}; \
                     compile it for that or for an earlier one",
                    module.target_name().unwrap_or("another architecture"),
                    self.properties.sm
                ),
                module: module.name,
            });
        }
        self.with_session(|session| session.add(&module))?;
        self.modules.borrow_mut().push(module);
        Ok(())
    }

    /// Runs `work` on the session, if the GPU is not lost.
    pub(super) fn with_session<R>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<R, EngineError>,
    ) -> Result<R, EngineError> {
        match &mut *self.state.borrow_mut() {
            State::Up(session) => {
                // Another device's may be.
                session.context().make_current()?;
                work(session)
            }
            State::Lost(reason) => Err(EngineError::Lost(reason.clone())),
        }
    }

    /// Runs `work`, which ends by waiting for the device, and handles a fault.
    pub(super) fn run<R>(
        &self,
        place: &Place,
        work: impl FnOnce(&mut Session) -> Result<R, RunError>,
    ) -> Result<R, EngineError> {
        let result = match &mut *self.state.borrow_mut() {
            State::Up(session) => {
                let current = session.context().make_current().map_err(RunError::from);
                current.and_then(|()| work(session))
            }
            State::Lost(reason) => return Err(EngineError::Lost(reason.clone())),
        };
        match result {
            Ok(value) => Ok(value),
            Err(RunError::Engine(error)) => Err(error),
            Err(RunError::Timeout(limit)) => {
                let reason = format!("`{}`, which did not end", place.kernel);
                // The kernel is still running. Destroying its context would wait for it, so the
                // session is left until the process ends.
                let running = self.state.replace(State::Lost(reason));
                std::mem::forget(running);
                Err(EngineError::NeverEnds {
                    place: place.clone(),
                    report: format!(
                        "it did not end within {} s; {TIME_LIMIT_OVERRIDE}=SECONDS allows more",
                        limit.as_secs()
                    ),
                })
            }
            Err(RunError::Device(error)) if is_fault(&error) => {
                let record = self.with_session(|session| Ok(session.panic_record()))?;
                // A new context would get the same error; only a new process gets the GPU back.
                let reason = format!("a fault in `{}`", place.kernel);
                drop(self.state.replace(State::Lost(reason)));
                self.allocations.borrow_mut().forget_all();
                let fault = EngineError::Fault {
                    place: place.clone(),
                    report: fault_report(&error),
                };
                Err(match record {
                    Some(record) => panic::explain(fault, &record, &self.modules.borrow()),
                    None => fault,
                })
            }
            Err(RunError::Device(error)) => Err(EngineError::Refused {
                place: place.clone(),
                reason: error.to_string(),
            }),
        }
    }
}

/// A description of the fault, and how to find out more.
fn fault_report(error: &DriverError) -> String {
    let meaning = match error.code {
        700 => "read or wrote memory outside every allocation",
        716 => "made an access that is not aligned to its size",
        715 => "ran an illegal instruction or a trap (a panic in the kernel is one)",
        719 => "failed on the device (a trap or an access outside shared or local memory)",
        710 => "failed an assertion",
        _ => "stopped with an error",
    };
    format!(
        "it {meaning}: {error}. The simulator names the thread, source line and address: \
         `--engine sim` for lessons, `Device::simulator` for own programs, on a small shape"
    )
}

impl Engine for Gpu {
    fn kind(&self) -> EngineKind {
        EngineKind::Gpu
    }

    fn device(&self) -> &DeviceProperties {
        &self.properties
    }

    // The driver gives all GPUs of a process addresses of their own. Simulators' numbers begin at 1.
    fn memory(&self) -> u64 {
        0
    }

    fn alloc(&self, size_bytes: u64, label: &str) -> Result<u64, EngineError> {
        self.with_session(|_| {
            let address = memory::alloc(size_bytes, label)?;
            self.allocations.borrow_mut().add(address, size_bytes);
            Ok(address)
        })
    }

    fn free(&self, address: u64) -> Result<(), EngineError> {
        // A fault destroys a context's memory with it.
        if !self.allocations.borrow_mut().remove(address) {
            return Ok(());
        }
        self.with_session(|_| Ok(driver::memory::free(address)?))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), EngineError> {
        self.allocations
            .borrow()
            .check(address, bytes.len() as u64)?;
        self.with_session(|session| memory::write(session.stream(), address, bytes))
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), EngineError> {
        self.allocations
            .borrow()
            .check(address, bytes.len() as u64)?;
        self.with_session(|_| Ok(driver::memory::read(address, bytes)?))
    }

    fn fill(&self, address: u64, size_bytes: u64, value: u8) -> Result<(), EngineError> {
        self.allocations.borrow().check(address, size_bytes)?;
        let fill = Fill {
            address,
            size_bytes,
            value,
        };
        self.with_session(|session| memory::fill(session.stream(), &fill))
    }

    fn launch(&self, launch: &Prepared, _observe: Observe) -> Result<Option<Report>, EngineError> {
        if self.runs_baselines.get() {
            let launches = std::slice::from_ref(launch);
            return self
                .perform(&Timed::Baselines(launches.into()))
                .map(|()| None);
        }
        self.run(&launch.place(), |session| {
            let launch = session.prepare(&self.modules.borrow(), launch, &self.properties)?;
            session.enqueue(&launch)?;
            session.wait()
        })?;
        Ok(None)
    }

    fn is_usable(&self) -> Result<(), EngineError> {
        self.with_session(|_| Ok(()))
    }
}
