//! `cust`'s objects.

use super::super::sys::Handle;
use super::attribute::Attribute;
use cuda_driver::{DriverError, check};
use cust::context::ContextHandle;
use cust::error::CudaError;
use cust::event::{EventFlags, EventStatus};
use cust::function::FunctionAttribute;
use cust::memory::{CopyDestination, DevicePointer, DeviceSlice};
use cust::stream::StreamFlags;
use std::ffi::{CStr, c_int, c_void};
use std::mem::ManuallyDrop;

/// Replaces an error code that `cust` does not pass on.
const UNKNOWN_TO_CUST: i32 = -1;

/// The driver's description of an error that `cust` got from the driver's function `call`.
fn said(call: &'static str) -> impl FnOnce(CudaError) -> DriverError {
    move |error| match error {
        // `cust` also reports this for every error newer than itself. A device that is lost answers
        // every call with an error.
        CudaError::UnknownError if cust::memory::mem_get_info().is_ok() => DriverError {
            call,
            code: UNKNOWN_TO_CUST,
            name: "an error unknown to cust".to_owned(),
            text: "such as for work that is not allowed while a graph is recorded from the stream"
                .to_owned(),
        },
        error => DriverError::new(call, error as i32),
    }
}

/// A device's primary context, retained and made current on the thread that created this.
pub(crate) struct Context {
    context: cust::context::Context,
}

impl Context {
    /// The context of the device with this number.
    pub(crate) fn of(ordinal: u32) -> Result<Self, DriverError> {
        let device = cust::device::Device::get_device(ordinal).map_err(said("cuDeviceGet"))?;
        let context =
            cust::context::Context::new(device).map_err(said("cuDevicePrimaryCtxRetain"))?;
        Ok(Self { context })
    }

    /// Makes it the one that this thread's calls concern.
    pub(crate) fn make_current(&self) -> Result<(), DriverError> {
        let made = cust::context::CurrentContext::set_current(&self.context);
        made.map_err(said("cuCtxSetCurrent"))
    }

    pub(crate) fn raw(&self) -> Handle {
        self.context.get_inner().cast()
    }
}

/// A stream of the current context. Dropped by hand, because a borrowed one must not be destroyed.
pub(crate) struct Stream {
    stream: ManuallyDrop<cust::stream::Stream>,
    is_borrowed: bool,
}

impl Stream {
    /// A new stream that does not wait for the default stream. `cust` clears the flag for that, so
    /// the driver creates the stream and `cust` takes it over.
    pub(crate) fn new() -> Result<Self, DriverError> {
        let mut handle = std::ptr::null_mut();
        let flags = StreamFlags::NON_BLOCKING.bits();
        // SAFETY: the handle is written by the call, and read only if it succeeded.
        check("cuStreamCreateWithPriority", unsafe {
            cust::sys::cuStreamCreateWithPriority(&mut handle, flags, 0) as c_int
        })?;
        // SAFETY: the stream lives until the value is dropped, which destroys it.
        let mut stream = unsafe { Self::borrowed(handle.cast()) };
        stream.is_borrowed = false;
        Ok(stream)
    }

    /// A stream with another owner, who destroys it.
    ///
    /// # Safety
    ///
    /// The stream outlives the value.
    pub(crate) unsafe fn borrowed(handle: Handle) -> Self {
        const { assert!(size_of::<cust::stream::Stream>() == size_of::<Handle>()) };
        // SAFETY: the structure's only field is the handle, which fills it.
        let stream = unsafe { std::mem::transmute::<Handle, cust::stream::Stream>(handle) };
        Self {
            stream: ManuallyDrop::new(stream),
            is_borrowed: true,
        }
    }

    pub(crate) fn raw(&self) -> Handle {
        self.stream.as_inner().cast()
    }

