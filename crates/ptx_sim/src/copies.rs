//! Asynchronous copies of a warp that have not been waited for.
//!
//! A copy's bytes are read when it is started, and written when its group has been
//! waited for.

use crate::lanes::{WARP_SIZE, lanes};
use crate::memory::shared::SharedMemory;

/// A copy under way.
struct Pending {
    lane: u32,
    group: u32,
    to: u32,
    n_bytes: u32,
    data: [u8; 16],
}

/// A warp's copies that have not been waited for.
#[derive(Default)]
pub(crate) struct AsyncCopies {
    /// By lane, the group that its next copy belongs to.
    groups: [u32; WARP_SIZE],
    /// In the order of starting.
    pending: Vec<Pending>,
}

impl AsyncCopies {
    /// Forgets everything, for the next block.
    pub fn reset(&mut self) {
        self.groups = [0; WARP_SIZE];
        self.pending.clear();
    }

    /// Starts a lane's copy to shared memory, of the first `n_bytes` of `data`.
    ///
    /// # Safety
    /// The target lies in the memory that [`AsyncCopies::complete`] is given.
    pub unsafe fn start(&mut self, lane: usize, to: u32, n_bytes: u32, data: [u8; 16]) {
        self.pending.push(Pending {
            lane: lane as u32,
            group: self.groups[lane],
            to,
            n_bytes,
            data,
        });
    }

    /// Closes the group of every lane of `mask`.
    pub fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            self.groups[lane] += 1;
        }
    }

    /// Lets the copies of the lanes of `mask` arrive: all but those of the
    /// `n_left` youngest committed groups and of the open one, or really all.
    pub fn complete(&mut self, shared: &SharedMemory, mask: u32, n_left: Option<u32>) {
        let groups = &self.groups;
        self.pending.retain(|copy| {
            let arrives = mask >> copy.lane & 1 != 0
                && n_left.is_none_or(|n| copy.group.saturating_add(n) < groups[copy.lane as usize]);
            if arrives {
                // SAFETY: The target lies in this memory (the promise made to
                // `start`), which one host thread at a time works on.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        copy.data.as_ptr(),
                        shared.host().add(copy.to as usize),
                        copy.n_bytes as usize,
                    );
                }
            }
            !arrives
        });
    }
}
