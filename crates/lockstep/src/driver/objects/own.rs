//! Our own objects, on top of the driver's functions as `cuda_driver` defines them.

use super::super::sys::Handle;
use super::attribute::Attribute;
use cuda_driver::{DriverError, check};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

unsafe extern "C" {
    fn cuCtxSetCurrent(context: Handle) -> c_int;
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) -> c_int;
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int;

    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: c_uint, priority: c_int) -> c_int;
    fn cuStreamDestroy_v2(stream: Handle) -> c_int;
    fn cuStreamSynchronize(stream: Handle) -> c_int;

    fn cuEventCreate(event: *mut Handle, flags: c_uint) -> c_int;
    fn cuEventDestroy_v2(event: Handle) -> c_int;
    fn cuEventRecord(event: Handle, stream: Handle) -> c_int;
    fn cuEventQuery(event: Handle) -> c_int;
    fn cuEventElapsedTime(ms: *mut f32, start: Handle, end: Handle) -> c_int;

    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> c_int;
    fn cuModuleUnload(module: Handle) -> c_int;
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> c_int;
    fn cuModuleGetGlobal_v2(
        address: *mut u64,
        size_bytes: *mut usize,
        module: Handle,
        name: *const c_char,
    ) -> c_int;
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: Handle) -> c_int;
    fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        params: *mut Handle,
        extra: *mut Handle,
    ) -> c_int;

    fn cuMemAlloc_v2(address: *mut u64, size_bytes: usize) -> c_int;
    fn cuMemFree_v2(address: u64) -> c_int;
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size_bytes: usize) -> c_int;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, size_bytes: usize) -> c_int;
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, size: usize, stream: Handle) -> c_int;
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, size: usize, stream: Handle) -> c_int;
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size_bytes: usize, stream: Handle) -> c_int;
    fn cuMemsetD8Async(to: u64, value: u8, n: usize, stream: Handle) -> c_int;
}

/// A device's primary context, retained and made current on the thread that created this.
pub(crate) struct Context {
    device: c_int,
    handle: Handle,
}

