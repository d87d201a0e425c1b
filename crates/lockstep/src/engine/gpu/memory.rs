//! Device memory of a GPU, by address and bytes.

use super::super::{EngineError, Fill};
use crate::driver::{Stream, memory};
use std::collections::BTreeMap;

/// The allocations: start address to size in bytes.
#[derive(Default)]
pub(super) struct Allocations(BTreeMap<u64, u64>);

impl Allocations {
    pub(super) fn add(&mut self, address: u64, size_bytes: u64) {
        self.0.insert(address, size_bytes);
    }

    pub(super) fn remove(&mut self, address: u64) -> bool {
        self.0.remove(&address).is_some()
    }

    /// After a fault: the allocations are gone with the context.
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

pub(super) fn alloc(size_bytes: u64, label: &str) -> Result<u64, EngineError> {
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    const OUT_OF_MEMORY: i32 = 2;
    memory::alloc(size_bytes as usize).map_err(|error| match error.code {
        OUT_OF_MEMORY => EngineError::Memory(format!(
            "no room for {size_bytes} bytes (`{label}`); `nvidia-smi` shows \
             which processes hold the rest"
        )),
        _ => error.into(),
    })
}

pub(super) fn write(stream: &Stream, address: u64, bytes: &[u8]) -> Result<(), EngineError> {
    // Waiting for the whole context is an error while any thread records a graph in it, and spoils
    // the recording. So the copy has the engine's stream, and only that one is waited for.
    // SAFETY: the bytes are borrowed until the copy has finished.
    let enqueued = unsafe { memory::enqueue_write(stream, address, bytes.as_ptr(), bytes.len()) };
    let finished = stream.synchronize();
    enqueued?;
    Ok(finished?)
}

pub(super) fn fill(stream: &Stream, fill: &Fill) -> Result<(), EngineError> {
    enqueue_fill(stream, fill)?;
    Ok(stream.synchronize()?)
}

/// Enqueues a fill.
pub(super) fn enqueue_fill(stream: &Stream, fill: &Fill) -> Result<(), EngineError> {
    let &Fill {
        address,
        size_bytes,
        value,
    } = fill;
    Ok(memory::enqueue_fill(stream, address, size_bytes, value)?)
}
