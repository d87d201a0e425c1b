//! Modules: loading, functions, variables.

use std::ffi::{c_char, c_uint, c_void};

use super::{api, put, put_if, put_list, text};
use crate::context::Context;
use crate::driver::driver;
use crate::image::Image;
use crate::module::Module;
use crate::status::{Outcome, Status};

/// `CU_JIT_…` options that texts are given by.
const INFO_LOG: u32 = 3;
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// Where a client wants to read what went wrong.
#[derive(Clone, Copy)]
pub struct Logs {
    error: *mut c_char,
    error_bytes: usize,
    /// Where the number of bytes goes: the option's own value.
    error_value: *mut *mut c_void,
    info_value: *mut *mut c_void,
}

// SAFETY: The client's buffers are written to by the thread only that makes the call.
unsafe impl Send for Logs {}

impl Logs {
    /// Of a list of options.
    pub(super) unsafe fn of(
        n: c_uint,
        options: *const c_uint,
        values: *mut *mut c_void,
    ) -> Outcome<Self> {
        let mut logs = Self {
            error: std::ptr::null_mut(),
            error_bytes: 0,
            error_value: std::ptr::null_mut(),
            info_value: std::ptr::null_mut(),
        };
        let options = unsafe { super::list(options, n as usize)? };
        if !options.is_empty() && values.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        for (i, option) in options.into_iter().enumerate() {
            let value = unsafe { values.add(i) };
            match option {
                ERROR_LOG => logs.error = unsafe { *value }.cast(),
                ERROR_LOG_BYTES => {
                    logs.error_bytes = unsafe { *value }.addr() & 0xffff_ffff;
                    logs.error_value = value;
                }
                INFO_LOG_BYTES => logs.info_value = value,
                INFO_LOG => unsafe { put_if((*value).cast::<u8>(), 0) },
                _ => {}
            }
        }
        Ok(logs)
    }

    /// Gives the text to the client.
    ///
    /// # Safety
    /// The client's buffers are still there.
    pub unsafe fn tell(self, log: &str) {
        let mut given = 0;
        if !self.error.is_null() && self.error_bytes > 0 {
            given = log.len().min(self.error_bytes - 1);
            let _ = unsafe { super::put_text(self.error, self.error_bytes, log) };
        }
        unsafe {
            put_if(self.error_value, std::ptr::without_provenance_mut(given));
            put_if(self.info_value, std::ptr::null_mut());
        }
    }
}

fn load(image: &Image, log: &mut String) -> Outcome<usize> {
    let context = Context::current()?;
    Ok(Module::load(&context, image, log)?.handle)
}

/// Reads an image from a file.
pub(super) unsafe fn read_file(path: *const c_char) -> Outcome<Image> {
    let path = unsafe { text(path)? };
    let bytes = std::fs::read(path).map_err(|_| Status::FILE_NOT_FOUND)?;
    Image::from_bytes(&bytes)
}

api! {
    fn cuModuleLoad(out: *mut usize, path: *const c_char) {
        put(out, load(&read_file(path)?, &mut String::new())?)
    }
    fn cuModuleLoadData(out: *mut usize, image: *const c_void) {
        if out.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        put(out, load(&Image::at(image.cast())?, &mut String::new())?)
    }
    fn cuModuleLoadFatBinary(out: *mut usize, image: *const c_void) {
        if out.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        put(out, load(&Image::at(image.cast())?, &mut String::new())?)
    }
    fn cuModuleLoadDataEx(out: *mut usize, image: *const c_void, n: c_uint, options: *const c_uint, values: *mut *mut c_void) {
        if out.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let logs = Logs::of(n, options, values)?;
        let mut log = String::new();
        let loaded = load(&Image::at(image.cast())?, &mut log);
        logs.tell(&log);
        put(out, loaded?)
    }
    fn cuModuleUnload(handle: usize) {
        let module = Module::of(handle)?;
        let context = Context::of(module.context)?;
        let _ = context.synchronize();
        module.unload()
    }
    fn cuModuleGetFunction(out: *mut usize, handle: usize, name: *const c_char) {
        if out.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let name = text(name)?;
        put(out, Module::of(handle)?.function(name)?)
    }
    fn cuModuleGetFunctionCount(out: *mut c_uint, handle: usize) {
        put(out, Module::of(handle)?.kernel_names().len() as c_uint)
    }
    fn cuModuleEnumerateFunctions(out: *mut usize, n: c_uint, handle: usize) {
        let module = Module::of(handle)?;
        let functions: Vec<usize> = module.kernel_names().iter()
            .map(|name| module.function(name)).collect::<Outcome<_>>()?;
        let mut n = n as usize;
        put_list(&functions, out, &mut n)
    }
    fn cuModuleGetGlobal_v2(address: *mut u64, n_bytes: *mut usize, handle: usize, name: *const c_char) {
        let name = text(name)?;
        let module = Module::of(handle)?;
        let (at, size) = module.loaded.variable(name).ok_or(Status::NOT_FOUND)?;
        put_if(address, at);
        put_if(n_bytes, size as usize);
        Ok(())
    }
    fn cuModuleGetLoadingMode(out: *mut c_uint) {
        driver()?;
        // Eager.
        put(out, 1)
    }
    fn cuModuleGetTexRef(_out: *mut usize, _handle: usize, _name: *const c_char) {
        Err(Status::NOT_SUPPORTED)
    }
    fn cuModuleGetSurfRef(_out: *mut usize, _handle: usize, _name: *const c_char) {
        Err(Status::NOT_SUPPORTED)
    }
}
