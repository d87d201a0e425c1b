//! The common part of the fuzz targets: a mutator that knows the parts of PTX, and launches of
//! all kernels of a text.

pub mod forms;
pub mod launch;
pub mod mutate;
pub mod random;
pub mod words;

use ptx_sim::{Device, DeviceConfig, LoadedModule, Module};

/// Device memory of a run: enough for any honest module, and little enough for a process
/// under a sanitizer.
const MEMORY_BYTES: u64 = 64 << 20;

/// Parses and loads a text, and makes the queries that a host may make of any.
pub fn load(text: &str) -> Option<(Device, LoadedModule)> {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    for kernel in module.kernels() {
        assert!(module.kernel(kernel.name).is_some());
    }
    module.unsupported();
    let device = Device::with_config(DeviceConfig {
        memory_bytes: MEMORY_BYTES,
        ..DeviceConfig::default()
    });
    let loaded = device.load(&module).ok()?;
    Some((device, loaded))
}
