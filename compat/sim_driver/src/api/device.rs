//! Initialisation, versions and devices.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{api, put, put_if, put_text};
use crate::attributes::attribute;
use crate::driver::driver;
use crate::peers;
use crate::start::initialize;
use crate::status::{Outcome, Status};

/// The driver API that is simulated: CUDA 13.0.
pub const VERSION: i32 = 13000;

/// 16 bytes that distinguish a device from others.
fn uuid(ordinal: u32) -> [u8; 16] {
    let mut uuid = *b"lockstep-sim-000";
    uuid[15] = b'0' + ordinal as u8;
    uuid
}

/// The bus address of a device.
fn bus_id(ordinal: u32) -> String {
    format!("0000:{:02X}:00.0", ordinal + 1)
}

/// The old properties structure.
#[repr(C)]
pub struct Properties {
    max_threads: c_int,
    max_block: [c_int; 3],
    max_grid: [c_int; 3],
    shared_bytes: c_int,
    constant_bytes: c_int,
    warp_size: c_int,
    max_pitch: c_int,
    registers: c_int,
    clock_khz: c_int,
    texture_align: c_int,
}

/// An attribute of the link between any two devices: `CU_DEVICE_P2P_ATTRIBUTE_…`.
fn p2p_attribute(number: u32) -> Outcome<c_int> {
    Ok(match number {
        // All links are alike.
        PERFORMANCE_RANK => 0,
        ACCESS_SUPPORTED | NATIVE_ATOMIC_SUPPORTED => 1,
        // There are no arrays.
        ARRAY_ACCESS_SUPPORTED | ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}

const PERFORMANCE_RANK: u32 = 1;
const ACCESS_SUPPORTED: u32 = 2;
const NATIVE_ATOMIC_SUPPORTED: u32 = 3;
const ARRAY_ACCESS_SUPPORTED: u32 = 4;
const ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: u32 = 5;

api! {
    fn cuInit(flags: c_uint) {
        Status::INVALID_VALUE.when(flags != 0)?;
        initialize()
    }
    fn cuDriverGetVersion(version: *mut c_int) {
        put(version, VERSION)
    }
    fn cuDeviceGetCount(count: *mut c_int) {
        put(count, driver()?.devices.len() as c_int)
    }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        driver()?.device(ordinal)?;
        put(device, ordinal)
    }
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int) {
        let driver = driver()?;
        driver.device(device)?;
        put_text(name, usize::try_from(len).unwrap_or(0), &driver.settings.name)
    }
    fn cuDeviceGetUuid(out: *mut [u8; 16], device: c_int) {
        put(out, uuid(driver()?.device(device)?.ordinal))
    }
    fn cuDeviceGetUuid_v2(out: *mut [u8; 16], device: c_int) = cuDeviceGetUuid;
    fn cuDeviceGetAttribute(value: *mut c_int, number: c_uint, device: c_int) {
        let driver = driver()?;
        let device = driver.device(device)?;
        let answer = match number {
            33 => Some(device.ordinal as i32 + 1),
            _ => attribute(number, &driver.settings, device.sim.config()),
        };
        put(value, answer.ok_or(Status::INVALID_VALUE)?)
    }
    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: c_int) {
        let driver = driver()?;
        driver.device(device)?;
        put(major, driver.settings.compute.0 as c_int)?;
        put(minor, driver.settings.compute.1 as c_int)
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) {
        put(bytes, driver()?.device(device)?.sim.config().memory_bytes as usize)
    }
    fn cuDeviceGetProperties(properties: *mut Properties, device: c_int) {
        let driver = driver()?;
        let device = driver.device(device)?;
        let ask = |n| attribute(n, &driver.settings, device.sim.config()).unwrap_or_default();
        put(properties, Properties {
            max_threads: ask(1),
            max_block: [ask(2), ask(3), ask(4)],
            max_grid: [ask(5), ask(6), ask(7)],
            shared_bytes: ask(8),
            constant_bytes: ask(9),
            warp_size: ask(10),
            max_pitch: ask(11),
            registers: ask(12),
            clock_khz: ask(13),
            texture_align: ask(14),
        })
    }
    fn cuDeviceGetPCIBusId(out: *mut c_char, len: c_int, device: c_int) {
        let ordinal = driver()?.device(device)?.ordinal;
        put_text(out, usize::try_from(len).unwrap_or(0), &bus_id(ordinal))
    }
    fn cuDeviceGetByPCIBusId(device: *mut c_int, id: *const c_char) {
        let id = super::text(id)?;
        let driver = driver()?;
        let found = driver.devices.iter().find(|d| bus_id(d.ordinal).eq_ignore_ascii_case(id));
        put(device, found.ok_or(Status::INVALID_DEVICE)?.ordinal as c_int)
    }
    fn cuDeviceGetLuid(luid: *mut c_char, mask: *mut c_uint, device: c_int) {
        driver()?.device(device)?;
        put_if(mask, 1);
        put(luid.cast::<[u8; 8]>(), [0; 8])
    }
    fn cuDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int) {
        let driver = driver()?;
        let (device, peer) = (driver.device(device)?, driver.device(peer)?);
        put(can, peers::can_access(device, peer).into())
    }
    fn cuDeviceGetP2PAttribute(value: *mut c_int, number: c_uint, a: c_int, b: c_int) {
        driver()?.device(a)?;
        driver()?.device(b)?;
        Status::INVALID_DEVICE.when(a == b)?;
        put(value, p2p_attribute(number)?)
    }
    fn cuDeviceGetTexture1DLinearMaxWidth(width: *mut usize, _format: c_uint, _channels: c_uint, device: c_int) {
        driver()?.device(device)?;
        let _ = width;
        Err(Status::NOT_SUPPORTED)
    }
    fn cuDeviceGetExecAffinitySupport(supported: *mut c_int, _kind: c_uint, device: c_int) {
        driver()?.device(device)?;
        put(supported, 0)
    }
    fn cuDeviceGetGraphMemAttribute(device: c_int, _attribute: c_uint, value: *mut c_void) {
        driver()?.device(device)?;
        put(value.cast::<u64>(), 0)
    }
    fn cuDeviceSetGraphMemAttribute(device: c_int, _attribute: c_uint, _value: *mut c_void) {
        driver()?.device(device).map(drop)
    }
    fn cuDeviceGraphMemTrim(device: c_int) {
        driver()?.device(device).map(drop)
    }
}
