//! Host memory that copies in a stream can use while the host goes on.

use crate::driver::host_memory::HostMemory;
use crate::engine::{EngineError, Machine};
use crate::{Device, Error};
use cuda_std::launch::DeviceCopy;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// Values in host memory that is page-locked where there is a GPU. Used like a slice.
pub struct Pinned<T: DeviceCopy> {
    device: Device,
    memory: Memory<T>,
}

impl<T: DeviceCopy + fmt::Debug> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

enum Memory<T> {
    Gpu {
        memory: ManuallyDrop<HostMemory>,
        len: usize,
    },
    Sim(Vec<T>),
}

impl Device {
    /// Host memory of `len` values, all bytes 0, that copies in a [`Stream`](crate::Stream) can use while
    /// the host goes on.
    ///
    /// # Errors
    ///
    /// The host has no memory left.
    pub fn pinned<T: DeviceCopy>(&self, len: usize) -> Result<Pinned<T>, Error> {
        Pinned::new(self, len)
    }
}

impl<T: DeviceCopy> Pinned<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, Error> {
        let size_bytes = len.checked_mul(size_of::<T>());
        let too_large = || EngineError::Memory(format!("the host has no room for {len} values"));
        let memory = match device.machine() {
            Machine::Gpu(gpu) => {
                let size_bytes = size_bytes.ok_or_else(too_large)?;
                let memory = gpu.with_stream(|| HostMemory::new(size_bytes))?;
                Memory::Gpu {
                    memory: ManuallyDrop::new(memory),
                    len,
                }
            }
            Machine::Sim(_) => {
                let mut values = Vec::new();
                values.try_reserve_exact(len).map_err(|_| too_large())?;
                // SAFETY: `DeviceCopy` promises that every bit pattern is a value.
                values.resize(len, unsafe { std::mem::zeroed() });
                Memory::Sim(values)
            }
        };
        Ok(Self {
            device: device.clone(),
            memory,
        })
    }

    /// The address and number of its bytes.
    pub(crate) fn bytes(&self) -> (*const u8, usize) {
        (self.as_ptr().cast(), size_of_val::<[T]>(self))
    }

    /// The same, for writing.
    pub(crate) fn bytes_mut(&mut self) -> (*mut u8, usize) {
        (self.as_mut_ptr().cast(), size_of_val::<[T]>(self))
    }
}

impl<T: DeviceCopy> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            // SAFETY: the memory is that large, page-aligned, zeroed at first, and every bit
            // pattern is a value.
            Memory::Gpu { memory, len } => unsafe {
                std::slice::from_raw_parts(memory.pointer().as_ptr().cast(), *len)
            },
            Memory::Sim(values) => values,
        }
    }
}

impl<T: DeviceCopy> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.memory {
            // SAFETY: as above, and `self` is borrowed exclusively.
            Memory::Gpu { memory, len } => unsafe {
                std::slice::from_raw_parts_mut(memory.pointer().as_ptr().cast(), *len)
            },
            Memory::Sim(values) => values,
        }
    }
}

impl<T: DeviceCopy> Drop for Pinned<T> {
    fn drop(&mut self) {
        // On a lost GPU it is leaked: the driver would wait for a kernel that never ends.
        if let Memory::Gpu { memory, .. } = &mut self.memory
            && self.device.engine().is_usable().is_ok()
        {
            // SAFETY: dropped here only.
            unsafe { ManuallyDrop::drop(memory) };
        }
    }
}
