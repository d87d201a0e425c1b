//! Clocks, power and temperature of the board, read only, from the driver's management library
//! (NVML) if it is there.

use super::super::timing::Sensors;
use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};

/// The library's file name.
const NVML: &str = "libnvidia-ml.so.1";

// Values of `nvmlClockType_t` and `nvmlTemperatureSensors_t`, part of its ABI.
const CLOCK_SM: c_int = 1;
const CLOCK_MEMORY: c_int = 2;
const TEMPERATURE_GPU: c_int = 0;

type Device = *mut c_void;
type Init = unsafe extern "C" fn() -> c_int;
type ByBusId = unsafe extern "C" fn(*const c_char, *mut Device) -> c_int;
/// `nvmlDeviceGetClockInfo` and `nvmlDeviceGetTemperature`.
type ReadOne = unsafe extern "C" fn(Device, c_int, *mut c_uint) -> c_int;
type ReadPower = unsafe extern "C" fn(Device, *mut c_uint) -> c_int;
type ReadEnergy = unsafe extern "C" fn(Device, *mut u64) -> c_int;

/// A board, and the functions that read its sensors.
pub(super) struct Board {
    device: Device,
    clock: ReadOne,
    temperature: ReadOne,
    power: ReadPower,
    /// Boards before Volta have none.
    energy: Option<ReadEnergy>,
    /// Keeps the functions loaded.
    _library: Library,
}

impl Board {
    /// The board at that PCI bus address, if the library knows it.
    pub(super) fn find(pci_bus_id: &str) -> Option<Self> {
        let bus_id = CString::new(pci_bus_id).ok()?;
        // SAFETY: the driver's own library; loading it has no other effect.
        let library = unsafe { Library::new(NVML) }.ok()?;
        let mut device = std::ptr::null_mut();
        // SAFETY: the names and signatures are those of `nvml.h`; one handle is written.
        unsafe {
            let init = library.get::<Init>("nvmlInit_v2").ok()?;
            let by_bus_id = library.get::<ByBusId>("nvmlDeviceGetHandleByPciBusId_v2");
            if init() != 0 || by_bus_id.ok()?(bus_id.as_ptr(), &mut device) != 0 {
                return None;
            }
            let energy = library.get("nvmlDeviceGetTotalEnergyConsumption");
            Some(Self {
                device,
                clock: *library.get("nvmlDeviceGetClockInfo").ok()?,
                temperature: *library.get("nvmlDeviceGetTemperature").ok()?,
                power: *library.get("nvmlDeviceGetPowerUsage").ok()?,
                energy: energy.ok().map(|function| *function),
                _library: library,
            })
        }
    }

    /// The sensors' current readings.
    pub(super) fn read(&self) -> Sensors {
        let told = |code: c_int, value: c_uint| (code == 0).then_some(value);
        let one = |read: ReadOne, which: c_int| {
            let mut value = 0;
            // SAFETY: the handle is valid as long as the library; writes one number.
            let code = unsafe { read(self.device, which, &mut value) };
            told(code, value)
        };
        let mut milliwatts = 0;
        // SAFETY: as above.
        let code = unsafe { (self.power)(self.device, &mut milliwatts) };
        Sensors {
            sm_clock_mhz: one(self.clock, CLOCK_SM),
            memory_clock_mhz: one(self.clock, CLOCK_MEMORY),
            power_w: told(code, milliwatts).map(|milliwatts| f64::from(milliwatts) / 1000.0),
            temperature_c: one(self.temperature, TEMPERATURE_GPU),
        }
    }

    /// The energy that the board has used since its driver was loaded, in joules. The counter
    /// advances in steps, some tens of them per second.
    pub(super) fn joules(&self) -> Option<f64> {
        let mut millijoules = 0;
        // SAFETY: the handle is valid as long as the library; writes one number.
        let code = unsafe { (self.energy?)(self.device, &mut millijoules) };
        (code == 0).then(|| millijoules as f64 / 1000.0)
    }
}
