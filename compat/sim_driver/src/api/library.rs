//! Libraries, which belong to no context.

use std::ffi::{c_char, c_uint, c_void};

use super::module::read_file;
use super::{api, put, put_if, put_list, text};
use crate::context::Context;
use crate::image::Image;
use crate::jit::Options;
use crate::module::{Function, Library};
use crate::status::{Outcome, Status};

unsafe fn load(
    out: *mut usize,
    image: &Image,
    (n, options, values): (c_uint, *const c_uint, *mut *mut c_void),
) -> Outcome {
    Status::INVALID_VALUE.when(out.is_null())?;
    let mut log = String::new();
    unsafe {
        let options = Options::of(n, options, values)?;
        let loaded = Library::load(image, options.limits, &mut log);
        options.logs.tell(&log);
        put(out, loaded?.handle)
    }
}

api! {
    fn cuLibraryLoadData(out: *mut usize, image: *const c_void, options: *const c_uint, values: *mut *mut c_void, n: c_uint, _library_options: *const c_uint, _library_values: *mut *mut c_void, _n_library: c_uint) {
        load(out, &Image::at(image.cast())?, (n, options, values))
    }
    fn cuLibraryLoadFromFile(out: *mut usize, path: *const c_char, options: *const c_uint, values: *mut *mut c_void, n: c_uint, _library_options: *const c_uint, _library_values: *mut *mut c_void, _n_library: c_uint) {
        load(out, &read_file(path)?, (n, options, values))
    }
    fn cuLibraryUnload(handle: usize) {
        let library = Library::of(handle)?;
        if let Some(context) = Context::top() {
            let _ = context.synchronize();
        }
        library.unload()
    }
    fn cuLibraryGetKernel(out: *mut usize, handle: usize, name: *const c_char) {
        Status::INVALID_VALUE.when(out.is_null())?;
        let name = text(name)?;
        put(out, Library::of(handle)?.kernel(name)?)
    }
    fn cuLibraryGetKernelCount(out: *mut c_uint, handle: usize) {
        put(out, Library::of(handle)?.kernel_names().len() as c_uint)
    }
    fn cuLibraryEnumerateKernels(out: *mut usize, n: c_uint, handle: usize) {
        let library = Library::of(handle)?;
        let kernels: Vec<usize> = library.kernel_names().iter()
            .map(|name| library.kernel(name)).collect::<Outcome<_>>()?;
        let mut n = n as usize;
        put_list(&kernels, out, &mut n)
    }
    fn cuLibraryGetModule(out: *mut usize, handle: usize) {
        let context = Context::current()?;
        put(out, Library::of(handle)?.module(&context)?.handle)
    }
    fn cuLibraryGetGlobal(address: *mut u64, n_bytes: *mut usize, handle: usize, name: *const c_char) {
        let name = text(name)?;
        let context = Context::current()?;
        let module = Library::of(handle)?.module(&context)?;
        let (at, size) = module.loaded.variable(name).ok_or(Status::NOT_FOUND)?;
        put_if(address, at);
        put_if(n_bytes, size as usize);
        Ok(())
    }
    fn cuLibraryGetManaged(address: *mut u64, n_bytes: *mut usize, handle: usize, name: *const c_char) {
        let name = text(name)?;
        let context = Context::current()?;
        let (at, size) = Library::of(handle)?.managed(name, &context)?;
        put_if(address, at);
        put_if(n_bytes, size as usize);
        Ok(())
    }
    fn cuLibraryGetUnifiedFunction(_out: *mut *mut c_void, handle: usize, _symbol: *const c_char) {
        Library::of(handle)?;
        Err(Status::NOT_FOUND)
    }
    fn cuKernelGetFunction(out: *mut usize, kernel: usize) {
        let context = Context::current()?;
        let kernel = Function::of(kernel)?;
        let library = kernel.library().ok_or(Status::INVALID_HANDLE)?;
        put(out, library.module(&context)?.function(kernel.name())?)
    }
    fn cuKernelGetLibrary(out: *mut usize, kernel: usize) {
        let kernel = Function::of(kernel)?;
        put(out, kernel.library().ok_or(Status::INVALID_HANDLE)?.handle)
    }
}
