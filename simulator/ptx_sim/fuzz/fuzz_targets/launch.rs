//! The target for bodies of kernels: decoding and running any body ends in a result or an
//! error, without a panic, a hang or an access to the host's memory (the address sanitizer
//! watches).

#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx_sim::{Device, LaunchError, Module};

/// Fuel of a block: enough for a few loops.
const FUEL: u64 = 2_000;

fuzz_target!(|bytes: &[u8]| {
    let body = String::from_utf8_lossy(bytes);
    let text = if body.starts_with(".version") {
        body.into_owned()
    } else {
        format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.global .align 16 .b8 data[256];\n\
             .extern .shared .align 16 .b8 pool[];\n\
             .func (.param .b32 o) f(.param .b32 i) {{ .reg .b32 %r; ld.param.b32 %r, [i]; \
             st.param.b32 [o], %r; ret; }}\n\
             .entry k(.param .u64 p, .param .u32 n)\n{{\n.reg .pred %p<4>;\n.reg .b16 %h<8>;\n\
             .reg .b32 %r<12>;\n.reg .b64 %d<6>;\n.reg .f32 %f<6>;\n.reg .f64 %g<4>;\n\
             .shared .align 16 .b8 s[128];\n.local .align 16 .b8 l[64];\n\
             .param .b32 pi, po;\nld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\n\
             mov.u64 %d1, data;\nmov.u32 %r1, s;\nmov.u32 %r2, l;\n{body}\nret;\n}}\n"
        )
    };
    let Ok(module) = Module::parse(&text) else {
        return;
    };
    let device = Device::new();
    let Ok(loaded) = device.load(&module) else {
        return;
    };
    let Ok(buffer) = device.zeros::<u64>(64, "buffer") else {
        return;
    };
    for kernel in module.kernels() {
        let block = match kernel.bounds.required_block {
            Some(block) => block,
            None => [kernel.bounds.max_threads.unwrap_or(40).clamp(1, 40), 1, 1],
        };
        let mut call = device.call(&loaded, kernel.name).block(block).grid(2);
        for param in kernel.params {
            call = match param.size_bytes {
                8 => call.arg(buffer),
                4 => call.arg(3_u32),
                2 => call.arg(3_u16),
                1 => call.arg(3_u8),
                _ => return,
            };
        }
        let outcome = call.dynamic_shared_bytes(64).fuel(FUEL).check(true).run();
        if let Err(error @ LaunchError::Internal { .. }) = outcome {
            panic!("{error}");
        }
    }
});