impl Context {
    /// The context of the device with this number.
    pub(crate) fn of(ordinal: u32) -> Result<Self, DriverError> {
        // A device's handle is its number.
        let device = ordinal as c_int;
        let mut context = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cuDevicePrimaryCtxRetain", unsafe {
            cuDevicePrimaryCtxRetain(&mut context, device)
        })?;
        let retained = Self {
            device,
            handle: context,
        };
        retained.make_current()?;
        Ok(retained)
    }

    /// Makes it the one that this thread's calls concern.
    pub(crate) fn make_current(&self) -> Result<(), DriverError> {
        // SAFETY: the context is retained.
        check("cuCtxSetCurrent", unsafe { cuCtxSetCurrent(self.handle) })
    }

    pub(crate) fn raw(&self) -> Handle {
        self.handle
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once. After a fault the driver returns the fault.
        let _ = unsafe { cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// A stream of the current context.
pub(crate) struct Stream {
    handle: Handle,
    /// Whether another owner destroys it.
    is_borrowed: bool,
}

impl Stream {
    /// A new stream that does not wait for the default stream.
    pub(crate) fn new() -> Result<Self, DriverError> {
        /// `CU_STREAM_NON_BLOCKING`: it neither waits for the default stream nor is waited for.
        const NON_BLOCKING: c_uint = 1;
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cuStreamCreateWithPriority", unsafe {
            cuStreamCreateWithPriority(&mut handle, NON_BLOCKING, 0)
        })?;
        let is_borrowed = false;
        Ok(Self {
            handle,
            is_borrowed,
        })
    }

    /// A stream with another owner, who destroys it.
    ///
    /// # Safety
    ///
    /// The stream outlives the value.
    pub(crate) unsafe fn borrowed(handle: Handle) -> Self {
        Self {
            handle,
            is_borrowed: true,
        }
    }

    pub(crate) fn raw(&self) -> Handle {
        self.handle
    }

    /// Waits until everything in it has finished.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: the stream is alive.
        check("cuStreamSynchronize", unsafe {
            cuStreamSynchronize(self.handle)
        })
    }

    /// Enqueues an event, which completes when everything before it has finished.
    pub(crate) fn mark(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: both are alive.
        check("cuEventRecord", unsafe {
            cuEventRecord(event.handle, self.handle)
        })
    }

    /// Enqueues a launch without attributes.
    ///
    /// # Safety
    ///
    /// As [`Stream::launch`](super::super::Stream::launch).
    pub(in super::super) unsafe fn launch_plainly(
        &self,
        function: &Function,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        params: &[*mut c_void],
    ) -> Result<(), DriverError> {
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (grid, block);
        // SAFETY: the driver copies the parameters before it returns and does not write them; the
        // rest is the caller's promise.
        check("cuLaunchKernel", unsafe {
            cuLaunchKernel(
                function.handle,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared_bytes,
                self.handle,
                params.as_ptr().cast_mut(),
                std::ptr::null_mut(),
            )
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.is_borrowed {
            // SAFETY: it is ours; the driver finishes the work in it.
            let _ = unsafe { cuStreamDestroy_v2(self.handle) };
        }
    }
}

/// An event of the current context.
pub(crate) struct Event {
    handle: Handle,
}

impl Event {
    pub(super) fn new(is_timed: bool) -> Result<Self, DriverError> {
        /// `CU_EVENT_DISABLE_TIMING`.
        const DISABLE_TIMING: c_uint = 2;
        let flags = if is_timed { 0 } else { DISABLE_TIMING };
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cuEventCreate", unsafe {
            cuEventCreate(&mut handle, flags)
        })?;
        Ok(Self { handle })
    }

    pub(in super::super) fn raw(&self) -> Handle {
        self.handle
    }

    /// Whether it has completed.
    pub(crate) fn is_passed(&self) -> Result<bool, DriverError> {
        /// `CUDA_ERROR_NOT_READY`.
        const NOT_READY: c_int = 600;
        // SAFETY: the event is alive.
        match unsafe { cuEventQuery(self.handle) } {
            NOT_READY => Ok(false),
            code => check("cuEventQuery", code).map(|()| true),
        }
    }

    /// Milliseconds from `start` to this event, both timed and completed.
    pub(crate) fn ms_since(&self, start: &Self) -> Result<f32, DriverError> {
        let mut ms = 0.0;
        // SAFETY: both are alive; writes one number.
        check("cuEventElapsedTime", unsafe {
            cuEventElapsedTime(&mut ms, start.handle, self.handle)
        })?;
        Ok(ms)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it is ours; the driver keeps what still waits for it.
        let _ = unsafe { cuEventDestroy_v2(self.handle) };
    }
}

/// A module in the current context.
pub(crate) struct Module {
    handle: Handle,
}

/// A kernel of a module; the module must outlive it.
pub(crate) struct Function {
    handle: Handle,
}

impl Module {
    /// Compiles and loads PTX text.
    pub(in super::super) fn of_text(text: &CStr) -> Result<Self, DriverError> {
        // SAFETY: it ends in a null byte.
        unsafe { Self::load(text.as_ptr().cast()) }
    }

    /// Loads machine code.
    pub(crate) fn of_cubin(image: &[u8]) -> Result<Self, DriverError> {
        // SAFETY: a cubin contains its own size.
        unsafe { Self::load(image.as_ptr().cast()) }
    }

    /// # Safety
    ///
    /// `image` is text that ends in a null byte, or a cubin.
    unsafe fn load(image: *const c_void) -> Result<Self, DriverError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: by this function's contract; writes one handle.
        check("cuModuleLoadData", unsafe {
            cuModuleLoadData(&mut handle, image)
        })?;
        Ok(Self { handle })
    }

    /// The kernel with this name.
    pub(crate) fn function(&self, name: &str) -> Result<Function, DriverError> {
        let name = CString::new(name).unwrap_or_default();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the module is alive, the name ends in a null byte; writes one handle.
        check("cuModuleGetFunction", unsafe {
            cuModuleGetFunction(&mut handle, self.handle, name.as_ptr())
        })?;
        Ok(Function { handle })
    }

    /// Sets the variable with this name, which is as large as a `u64`, if there is one.
    pub(crate) fn set_variable(&self, name: &CStr, value: u64) -> Result<(), DriverError> {
        let (mut address, mut size_bytes) = (0, 0);
        // SAFETY: the module is alive; writes one address and one size.
        let code = unsafe {
            cuModuleGetGlobal_v2(&mut address, &mut size_bytes, self.handle, name.as_ptr())
        };
        match code {
            0 => memory::write(address, &value.to_le_bytes()),
            _ => Ok(()),
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: it is ours. After a fault the driver returns the fault.
        let _ = unsafe { cuModuleUnload(self.handle) };
    }
}

