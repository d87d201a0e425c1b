//! What a launch and a device refuse to exceed: fuel, and the host's memory.

mod common;

use common::run_with;
use ptx_sim::{Device, DeviceConfig, LaunchError, LaunchOptions, MemoryError};

/// Four instructions of two warps, far less than a time slice.
fn run_with_fuel(fuel: u64) -> Result<(), LaunchError> {
    let ptx = ".visible .entry k(.param .u64 buffer)
{
	.reg .b32 %r<4>;
	mov.u32 %r1, 1;
	add.u32 %r2, %r1, 1;
	add.u32 %r3, %r2, 1;
	ret;
}";
    let options = LaunchOptions {
        fuel: Some(fuel),
        ..LaunchOptions::default()
    };
    run_with(ptx, [3, 1, 1], [64, 1, 1], 0, &[0], options).map(drop)
}

#[test]
fn fuel_is_for_all_warps_of_a_block_together() {
    run_with_fuel(8).unwrap();
    for fuel in [0, 1, 4, 7] {
        let error = run_with_fuel(fuel).unwrap_err();
        assert!(matches!(error, LaunchError::OutOfFuel(_)), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("within {fuel} warp instructions")),
            "{text}"
        );
        assert!(text.contains("PTX line"), "{text}");
    }
}

#[test]
fn memory_that_the_host_has_not_is_an_error() {
    let mut device = Device::with_config(DeviceConfig {
        memory_bytes: u64::MAX,
        ..DeviceConfig::default()
    });
    for requested in [1 << 62, u64::MAX] {
        let error = device.alloc(requested, "much").unwrap_err();
        assert!(
            matches!(error, MemoryError::HostOutOfMemory { .. }),
            "{error}"
        );
    }
    assert_eq!(device.used_bytes(), 0);
    device.alloc(8, "little").unwrap();
}
