//! Modules: loading, functions, variables.

use std::ffi::{c_char, c_uint, c_void};

use super::{api, put, put_if, put_list, text};
use ptx_sim::RegisterLimits;

use crate::context::Context;
use crate::driver::driver;
use crate::image::Image;
use crate::jit::Options;
use crate::module::Module;
use crate::recorder::recorder;
use crate::status::{Outcome, Status};

fn load(image: &Image, limits: RegisterLimits, log: &mut String) -> Outcome<usize> {
    let context = Context::current()?;
    Ok(Module::load(&context, image, limits, log)?.handle)
}

fn load_plainly(image: &Image) -> Outcome<usize> {
    load(image, RegisterLimits::default(), &mut String::new())
}

/// Reads an image from a file.
pub(super) unsafe fn read_file(path: *const c_char) -> Outcome<Image> {
    let path = unsafe { text(path)? };
    let bytes = std::fs::read(path).or_else(|error| {
        recorder()?.not_loaded(format!("the module `{path}` cannot be read: {error}"));
        Err(Status::FILE_NOT_FOUND)
    })?;
    Image::from_bytes(&bytes)
}

api! {
    fn cuModuleLoad(out: *mut usize, path: *const c_char) {
        put(out, load_plainly(&read_file(path)?)?)
    }
    fn cuModuleLoadData(out: *mut usize, image: *const c_void) {
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, load_plainly(&Image::at(image.cast())?)?)
    }
    fn cuModuleLoadFatBinary(out: *mut usize, image: *const c_void) = cuModuleLoadData;
    fn cuModuleLoadDataEx(out: *mut usize, image: *const c_void, n: c_uint, options: *const c_uint, values: *mut *mut c_void) {
        Status::INVALID_VALUE.when(out.is_null())?;
        let options = Options::of(n, options, values)?;
        let mut log = String::new();
        let loaded = load(&Image::at(image.cast())?, options.limits, &mut log);
        options.logs.tell(&log);
        put(out, loaded?)
    }
    fn cuModuleUnload(handle: usize) {
        let module = Module::of(handle)?;
        let context = Context::of(module.context)?;
        let _ = context.synchronize();
        module.unload()
    }
    fn cuModuleGetFunction(out: *mut usize, handle: usize, name: *const c_char) {
        Status::INVALID_VALUE.when(out.is_null())?;
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
        Status::INVALID_VALUE.when(address.is_null() && n_bytes.is_null())?;
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