    /// Waits until everything in it has finished.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        self.stream
            .synchronize()
            .map_err(said("cuStreamSynchronize"))
    }

    /// Enqueues an event, which completes when everything before it has finished.
    pub(crate) fn mark(&self, event: &Event) -> Result<(), DriverError> {
        event.0.record(&self.stream).map_err(said("cuEventRecord"))
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
        // SAFETY: the caller's promise.
        unsafe {
            let (grid, block) = (
                <(u32, u32, u32)>::from(grid),
                <(u32, u32, u32)>::from(block),
            );
            self.stream
                .launch(&function.0, grid, block, shared_bytes, params)
        }
        .map_err(said("cuLaunchKernel"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.is_borrowed {
            // SAFETY: it is ours, and no longer used.
            unsafe { ManuallyDrop::drop(&mut self.stream) };
        }
    }
}

/// An event of the current context.
pub(crate) struct Event(cust::event::Event);

impl Event {
    pub(super) fn new(is_timed: bool) -> Result<Self, DriverError> {
        let flags = match is_timed {
            true => EventFlags::DEFAULT,
            false => EventFlags::DISABLE_TIMING,
        };
        let event = cust::event::Event::new(flags);
        event.map(Self).map_err(said("cuEventCreate"))
    }

    /// `cust` does not expose it, and waiting for an event consumes it there.
    pub(in super::super) fn raw(&self) -> Handle {
        const { assert!(size_of::<cust::event::Event>() == size_of::<Handle>()) };
        // SAFETY: the structure's only field is the handle, which fills it.
        unsafe { std::mem::transmute_copy(&self.0) }
    }

    /// Whether it has completed.
    pub(crate) fn is_passed(&self) -> Result<bool, DriverError> {
        let status = self.0.query().map_err(said("cuEventQuery"))?;
        Ok(status == EventStatus::Ready)
    }

    /// Milliseconds from `start` to this event, both timed and completed.
    pub(crate) fn ms_since(&self, start: &Self) -> Result<f32, DriverError> {
        let ms = self.0.elapsed_time_f32(&start.0);
        ms.map_err(said("cuEventElapsedTime"))
    }
}

/// A module in the current context.
pub(crate) struct Module(cust::module::Module);

/// A kernel of a module; the module must outlive it.
pub(crate) struct Function(cust::function::Function<'static>);

impl Module {
    /// Compiles and loads PTX text.
    pub(in super::super) fn of_text(text: &CStr) -> Result<Self, DriverError> {
        let module = cust::module::Module::from_ptx_cstr(text, &[]);
        module.map(Self).map_err(said("cuModuleLoadDataEx"))
    }

    /// Loads machine code.
    pub(crate) fn of_cubin(image: &[u8]) -> Result<Self, DriverError> {
        let module = cust::module::Module::from_cubin(image, &[]);
        module.map(Self).map_err(said("cuModuleLoadDataEx"))
    }

    /// The kernel with this name.
    pub(crate) fn function(&self, name: &str) -> Result<Function, DriverError> {
        let function = self.0.get_function(name);
        let function = function.map_err(said("cuModuleGetFunction"))?;
        // SAFETY: only the lifetime changes, and callers keep the module.
        Ok(Function(unsafe {
            std::mem::transmute::<cust::function::Function<'_>, cust::function::Function<'static>>(
                function,
            )
        }))
    }

    /// Sets the variable with this name, which is as large as a `u64`, if there is one.
    pub(crate) fn set_variable(&self, name: &CStr, value: u64) -> Result<(), DriverError> {
        match self.0.get_global::<u64>(name) {
            Ok(mut variable) => variable.copy_from(&value).map_err(said("cuMemcpyHtoD")),
            Err(_) => Ok(()),
        }
    }
}

impl Function {
    pub(in super::super) fn raw(&self) -> Handle {
        self.0.to_raw().cast()
    }

    /// The value of one of its attributes.
    pub(crate) fn attribute(&self, which: Attribute) -> Result<u32, DriverError> {
        let value = self.0.get_attribute(match which {
            Attribute::MaxThreadsPerBlock => FunctionAttribute::MaxThreadsPerBlock,
            Attribute::SharedSizeBytes => FunctionAttribute::SharedMemorySizeBytes,
            Attribute::Registers => FunctionAttribute::NumRegisters,
        });
        value
            .map(i32::unsigned_abs)
            .map_err(said("cuFuncGetAttribute"))
    }
}

/// Device memory, by address and bytes. Callers have checked that ranges lie within an allocation.
pub(crate) mod memory {
    use super::{DevicePointer, DeviceSlice, DriverError, Stream, said};
    use cust::memory::{AsyncCopyDestination, CopyDestination, cuda_free, cuda_malloc};

    /// The range as a slice of `cust`.
    fn range(address: u64, size_bytes: usize) -> DeviceSlice<u8> {
        // SAFETY: it is only passed to the driver, in ranges that callers have checked.
        unsafe { DeviceSlice::from_raw_parts(DevicePointer::from_raw(address), size_bytes) }
    }

    /// Allocates device memory, at least one byte.
    pub(crate) fn alloc(size_bytes: usize) -> Result<u64, DriverError> {
        // SAFETY: nothing treats it as initialised.
        let pointer = unsafe { cuda_malloc::<u8>(size_bytes.max(1)) };
        pointer
            .map(|pointer| pointer.as_raw())
            .map_err(said("cuMemAlloc"))
    }

    /// Frees what [`alloc`] returned.
    pub(crate) fn free(address: u64) -> Result<(), DriverError> {
        // SAFETY: the driver refuses anything but an allocation.
        unsafe { cuda_free(DevicePointer::<u8>::from_raw(address)) }.map_err(said("cuMemFree"))
    }

    /// Copies from the device.
    pub(crate) fn read(address: u64, bytes: &mut [u8]) -> Result<(), DriverError> {
        let copied = range(address, bytes.len()).copy_to(bytes);
        copied.map_err(said("cuMemcpyDtoH"))
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
        let copied = unsafe {
            let from = std::slice::from_raw_parts(from, size_bytes);
            range(address, size_bytes).async_copy_from(from, &stream.stream)
        };
        copied.map_err(said("cuMemcpyHtoDAsync"))
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
        let copied = unsafe {
            let to = std::slice::from_raw_parts_mut(to, size_bytes);
            range(address, size_bytes).async_copy_to(to, &stream.stream)
        };
        copied.map_err(said("cuMemcpyDtoHAsync"))
    }

    /// Enqueues a copy within the device.
    pub(crate) fn enqueue_copy(
        stream: &Stream,
        to: u64,
        from: u64,
        size_bytes: u64,
    ) -> Result<(), DriverError> {
        let size_bytes = size_bytes as usize;
        // SAFETY: the ranges are on the device, and the caller has checked both.
        let copied = unsafe {
            range(to, size_bytes).async_copy_from(&range(from, size_bytes), &stream.stream)
        };
        copied.map_err(said("cuMemcpyDtoDAsync"))
    }

    /// Enqueues a fill.
    pub(crate) fn enqueue_fill(
        stream: &Stream,
        address: u64,
        size_bytes: u64,
        value: u8,
    ) -> Result<(), DriverError> {
        // SAFETY: the range is on the device, and the caller has checked it.
        let filled =
            unsafe { range(address, size_bytes as usize).set_8_async(value, &stream.stream) };
        filled.map_err(said("cuMemsetD8Async"))
    }
}
