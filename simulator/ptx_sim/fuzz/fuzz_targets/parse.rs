//! The target for arbitrary bytes: none make the parser or the decoder panic or hang.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(module) = ptx_sim::Module::parse(&String::from_utf8_lossy(bytes)) {
        // The queries that a host may make of any module.
        for kernel in module.kernels() {
            assert!(module.kernel(kernel.name).is_some());
        }
        module.unsupported();
    }
});
