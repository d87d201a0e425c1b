//! The driver and the GPUs. Both are optional: without them, kernels run on the simulator.

use super::check::Check;
use cuda_driver::DeviceInfo;
use indicatif::HumanBytes;

pub(super) fn checks() -> Vec<Check> {
    let driver = match cuda_driver::load() {
        Ok(driver) => driver,
        Err(error) => {
            // Its sentence ends with what to do.
            let detail = error.to_string();
            let (detail, cure) = detail.split_once("; ").unwrap_or((&detail, "install one"));
            return vec![Check::absent(
                "CUDA driver",
                detail,
                format!("to run on a GPU, {cure}"),
            )];
        }
    };
    let cure = |error: &cuda_driver::DriverError| {
        error
            .cure()
            .unwrap_or("nvidia-smi    # shows more about the driver")
            .to_string()
    };
    if let Err(error) = driver.init() {
        return vec![Check::absent(
            "CUDA driver",
            error.to_string(),
            cure(&error),
        )];
    }
    let mut checks = vec![match driver.version() {
        Ok(version) => Check::ok("CUDA driver", format!("supports CUDA {version}")),
        Err(error) => Check::absent("CUDA driver", error.to_string(), cure(&error)),
    }];
    match driver.devices() {
        Ok(devices) if devices.is_empty() => checks.push(Check::absent(
            "GPU",
            "the driver reports none",
            "unset CUDA_VISIBLE_DEVICES, if it is set",
        )),
        Ok(devices) => checks.extend(
            devices
                .iter()
                .map(|device| Check::ok("GPU", describe(device))),
        ),
        Err(error) => checks.push(Check::absent("GPU", error.to_string(), cure(&error))),
    }
    checks
}

fn describe(device: &DeviceInfo) -> String {
    let (major, minor) = device.compute_capability;
    format!(
        "{}: {}, compute capability {major}.{minor}, {}",
        device.ordinal,
        device.name,
        HumanBytes(device.memory_bytes)
    )
}
