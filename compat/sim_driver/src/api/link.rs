//! Linking several PTX inputs into one module.

use std::ffi::{c_char, c_uint, c_void};

use super::{api, put, put_if, text};
use crate::driver::driver;
use crate::image::{Image, linked, linked_image};
use crate::jit::Options;
use crate::linker::{Linking, stand_in};
use crate::recorder::recorder;
use crate::status::{Outcome, Status};

/// `CU_JIT_INPUT_…`
const PTX: u32 = 1;
const FATBINARY: u32 = 2;
const LIBRARY: u32 = 4;
const LAST: u32 = 5;

/// Reports what went wrong to the log's readers.
unsafe fn tell(linking: &Linking, message: &str) {
    if let Ok(recorder) = recorder() {
        recorder.not_loaded(format!("a link failed: {message}"));
    }
    if let Some(logs) = linking.state().logs {
        unsafe { logs.tell(message) };
    }
}

unsafe fn add(handle: usize, kind: u32, image: &Image, name: *const c_char) -> Outcome {
    let linking = Linking::of(handle)?;
    Status::INVALID_VALUE.when(kind > LAST)?;
    let number = linking.state().texts.len() + 1;
    let name = match unsafe { text(name) } {
        Ok(name) if !name.is_empty() => name.to_owned(),
        _ => format!("input {number}"),
    };
    if let (FATBINARY | LIBRARY, Image::Bytes(bytes)) = (kind, image)
        && let Some(ptx) = stand_in(bytes)
    {
        linking.state().texts.push((name, ptx.to_owned()));
        return Ok(());
    }
    if kind != PTX && kind != FATBINARY {
        let message = format!("{name} is machine code or a library: the simulator links only PTX");
        unsafe { tell(&linking, &message) };
        return Err(Status::NO_BINARY_FOR_GPU);
    }
    let compute = driver()?.settings.compute;
    match image.ptx(compute) {
        Ok(ptx) => {
            // An input that cannot be parsed is reported by name.
            let alone = vec![(name.clone(), ptx)];
            if let Err(error) = ptx_sim::Linker::new().add(&name, &alone[0].1) {
                unsafe { tell(&linking, &error.to_string()) };
                return Err(Status::INVALID_PTX);
            }
            linking.state().texts.extend(alone);
            Ok(())
        }
        Err(refusal) => {
            unsafe { tell(&linking, &format!("{name}: {}", refusal.message)) };
            Err(refusal.status)
        }
    }
}

api! {
    fn cuLinkCreate_v2(n: c_uint, options: *const c_uint, values: *mut *mut c_void, out: *mut usize) {
        crate::context::Context::current()?;
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, Linking::begin(Options::of(n, options, values)?)?)
    }
    fn cuLinkAddData_v2(handle: usize, kind: c_uint, data: *const c_void, size: usize, name: *const c_char, n: c_uint, options: *const c_uint, values: *mut *mut c_void) {
        Linking::of(handle)?.limit(Options::of(n, options, values)?.limits);
        Status::INVALID_VALUE.when(data.is_null() || size == 0)?;
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size);
        add(handle, kind, &Image::from_bytes(bytes)?, name)
    }
    fn cuLinkAddFile_v2(handle: usize, kind: c_uint, path: *const c_char, n: c_uint, options: *const c_uint, values: *mut *mut c_void) {
        Linking::of(handle)?.limit(Options::of(n, options, values)?.limits);
        add(handle, kind, &super::module::read_file(path)?, path)
    }
    fn cuLinkComplete(handle: usize, out: *mut *const c_void, size: *mut usize) {
        let linking = Linking::of(handle)?;
        let (texts, limits) = {
            let state = linking.state();
            (state.texts.clone(), state.limits)
        };
        if let Err(message) = linked(&texts) {
            tell(&linking, &message);
            return Err(Status::INVALID_SOURCE);
        }
        let mut state = linking.state();
        let image = state.image.insert(linked_image(&texts, limits));
        put_if(size, image.len());
        // Valid until the state is destroyed.
        put(out, image.as_ptr().cast())
    }
    fn cuLinkDestroy(handle: usize) {
        Linking::destroy(handle)
    }
}
