//! A client: its own context, a module, and the calls that most tests make.

use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Once;

use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::device::*;
use sim_driver::api::event::*;
use sim_driver::api::launch::*;
use sim_driver::api::library::*;
use sim_driver::api::memory::*;
use sim_driver::api::module::*;
use sim_driver::api::stream::*;

use crate::under_test::{call, got, is_real, ok};

pub const KERNELS: &str = include_str!("kernels.ptx");

/// Asserts that a call has succeeded.
#[track_caller]
pub fn ok(status: u32) {
    let texts = sim_driver::Status(status).texts();
    assert_eq!(status, 0, "{texts:?}");
}

/// Loads PTX into the current context.
pub fn load_module(text: &CStr) -> usize {
    got!(module of cuModuleLoadData(&mut module, text.as_ptr().cast()))
}

/// Loads PTX for all contexts.
pub fn load_library(text: &CStr) -> usize {
    let (mut library, text) = (0, text.as_ptr().cast());
    let (none, values) = (null(), null_mut());
    ok! { cuLibraryLoadData(&mut library, text, none, values, 0, none, values, 0) }
    library
}

pub fn function_of(module: usize, name: &CStr) -> usize {
    got!(function of cuModuleGetFunction(&mut function, module, name.as_ptr()))
}

/// Launches one block in the default stream, with the addresses of parameters; returns the status.
pub fn launch_block(
    function: usize,
    (n_threads, shared_bytes): (u32, u32),
    params: &[*mut c_void],
) -> u32 {
    let (params, none) = (params.as_ptr(), null());
    call! { cuLaunchKernel(function, 1, 1, 1, n_threads, 1, 1, shared_bytes, 0, params, none) }
}

/// A parameter of a kernel: its bytes.
pub trait Parameter {
    fn address(&self) -> *mut c_void;
}

impl<T: Copy> Parameter for T {
    fn address(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

/// A context that is current on the thread, with the tests' module.
pub struct Client {
    pub context: usize,
    pub module: usize,
}

impl Client {
    pub fn new() -> Self {
        Self::on(0)
    }

    /// On a device that no other test uses, so that a failure of the device affects no other test.
    /// On GPUs the test must be in a process of its own.
    pub fn alone(number: i32) -> Self {
        Self::on(if is_real() { 0 } else { number })
    }

    pub fn on(device: i32) -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            if is_real() {
                return;
            }
            sim_driver::initialize_with(crate::settings()).expect("nobody else has");
        });
        let mut context = 0;
        let text = CString::new(KERNELS).expect("no nul");
        ok!(cuInit(0));
        ok!(cuCtxCreate_v2(&mut context, 0, device));
        let module = load_module(&text);
        Self { context, module }
    }

    pub fn function(&self, name: &str) -> usize {
        let name = CString::new(name).expect("no nul");
        function_of(self.module, &name)
    }

    pub fn alloc(&self, n_bytes: usize) -> u64 {
        got!(address of cuMemAlloc_v2(&mut address, n_bytes))
    }

    pub fn upload(&self, data: &[u32]) -> u64 {
        let address = self.alloc(4 * data.len());
        ok! { cuMemcpyHtoD_v2(address, data.as_ptr() as u64, 4 * data.len()) }
        address
    }

    pub fn download(&self, address: u64, n: usize) -> Vec<u32> {
        let mut data = vec![0; n];
        ok!(cuMemcpyDtoH_v2(data.as_mut_ptr() as u64, address, 4 * n));
        data
    }

    /// Launches a kernel in a stream; returns the status.
    pub fn try_launch(
        &self,
        name: &str,
        (grid, block, stream): (u32, u32, usize),
        params: &[&dyn Parameter],
    ) -> u32 {
        let mut params: Vec<*mut c_void> = params.iter().map(|p| (**p).address()).collect();
        let function = self.function(name);
        let (params, extra) = (params.as_mut_ptr(), std::ptr::null());
        call! { cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, params, extra) }
    }

    /// Launches a kernel in the default stream.
    pub fn launch(&self, name: &str, grid: u32, block: u32, params: &[&dyn Parameter]) {
        ok(self.try_launch(name, (grid, block, 0), params));
    }

    pub fn stream(&self, flags: u32) -> usize {
        got!(stream of cuStreamCreate(&mut stream, flags))
    }

    pub fn event(&self) -> usize {
        got!(event of cuEventCreate(&mut event, 0))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        call!(cuCtxDestroy_v2(self.context));
    }
}
