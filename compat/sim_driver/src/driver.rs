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
    /// The simulator's.
    pub sim: Device,
    /// The error that a launch has left, which all later calls answer, whatever their
    /// context: as on a GPU, only a new process is rid of it. 0 if none has.
    pub failed: AtomicU32,
}

/// What the process has been asked to simulate.
pub struct Driver {
    /// What it was asked to be like.
    pub settings: Settings,
    /// By number.
    pub devices: Vec<Arc<SimDevice>>,
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
                failed: AtomicU32::new(0),
            })
        };
        Self {
            devices: (0..settings.n_devices).map(device).collect(),
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
}

/// Makes the driver with these settings, if nobody has made it before.
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
