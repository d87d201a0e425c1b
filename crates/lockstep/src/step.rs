//! The steps that are put into a stream, one at a time.

use crate::driver;
use crate::engine::sim::Sim;
use crate::engine::{Engine, EngineError, Observe, Prepared};
use cuda_driver::DriverError;

/// One thing in a stream.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Launch(Prepared),
    Move(Move),
}

/// Bytes that are copied or set. The pointers are to host memory that whoever put it in has
/// promised to keep, for this and nothing else until it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Upload {
        address: u64,
        from: *const u8,
        size_bytes: usize,
    },
    Download {
        to: *mut u8,
        address: u64,
        size_bytes: usize,
    },
    Copy {
        to: u64,
        from: u64,
        size_bytes: u64,
    },
    Fill {
        address: u64,
        size_bytes: u64,
        value: u8,
    },
}

impl Step {
    /// Does it now.
    pub(crate) fn perform(&self, sim: &Sim) -> Result<(), EngineError> {
        match self {
            Self::Launch(launch) => sim.launch(launch, Observe::Nothing).map(drop),
            Self::Move(bytes) => bytes.perform(sim),
        }
    }
}

impl Move {
    fn perform(self, sim: &Sim) -> Result<(), EngineError> {
        match self {
            Self::Upload {
                address,
                from,
                size_bytes,
            } => {
                // SAFETY: whoever put the copy in promised that the bytes are there.
                let bytes = unsafe { std::slice::from_raw_parts(from, size_bytes) };
                sim.write(address, bytes)
            }
            Self::Download {
                to,
                address,
                size_bytes,
            } => {
                // SAFETY: as above, and that nobody uses them.
                let bytes = unsafe { std::slice::from_raw_parts_mut(to, size_bytes) };
                sim.read(address, bytes)
            }
            Self::Copy {
                to,
                from,
                size_bytes,
            } => sim.copy(to, from, size_bytes),
            Self::Fill {
                address,
                size_bytes,
                value,
            } => sim.fill(address, size_bytes, value),
        }
    }

    /// Puts it into a GPU's stream.
    pub(crate) fn enqueue(self, stream: &driver::Stream) -> Result<(), DriverError> {
        match self {
            Self::Upload {
                address,
                from,
                size_bytes,
            } => {
                // SAFETY: whoever put the copy in promised to keep the bytes.
                unsafe { driver::memory::enqueue_write(stream, address, from, size_bytes) }
            }
            Self::Download {
                to,
                address,
                size_bytes,
            } => {
                // SAFETY: as above.
                unsafe { driver::memory::enqueue_read(stream, to, address, size_bytes) }
            }
            Self::Copy {
                to,
                from,
                size_bytes,
            } => driver::memory::enqueue_copy(stream, to, from, size_bytes),
            Self::Fill {
                address,
                size_bytes,
                value,
            } => driver::memory::enqueue_fill(stream, address, size_bytes, value),
        }
    }
}
