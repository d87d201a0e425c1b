//! Memory and streams that this process got from another library: `cust`, `cudarc`, or the CUDA
//! runtime. All of these use a GPU's primary context, as [`Device::gpu`] does, so addresses and
//! handles of one are valid in the others.
//!
//! Left out: contexts that a program creates itself (`cuCtxCreate`), which it shares with no
//! library.

use crate::engine::{EngineError, Machine};
use crate::{Buffer, Device, Error, Stream};
use cuda_std::launch::DeviceCopy;
use std::ffi::c_void;

impl Device {
    /// Takes over device memory that another library of this process allocated: `len` values at
    /// `address`. Dropping the buffer frees it with `cuMemFree`; [`Device::release`] hands it back
    /// instead.
    ///
    /// ```ignore
    /// let x = std::mem::ManuallyDrop::new(cust::memory::DeviceBuffer::from_slice(&[1.0f32; 1000])?);
    /// // SAFETY: cust's buffer is not dropped.
    /// let x = unsafe { device.adopt::<f32>("x", x.as_device_ptr().as_raw(), x.len()) }?;
    /// ```
    ///
    /// # Safety
    ///
    /// The memory is on this GPU and that large, the values are initialised before they are read,
    /// and nothing else frees it.
    ///
    /// # Errors
    ///
    /// The device is a simulator, whose memory no other library allocates.
    pub unsafe fn adopt<T: DeviceCopy>(
        &self,
        name: &str,
        address: u64,
        len: usize,
    ) -> Result<Buffer<T>, Error> {
        let Machine::Gpu(gpu) = self.machine() else {
            return Err(on_simulator("memory"));
        };
        let buffer = Buffer::of_address(self.handle(), name, address, len);
        gpu.adopt(address, buffer.size_bytes());
        Ok(buffer)
    }

    /// Leaves a buffer's memory to the caller, who frees it with `cuMemFree` or through a library
    /// that does; returns the address of its first value. Launches on it have finished, except
    /// those put into a stream.
    ///
    /// # Errors
    ///
    /// The device is a simulator, whose memory no other library can free, or not the buffer's
    /// device.
    pub fn release<T: DeviceCopy>(&self, buffer: Buffer<T>) -> Result<u64, Error> {
        let Machine::Gpu(gpu) = self.machine() else {
            return Err(on_simulator("memory"));
        };
        gpu.disown(buffer.address())?;
        let address = buffer.address();
        // The engine no longer owns the memory, so this does not free it.
        drop(buffer);
        Ok(address)
    }

    /// A stream of another library, to put launches into. The library still owns and destroys it.
    ///
    /// # Safety
    ///
    /// `stream` is a `CUstream` of this GPU's primary context, and outlives the returned value.
    ///
    /// # Errors
    ///
    /// The device is a simulator.
    pub unsafe fn stream_of(&self, stream: *mut c_void) -> Result<Stream, Error> {
        match self.machine() {
            // SAFETY: the caller's promise.
            Machine::Gpu(_) => Ok(Stream::on_gpu(self, unsafe {
                crate::driver::Stream::borrowed(stream)
            })),
            Machine::Sim(_) => Err(on_simulator("a stream")),
        }
    }
}

impl Stream {
    /// Its `CUstream`, for other libraries, valid while the value lives; `None` on a simulator.
    pub fn as_raw(&self) -> Option<*mut c_void> {
        self.on_device().map(crate::driver::Stream::raw)
    }
}

fn on_simulator(what: &str) -> Error {
    EngineError::Memory(format!(
        "{what} of another library is on a GPU, but this device is a simulator; for programs that \
         use the driver, `sim_driver` simulates one"
    ))
}
