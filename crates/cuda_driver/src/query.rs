//! Driver queries by `doctor` and by the choice of an engine: its version, its devices, their
//! names, compute capability and memory. Needs no `cust`.

use crate::load::Driver;
use core::ffi::{CStr, c_char, c_int, c_uint};
use core::fmt;

unsafe extern "C" {
    fn cuInit(flags: c_uint) -> c_int;
    fn cuDriverGetVersion(version: *mut c_int) -> c_int;
    fn cuDeviceGetCount(count: *mut c_int) -> c_int;
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int;
    fn cuDeviceGetPCIBusId(id: *mut c_char, length: c_int, device: c_int) -> c_int;
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int) -> c_int;
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> c_int;
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> c_int;
    fn cuGetErrorName(code: c_int, name: *mut *const c_char) -> c_int;
    fn cuGetErrorString(code: c_int, text: *mut *const c_char) -> c_int;
}

// Values of `CUdevice_attribute`, part of the driver's ABI.
const ATTRIBUTE_CLOCK_KHZ: c_int = 13;
const ATTRIBUTE_MULTIPROCESSORS: c_int = 16;
const ATTRIBUTE_MEMORY_CLOCK_KHZ: c_int = 36;
const ATTRIBUTE_MEMORY_BUS_BITS: c_int = 37;
const ATTRIBUTE_L2_CACHE_BYTES: c_int = 38;
const ATTRIBUTE_COMPUTE_MAJOR: c_int = 75;
const ATTRIBUTE_COMPUTE_MINOR: c_int = 76;
const ATTRIBUTE_SHARED_PER_BLOCK_OPTIN: c_int = 97;

/// An error code that the driver returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The driver function that returned it.
    pub call: &'static str,
    /// The number, as in `CUresult`.
    pub code: i32,
    /// The driver's name for it, `CUDA_ERROR_…`.
    pub name: String,
    /// The driver's description of it.
    pub text: String,
}

impl DriverError {
    /// The error `code` that `call` returned, in the driver's words.
    pub fn new(call: &'static str, code: i32) -> Self {
        Self {
            call,
            code,
            name: words(cuGetErrorName, code).unwrap_or_else(|| "unknown error".into()),
            text: words(cuGetErrorString, code).unwrap_or_default(),
        }
    }

    /// What the user can do about it, if known.
    pub fn cure(&self) -> Option<&'static str> {
        match self.code {
            34 => Some("the library is a stub for linking: install the NVIDIA driver itself"),
            100 => Some(
                "the driver sees no GPU: `nvidia-smi -L` must list one, and CUDA_VISIBLE_DEVICES must not hide it",
            ),
            101 => Some("no such device: check CUDA_VISIBLE_DEVICES"),
            2 => Some("the GPU's memory is full: `nvidia-smi` shows which processes hold it"),
            46 => Some(
                "the GPU is in exclusive use or its MIG instance is unavailable: see `nvidia-smi`",
            ),
            802 => Some("the NVSwitch fabric is not ready: start nvidia-fabricmanager"),
            803 => Some(
                "the driver's library and the kernel module differ in version: reboot, or reload the module",
            ),
            804 => Some(
                "the compatibility package does not support this GPU: remove it from LD_LIBRARY_PATH",
            ),
            222 => Some("the driver is older than the PTX: update it, or lower the PTX version"),
            999 => Some("the driver could not start: reload the module `nvidia_uvm`, or reboot"),
            _ => None,
        }
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} returned {} ({})", self.call, self.name, self.code)?;
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        if let Some(cure) = self.cure() {
            write!(f, "; {cure}")?;
        }
        Ok(())
    }
}

impl core::error::Error for DriverError {}

type Words = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;

fn words(ask: Words, code: i32) -> Option<String> {
    let mut text = core::ptr::null();
    // SAFETY: the driver writes a pointer to a static string, or returns an error and leaves null.
    let answer = unsafe { ask(code, &mut text) };
    if answer != 0 || text.is_null() {
        return None;
    }
    // SAFETY: a null-terminated string that lives as long as the driver does.
    Some(
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    )
}

/// The result of the driver's function `call`, from the code that it returned.
///
/// # Errors
///
/// The code is not 0.
pub fn check(call: &'static str, code: c_int) -> Result<(), DriverError> {
    if code == 0 {
        Ok(())
    } else {
        Err(DriverError::new(call, code))
    }
}