impl Function {
    pub(in super::super) fn raw(&self) -> Handle {
        self.handle
    }

    /// The value of one of its attributes.
    pub(crate) fn attribute(&self, which: Attribute) -> Result<u32, DriverError> {
        let number = match which {
            Attribute::MaxThreadsPerBlock => 0,
            Attribute::SharedSizeBytes => 1,
            Attribute::Registers => 4,
        };
        let mut value: c_int = 0;
        // SAFETY: the module is alive; writes one int.
        check("cuFuncGetAttribute", unsafe {
            cuFuncGetAttribute(&mut value, number, self.handle)
        })?;
        Ok(value.unsigned_abs())
    }
}

/// Device memory, by address and bytes. Callers have checked that ranges lie within an allocation.
pub(crate) mod memory {
    use super::*;

    /// Allocates device memory, at least one byte.
    pub(crate) fn alloc(size_bytes: usize) -> Result<u64, DriverError> {
        let mut address = 0;
        // SAFETY: writes one address.
        check("cuMemAlloc", unsafe {
            cuMemAlloc_v2(&mut address, size_bytes.max(1))
        })?;
        Ok(address)
    }

    /// Frees what [`alloc`] returned.
    pub(crate) fn free(address: u64) -> Result<(), DriverError> {
        // SAFETY: the driver refuses anything but an allocation.
        check("cuMemFree", unsafe { cuMemFree_v2(address) })
    }

    /// Copies to the device.
    pub(crate) fn write(address: u64, bytes: &[u8]) -> Result<(), DriverError> {
        // SAFETY: the caller checked the device range; the host range is a slice.
        check("cuMemcpyHtoD", unsafe {
            cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len())
        })
    }

    /// Copies from the device.
    pub(crate) fn read(address: u64, bytes: &mut [u8]) -> Result<(), DriverError> {
        // SAFETY: as for `write`, the other way round.
        check("cuMemcpyDtoH", unsafe {
            cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len())
        })
    }

    /// Enqueues a copy to the device.
    ///
    /// # Safety
    ///
    /// The host's bytes stay unchanged until the copy has finished.
    pub(crate) unsafe fn enqueue_write(
        stream: &Stream,
        address: u64,
        from: *const u8,
        size_bytes: usize,
    ) -> Result<(), DriverError> {
        // SAFETY: by this function's contract.
        check("cuMemcpyHtoDAsync", unsafe {
            cuMemcpyHtoDAsync_v2(address, from.cast(), size_bytes, stream.raw())
        })
    }

    /// Enqueues a copy from the device.
    ///
    /// # Safety
    ///
    /// Nothing uses the host's bytes until the copy has finished.
    pub(crate) unsafe fn enqueue_read(
        stream: &Stream,
        to: *mut u8,
        address: u64,
        size_bytes: usize,
    ) -> Result<(), DriverError> {
        // SAFETY: by this function's contract.
        check("cuMemcpyDtoHAsync", unsafe {
            cuMemcpyDtoHAsync_v2(to.cast(), address, size_bytes, stream.raw())
        })
    }

    /// Enqueues a copy within the device.
    pub(crate) fn enqueue_copy(
        stream: &Stream,
        to: u64,
        from: u64,
        size_bytes: u64,
    ) -> Result<(), DriverError> {
        // SAFETY: the caller checked both ranges.
        check("cuMemcpyDtoDAsync", unsafe {
            cuMemcpyDtoDAsync_v2(to, from, size_bytes as usize, stream.raw())
        })
    }

    /// Enqueues a fill.
    pub(crate) fn enqueue_fill(
        stream: &Stream,
        address: u64,
        size_bytes: u64,
        value: u8,
    ) -> Result<(), DriverError> {
        // SAFETY: the caller checked the range.
        check("cuMemsetD8Async", unsafe {
            cuMemsetD8Async(address, value, size_bytes as usize, stream.raw())
        })
    }
}
