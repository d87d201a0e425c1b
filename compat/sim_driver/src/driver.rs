//! Process-wide state: the settings and the devices. All other state is held by its own module.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use ptx_sim::{Device, DeviceConfig};

use crate::fork;
use crate::settings::Settings;
use crate::status::{Outcome, Status};

/// A simulated device.
pub struct SimDevice {
    /// Its number.
    pub ordinal: u32,
    /// The simulator's device.
    pub sim: Device,
    /// The error that a launch left, which all later calls return, in any context: as on a GPU,
    /// only a new process gets rid of it. 0 if there is none.
    pub failed: AtomicU32,
}

/// What the process simulates.
pub struct Driver {
    /// The requested settings.
    pub settings: Settings,
    /// The devices, by number.
    pub devices: Vec<Arc<SimDevice>>,
}

static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();

impl Driver {
    fn new(settings: Settings) -> Self {
        let usual = DeviceConfig::default();
        // Only a linker refuses more than 48 KiB of static shared memory.
        let config = DeviceConfig {
            memory_bytes: settings.memory_bytes,
            concurrent: true,
            // Programs that know nothing of the simulator are as quick as the machine allows; with
            // checks, all is in the usual order even so.
            threads: std::thread::available_parallelism().ok().map(usize::from),
            static_shared_limit: usual.shared_limit,
            ..usual
        };
        let devices = Device::several(settings.n_devices as usize, &config);
        let device = |(ordinal, sim)| {
            Arc::new(SimDevice {
                ordinal,
                sim,
                failed: AtomicU32::new(0),
            })
        };
        Self {
            devices: (0..).zip(devices).map(device).collect(),
            settings,
        }
    }

    /// The device with this number.
    pub fn device(&self, ordinal: i32) -> Outcome<&Arc<SimDevice>> {
        let device = usize::try_from(ordinal).ok();
        let device = device.and_then(|ordinal| self.devices.get(ordinal));
        device.ok_or(Status::INVALID_DEVICE)
    }

    /// The device whose address space contains an address.
    pub fn device_of_address(&self, address: u64) -> Option<&Arc<SimDevice>> {
        self.devices
            .iter()
            .find(|device| device.sim.owns_address(address))
    }
}

impl SimDevice {
    /// Whether it is usable: no launch has failed.
    pub fn check(&self) -> Outcome {
        match self.failed.load(Ordering::Acquire) {
            0 => Ok(()),
            error => Err(Status(error)),
        }
    }

    /// Records the error that all later calls will return.
    pub fn fail(&self, status: Status) {
        let orders = (Ordering::AcqRel, Ordering::Acquire);
        let _ = self
            .failed
            .compare_exchange(0, status.0, orders.0, orders.1);
    }
}

/// Makes the driver with these settings, unless it has already been made.
pub(crate) fn make(
    settings: impl FnOnce() -> Result<Settings, String>,
) -> Result<&'static Driver, &'static str> {
    fork::watch();
    let made = DRIVER.get_or_init(|| settings().map(Driver::new));
    made.as_ref().map_err(String::as_str)
}

/// The driver, once this process has initialized it.
pub fn driver() -> Outcome<&'static Driver> {
    Status::NOT_INITIALIZED.when(fork::is_lost())?;
    match DRIVER.get() {
        Some(Ok(driver)) => Ok(driver),
        _ => Err(Status::NOT_INITIALIZED),
    }
}
