//! No bytes make the parser or the decoder panic or hang.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(module) = ptx_sim::Module::parse(&String::from_utf8_lossy(bytes)) {
        // What a host may ask of any module.
        for kernel in module.kernels() {
            assert!(module.kernel(kernel.name).is_some());
        }
        module.unsupported();
    }
});
