//! All that the process has of simulated devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use ptx_sim::{Device, DeviceConfig};

use crate::context::Context;
use crate::event::Event;
use crate::fork;
use crate::graph::{Executable, Graph};
use crate::handles::{Kind, Table};
use crate::host_memory::HostMemory;
use crate::linker::Linking;
use crate::module::{Function, Library, Module, Parsed};
use crate::orders::Orders;
use crate::pool::{Pool, Pools};
use crate::recorder::Recorder;
use crate::settings::Settings;
use crate::status::{Outcome, Status};
use crate::stream::Stream;
use crate::user_object::UserObject;

/// A simulated device, with its primary context.
pub struct SimDevice {
    /// Its number.
    pub ordinal: u32,
    /// The simulator's.
    pub sim: Device,
    /// Its primary context.
    pub primary: Mutex<Primary>,
    /// Its memory pools.
    pub pool: Pools,
    /// The error that a launch has left, which all later calls answer, whatever their
    /// context: as on a GPU, only a new process is rid of it. 0 if none has.
    pub failed: AtomicU32,
}

/// A device's primary context, if anybody has retained it.
#[derive(Default)]
pub struct Primary {
    /// The context.
    pub context: Option<Arc<Context>>,
    /// How often it was retained and not released.
    pub n_retained: u32,
    /// `CU_CTX_…`
    pub flags: u32,
}

/// All that the process has of simulated devices.
pub struct Driver {
    /// What it was asked to be like.
    pub settings: Settings,
    /// By number.
    pub devices: Vec<Arc<SimDevice>>,
    /// `CUcontext`
    pub contexts: Table<Context>,
    /// `CUmodule`
    pub modules: Table<Module>,
    /// `CUfunction` and `CUkernel`
    pub functions: Table<Function>,
    /// `CUlibrary`
    pub libraries: Table<Library>,
    /// `CUstream`, without the default ones
    pub streams: Table<Stream>,
    /// `CUevent`
    pub events: Table<Event>,
    /// `CUgraph`
    pub graphs: Table<Graph>,
    /// `CUgraphExec`
    pub executables: Table<Executable>,
    /// `CUuserObject`
    pub user_objects: Table<UserObject>,
    /// `CUlinkState`
    pub linkers: Table<Linking>,
    /// `CUmemoryPool`
    pub pools: Table<Pool>,
    /// Memory of the host that devices use.
    pub host: HostMemory,
    /// PTX that has been parsed.
    pub parsed: Parsed,
    /// Which launches have been tried in other orders.
    pub(crate) orders: Orders,
    /// What has been found out.
    pub recorder: Recorder,
}

static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();

impl Driver {
    fn new(settings: Settings) -> Self {
        let device = |ordinal| {
            let config = DeviceConfig {
                memory_bytes: settings.memory_bytes,
                ordinal,
                concurrent: true,
                ..DeviceConfig::default()
            };
            Arc::new(SimDevice {
                ordinal,
                sim: Device::with_config(config),
                primary: Mutex::default(),
                pool: Pools::default(),
                failed: AtomicU32::new(0),
            })
        };
        Self {
            devices: (0..settings.n_devices).map(device).collect(),
            contexts: Table::new(Kind::Context),
            modules: Table::new(Kind::Module),
            functions: Table::new(Kind::Function),
            libraries: Table::new(Kind::Library),
            streams: Table::new(Kind::Stream),
            events: Table::new(Kind::Event),
            graphs: Table::new(Kind::Graph),
            executables: Table::new(Kind::Executable),
            user_objects: Table::new(Kind::UserObject),
            linkers: Table::new(Kind::Linker),
            pools: Table::new(Kind::Pool),
            host: HostMemory::default(),
            parsed: Parsed::default(),
            orders: Orders::default(),
            recorder: Recorder::new(&settings),
            settings,
        }
    }

    /// The device of a number.
    pub fn device(&self, ordinal: i32) -> Outcome<&Arc<SimDevice>> {
        let device = usize::try_from(ordinal).ok();
        let device = device.and_then(|ordinal| self.devices.get(ordinal));
        device.ok_or(Status::INVALID_DEVICE)
    }

    /// The device in whose address space an address lies.
    pub fn device_of_address(&self, address: u64) -> Option<&Arc<SimDevice>> {
        self.devices
            .iter()
            .find(|device| device.sim.owns_address(address))
    }
}

impl SimDevice {
    /// Whether it can be used: no launch has failed.
    pub fn check(&self) -> Outcome {
        match self.failed.load(Ordering::Acquire) {
            0 => Ok(()),
            error => Err(Status(error)),
        }
    }

    /// Notes the error that all later calls will answer.
    pub fn fail(&self, status: Status) {
        let orders = (Ordering::AcqRel, Ordering::Acquire);
        let _ = self
            .failed
            .compare_exchange(0, status.0, orders.0, orders.1);
    }

    /// Its primary context's state.
    pub fn primary(&self) -> std::sync::MutexGuard<'_, Primary> {
        self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the driver, if nobody has done so; `cuInit`.
pub fn initialize() -> Outcome {
    fork::watch();
    let made = DRIVER.get_or_init(|| {
        let settings = Settings::from_environment()?;
        crate::recorder::write_at_exit();
        Ok(Driver::new(settings))
    });
    match made {
        Ok(driver) if driver.devices.is_empty() => Err(Status::NO_DEVICE),
        Ok(_) => Ok(()),
        Err(message) => {
            eprintln!("lockstep: {message}");
            Err(Status::INVALID_VALUE)
        }
    }
}

/// Makes the driver with settings of one's own, before anybody else makes it.
///
/// # Errors
/// If there is one already.
pub fn initialize_with(settings: Settings) -> Result<(), Box<Settings>> {
    fork::watch();
    let mut settings = Some(settings);
    let made = DRIVER.get_or_init(|| {
        crate::recorder::write_at_exit();
        settings.take().map(Driver::new).ok_or_else(String::new)
    });
    match settings {
        Some(settings) => Err(Box::new(settings)),
        None => {
            debug_assert!(made.is_ok(), "the settings were used");
            Ok(())
        }
    }
}

/// The driver, once this process has initialized it.
pub fn driver() -> Outcome<&'static Driver> {
    if fork::is_lost() {
        return Err(Status::NOT_INITIALIZED);
    }
    match DRIVER.get() {
        Some(Ok(driver)) => Ok(driver),
        _ => Err(Status::NOT_INITIALIZED),
    }
}
