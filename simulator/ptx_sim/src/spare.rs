//! The parts of blocks that have ended, kept for the next launch of their kernel.
//!
//! Making them, and putting constants in place, takes longer than a small launch takes to run. They
//! are reset like those that another block of the launch has left: nothing of the previous launch
//! can be seen.

use std::sync::{Mutex, PoisonError};

use crate::memory::shared::SharedMemory;
use crate::warp::Warp;

/// The size in bytes of all that a device keeps.
const MOST_BYTES: u64 = 4 << 20;

/// The parts that a device keeps, those of the latest blocks last.
#[derive(Default)]
pub(crate) struct SpareBlocks(Mutex<Vec<(Form, Parts)>>);

/// What a block's parts depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// The kernel's number in the process.
    pub kernel: u64,
    /// Threads, by axis.
    pub block: [u32; 3],
    /// Shared memory.
    pub shared_bytes: u32,
    /// All its parts.
    pub n_bytes: u64,
}

/// What is kept of a block.
pub(crate) struct Parts {
    /// With the frame of the kernel itself, in which only what changes from launch to launch is to
    /// be renewed.
    pub warps: Vec<Warp>,
    pub shared: SharedMemory,
}

impl SpareBlocks {
    /// The parts of a block, if there are any.
    pub fn take(&self, form: Form) -> Option<Parts> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().rposition(|(of, _)| *of == form)?;
        Some(kept.remove(found).1)
    }

    /// Keeps a block's parts, unless lanes have not ended or there were calls, whose frames and
    /// local memory may be large. Older ones give way.
    pub fn keep(&self, form: Form, parts: Parts) {
        let is_plain = |warp: &Warp| warp.live == 0 && warp.frames.len() == 1;
        if form.n_bytes > MOST_BYTES || !parts.warps.iter().all(is_plain) {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((form, parts));
        let mut n_bytes: u64 = kept.iter().map(|(form, _)| form.n_bytes).sum();
        while n_bytes > MOST_BYTES {
            n_bytes -= kept.remove(0).0.n_bytes;
        }
    }
}
