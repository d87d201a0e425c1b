//! Device memory of a GPU, by address and bytes.

use super::super::{EngineError, Fill};
use super::driver_error;
use super::session::Session;
use cuda_driver::DriverError;
use cust::memory::{DevicePointer, cuda_free, cuda_malloc};
use cust::sys;
use std::collections::BTreeMap;

/// What is allocated: start address to size in bytes.
#[derive(Default)]
pub(super) struct Allocations(BTreeMap<u64, u64>);

impl Allocations {
    pub(super) fn add(&mut self, address: u64, size_bytes: u64) {
        self.0.insert(address, size_bytes);
    }

    pub(super) fn remove(&mut self, address: u64) -> bool {
        self.0.remove(&address).is_some()
    }

    /// After a fault: what was allocated is gone with the context.
    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }

    /// Whether the range lies within one allocation.
    pub(super) fn check(&self, address: u64, size_bytes: u64) -> Result<(), EngineError> {
        self.around(address, size_bytes).map(drop)
    }

    /// Start and size of the allocation that holds the range.
    pub(super) fn around(&self, address: u64, size_bytes: u64) -> Result<(u64, u64), EngineError> {
        let before = self.0.range(..=address).next_back();
        before
            .map(|(&start, &size)| (start, size))
            .filter(|&(start, size)| {
                address - start <= size && size_bytes <= size - (address - start)
            })
            .ok_or_else(|| {
                EngineError::Memory(format!(
                    "{size_bytes} bytes at {address:#x} are not within an allocation"
                ))
            })
    }
}

/// `count` bytes never are zero for the driver.
pub(super) fn alloc(size_bytes: u64, label: &str) -> Result<u64, EngineError> {
    // SAFETY: the memory is handed out as an address only.
    let allocated = unsafe { cuda_malloc::<u8>((size_bytes as usize).max(1)) };
    match allocated {
        Ok(pointer) => Ok(pointer.as_raw()),
        Err(cust::error::CudaError::OutOfMemory) => Err(EngineError::Memory(format!(
            "no room for {size_bytes} bytes (`{label}`); `nvidia-smi` shows who holds the rest"
        ))),
        Err(code) => Err(driver_error("cuMemAlloc", code)),
    }
}

pub(super) fn free(address: u64) -> Result<(), EngineError> {
    // SAFETY: the address came from `alloc` and is freed once, as
    // `Allocations` sees to.
    unsafe { cuda_free(DevicePointer::<u8>::from_raw(address)) }
        .map_err(|code| driver_error("cuMemFree", code))
}

fn check(call: &'static str, code: sys::cudaError_enum) -> Result<(), EngineError> {
    if code == sys::cudaError_enum::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(EngineError::Driver(DriverError::new(
            call,
            code as u32 as i32,
        )))
    }
}

pub(super) fn write(address: u64, bytes: &[u8]) -> Result<(), EngineError> {
    // SAFETY: the caller checked the device range; the host range is a slice.
    let code = unsafe { sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) };
    check("cuMemcpyHtoD", code)?;
    // A copy from pageable memory may return before it has arrived, and the
    // engine's stream does not wait for it by itself.
    // SAFETY: takes nothing.
    check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
}

pub(super) fn read(address: u64, bytes: &mut [u8]) -> Result<(), EngineError> {
    // SAFETY: as `write`, the other way.
    let code = unsafe { sys::cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, bytes.len()) };
    check("cuMemcpyDtoH", code)
}

pub(super) fn fill(session: &Session, fill: &Fill) -> Result<(), EngineError> {
    enqueue_fill(session, fill)?;
    session
        .stream()
        .synchronize()
        .map_err(|code| driver_error("cuStreamSynchronize", code))
}

/// Puts a fill into the stream.
pub(super) fn enqueue_fill(session: &Session, fill: &Fill) -> Result<(), EngineError> {
    // SAFETY: the caller checked the range.
    let code = unsafe {
        sys::cuMemsetD8Async(
            fill.address,
            fill.value,
            fill.size_bytes as usize,
            session.stream().as_inner(),
        )
    };
    check("cuMemsetD8Async", code)
}

/// Puts a device-to-device copy into the stream.
pub(super) fn enqueue_copy(
    session: &Session,
    to: u64,
    from: u64,
    size_bytes: u64,
) -> Result<(), EngineError> {
    // SAFETY: the caller checked both ranges.
    let code = unsafe {
        sys::cuMemcpyDtoDAsync_v2(to, from, size_bytes as usize, session.stream().as_inner())
    };
    check("cuMemcpyDtoDAsync", code)
}
