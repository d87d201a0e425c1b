//! The steps of a stream, enqueued one at a time.

use crate::driver;
use crate::engine::pending::Id;
use crate::engine::sim::Sim;
use crate::engine::{Engine, EngineError, Prepared};
use cuda_driver::DriverError;
use ptx_sim::{Pending, Touches, Usage};
use std::panic::Location;

/// One step of a stream.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Launch(Prepared),
    Move(Move),
}

/// A step of a graph, and the call that recorded it.
pub(crate) type Recorded = (Step, &'static Location<'static>);

/// Bytes to be copied or set. Whoever enqueued the step has promised to keep the host memory that
/// the pointers refer to, for this purpose alone, until it is done.
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
        /// Of a single value.
        value_bytes: usize,
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
    /// Performs it now.
    pub(crate) fn perform(
        &self,
        sim: &Sim,
        stream: Id,
        caller: &Location<'_>,
    ) -> Result<(), EngineError> {
        match self {
            Self::Launch(launch) => sim.launch_in(launch, stream, caller),
            Self::Move(bytes) => {
                let uses = sim.check_uses(Some(stream), || bytes.uses(caller))?;
                let moved = sim.at_work(|| bytes.perform(sim));
                moved.map_err(|error| match error {
                    // Its buffers were there when it was enqueued, or recorded.
                    EngineError::Memory(what) => EngineError::Memory(format!(
                        "{} at {caller}: {what}: has a buffer been dropped?",
                        bytes.name()
                    )),
                    other => other,
                })?;
                sim.begin(stream, uses);
                Ok(())
            }
        }
    }
}

impl Move {
    fn name(&self) -> &'static str {
        match self {
            Self::Upload { .. } => "the upload",
            Self::Download { .. } => "the download",
            Self::Copy { .. } => "the copy",
            Self::Fill { .. } => "the fill",
        }
    }

    /// The device memory that it uses.
    fn uses(&self, caller: &Location<'_>) -> Vec<Pending> {
        let of = |address: u64, size_bytes: u64, usage| Pending {
            touches: Touches::All(address..address + size_bytes, usage),
            what: format!("{} at {caller}", self.name()),
        };
        match *self {
            Self::Upload {
                address,
                size_bytes,
                ..
            } => vec![of(address, size_bytes as u64, Usage::WRITE)],
            Self::Download {
                address,
                size_bytes,
                ..
            } => vec![of(address, size_bytes as u64, Usage::READ)],
            Self::Copy {
                to,
                from,
                size_bytes,
            } => vec![
                of(from, size_bytes, Usage::READ),
                of(to, size_bytes, Usage::WRITE),
            ],
            Self::Fill {
                address,
                size_bytes,
                ..
            } => vec![of(address, size_bytes, Usage::WRITE)],
        }
    }

    fn perform(self, sim: &Sim) -> Result<(), EngineError> {
        match self {
            Self::Upload {
                address,
                from,
                size_bytes,
            } => {
                // SAFETY: whoever enqueued the copy promised that the bytes are there.
                let bytes = unsafe { std::slice::from_raw_parts(from, size_bytes) };
                sim.write(address, bytes)
            }
            Self::Download {
                to,
                address,
                size_bytes,
                value_bytes,
            } => {
                // SAFETY: as above, and that nothing else uses them.
                let bytes = unsafe { std::slice::from_raw_parts_mut(to, size_bytes) };
                sim.read_values(address, bytes, value_bytes, false)
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

    /// Enqueues it in a GPU's stream.
    pub(crate) fn enqueue(self, stream: &driver::Stream) -> Result<(), DriverError> {
        match self {
            Self::Upload {
                address,
                from,
                size_bytes,
            } => {
                // SAFETY: whoever enqueued the copy promised to keep the bytes.
                unsafe { driver::memory::enqueue_write(stream, address, from, size_bytes) }
            }
            Self::Download {
                to,
                address,
                size_bytes,
                value_bytes: _,
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
