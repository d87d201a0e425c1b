//! The warps of a block that has ended, kept for the kernel's next launch.
//!
//! Making warps and putting their constants in place takes longer than a small launch takes
//! to run. Kept warps are reset like those that another block has left: nothing of the
//! previous launch can be seen.

use std::sync::{Mutex, PoisonError};

use crate::warp::Warp;

/// The warps of one block of a kernel, if they are kept.
#[derive(Default)]
pub(crate) struct SpareWarps(Mutex<Option<Kept>>);

struct Kept {
    /// The block's threads, by axis, on which its registers depend.
    block: [u32; 3],
    warps: Vec<Warp>,
}

impl SpareWarps {
    /// The warps of a block of this shape, if there are any: with the frame of the
    /// kernel itself, in which only what changes from launch to launch is to be renewed.
    pub fn take(&self, block: [u32; 3]) -> Option<Vec<Warp>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |kept: &mut Kept| kept.block == block;
        Some(kept.take_if(is_same)?.warps)
    }

    /// Keeps a block's warps, unless lanes of them have not ended or there were calls,
    /// whose frames and local memory may be large.
    pub fn keep(&self, block: [u32; 3], warps: Vec<Warp>) {
        let is_plain = |warp: &Warp| warp.live == 0 && warp.frames.len() == 1;
        if warps.iter().all(is_plain) {
            let kept = Some(Kept { block, warps });
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        }
    }
}