/// The newest CUDA version a driver supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverVersion {
    /// The 13 of 13.0.
    pub major: u32,
    /// The 0 of 13.0.
    pub minor: u32,
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A GPU as the driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The number by which this process addresses it.
    pub ordinal: u32,
    /// The marketing name.
    pub name: String,
    /// Compute capability, major and minor: (9, 0) for sm_90.
    pub compute_capability: (u32, u32),
    /// Device memory.
    pub memory_bytes: u64,
    /// Streaming multiprocessors (SMs).
    pub n_multiprocessors: u32,
    /// Shared memory a block may have when its kernel opts in.
    pub shared_per_block_optin_bytes: u32,
    /// Highest clock of the SMs, if the driver reports it.
    pub clock_khz: Option<u32>,
    /// Highest clock of the memory, if the driver reports it.
    pub memory_clock_khz: Option<u32>,
    /// Width of the memory bus, if the driver reports it.
    pub memory_bus_bits: Option<u32>,
    /// Size of the second-level cache, if the driver reports it.
    pub l2_cache_bytes: Option<u32>,
    /// Its address on the PCI bus, by which other libraries find the same GPU.
    pub pci_bus_id: Option<String>,
}

impl Driver {
    /// Starts the driver; must succeed before any other call. May be repeated.
    pub fn init(self) -> Result<(), DriverError> {
        // SAFETY: takes a number; the table is filled, as `self` proves.
        check("cuInit", unsafe { cuInit(0) })
    }

    /// The newest CUDA version the driver supports.
    pub fn version(self) -> Result<DriverVersion, DriverError> {
        let mut version: c_int = 0;
        // SAFETY: writes one int.
        check("cuDriverGetVersion", unsafe {
            cuDriverGetVersion(&mut version)
        })?;
        let version = version.unsigned_abs();
        Ok(DriverVersion {
            major: version / 1000,
            minor: version % 1000 / 10,
        })
    }

    /// Every GPU that this process may use. The driver must be started.
    pub fn devices(self) -> Result<Vec<DeviceInfo>, DriverError> {
        let mut n_devices: c_int = 0;
        // SAFETY: writes one int.
        check("cuDeviceGetCount", unsafe {
            cuDeviceGetCount(&mut n_devices)
        })?;
        (0..n_devices).map(device).collect()
    }
}

fn device(ordinal: c_int) -> Result<DeviceInfo, DriverError> {
    let mut device: c_int = 0;
    // SAFETY: writes one device handle.
    check("cuDeviceGet", unsafe { cuDeviceGet(&mut device, ordinal) })?;

    let mut name = [0u8; 256];
    // SAFETY: writes at most the stated number of bytes, the last of them zero.
    check("cuDeviceGetName", unsafe {
        cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as c_int, device)
    })?;
    let name = CStr::from_bytes_until_nul(&name).map_or_else(
        |_| String::from("unnamed GPU"),
        |name| name.to_string_lossy().into_owned(),
    );

    let mut memory_bytes = 0usize;
    // SAFETY: writes one size.
    check("cuDeviceTotalMem", unsafe {
        cuDeviceTotalMem_v2(&mut memory_bytes, device)
    })?;

    let attribute = |which: c_int| -> Result<u32, DriverError> {
        let mut value: c_int = 0;
        // SAFETY: writes one int.
        check("cuDeviceGetAttribute", unsafe {
            cuDeviceGetAttribute(&mut value, which, device)
        })?;
        Ok(value.unsigned_abs())
    };
    let told = |which: c_int| attribute(which).ok().filter(|&value| value != 0);
    Ok(DeviceInfo {
        ordinal: ordinal.unsigned_abs(),
        name,
        compute_capability: (
            attribute(ATTRIBUTE_COMPUTE_MAJOR)?,
            attribute(ATTRIBUTE_COMPUTE_MINOR)?,
        ),
        memory_bytes: memory_bytes as u64,
        n_multiprocessors: attribute(ATTRIBUTE_MULTIPROCESSORS)?,
        shared_per_block_optin_bytes: attribute(ATTRIBUTE_SHARED_PER_BLOCK_OPTIN)?,
        clock_khz: told(ATTRIBUTE_CLOCK_KHZ),
        memory_clock_khz: told(ATTRIBUTE_MEMORY_CLOCK_KHZ),
        memory_bus_bits: told(ATTRIBUTE_MEMORY_BUS_BITS),
        l2_cache_bytes: told(ATTRIBUTE_L2_CACHE_BYTES),
        pci_bus_id: pci_bus_id(device),
    })
}

fn pci_bus_id(device: c_int) -> Option<String> {
    let mut id = [0u8; 32];
    // SAFETY: writes at most the stated number of bytes, the last of them zero.
    let code = unsafe { cuDeviceGetPCIBusId(id.as_mut_ptr().cast(), id.len() as c_int, device) };
    let id = CStr::from_bytes_until_nul(&id).ok()?;
    (code == 0).then(|| id.to_string_lossy().into_owned())
}
