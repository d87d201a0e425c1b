//! Error texts, functions by name, the profiler.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::Once;

use super::{api, get, put, put_if, text};
use crate::recorder::recorder;
use crate::status::Status;

/// The table without which NVIDIA's runtime gives up. Refusing others does no harm: NVRTC also asks
/// for one.
const RUNTIME_TABLE: [u8; 16] = [
    0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9,
];

/// Advice for a user whose program asks for a table and cannot do without it.
fn advice(table: [u8; 16]) -> Option<&'static str> {
    (table == RUNTIME_TABLE).then_some(
        "the program uses NVIDIA's CUDA runtime, which asks for undocumented parts of the \
         driver; link the program with `nvcc -cudart shared` and have it find the libcudart.so \
         next to this driver",
    )
}

api! {
    fn cuGetErrorString(error: c_uint, out: *mut *const c_char) {
        match Status(error).texts() {
            Some((_, text)) => put(out, text.as_ptr()),
            None => {
                put_if(out, std::ptr::null());
                Err(Status::INVALID_VALUE)
            }
        }
    }
    fn cuGetErrorName(error: c_uint, out: *mut *const c_char) {
        match Status(error).texts() {
            Some((name, _)) => put(out, name.as_ptr()),
            None => {
                put_if(out, std::ptr::null());
                Err(Status::INVALID_VALUE)
            }
        }
    }
    fn cuGetExportTable(out: *mut *const c_void, id: *const [u8; 16]) {
        put_if(out, std::ptr::null());
        if let Some(advice) = advice(get(id)?) {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| eprintln!("lockstep: {advice}"));
        }
        Err(Status::NOT_SUPPORTED)
    }
    // Not CUDA's: the simulator's own runtime writes to the log with it.
    fn lockstepNote(note: *const c_char) {
        recorder()?.note(text(note)?);
        Ok(())
    }
    fn cuProfilerStart() {
        crate::context::Context::current().map(drop)
    }
    fn cuProfilerStop() {
        crate::context::Context::current().map(drop)
    }
    fn cuProfilerInitialize(_config: *const c_char, _output: *const c_char, _mode: c_uint) {
        Err(Status::NOT_SUPPORTED)
    }
    fn cuFlushGPUDirectRDMAWrites(_target: c_uint, _scope: c_uint) {
        crate::context::Context::current().map(drop)
    }
    fn cuCoredumpGetAttribute(_number: c_uint, _value: *mut c_void, _size: *mut usize) {
        Err(Status::NOT_SUPPORTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_runtime_is_told_what_to_do() {
        let advice_of_runtime = advice(RUNTIME_TABLE).expect("some");
        assert!(advice_of_runtime.contains("-cudart shared"));
        // NVRTC's.
        let other = *b"\xda\x91\x51\xd3\x3a\xe6\xcc\x41\xa5\xc0\x4f\x26\xd5\x33\xe3\x28";
        assert_eq!(advice(other), None);
    }
}
