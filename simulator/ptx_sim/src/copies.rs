//! Asynchronous copies of a warp that have not been waited for.
//!
//! A copy's bytes are read when it is started, and written when its group has been
//! waited for.

use crate::lanes::{WARP_SIZE, lanes};
use crate::memory::shared::SharedMemory;

/// What one instruction copies, as far as it is in flight.
#[derive(Clone, Hash)]
pub(crate) struct Copying {
    /// The lanes whose bytes have not arrived.
    pub mask: u32,
    /// Bytes of each lane: 4, 8 or 16.
    pub n_bytes: u32,
    /// Where in shared memory they go, by lane.
    pub to: [u32; WARP_SIZE],
    /// The bytes, by lane.
    pub data: [[u8; 16]; WARP_SIZE],
}

/// A copying instruction, with the groups that it belongs to, by lane.
#[derive(Clone, Hash)]
struct Pending {
    copying: Copying,
    groups: [u32; WARP_SIZE],
}

/// A warp's copies that have not been waited for.
#[derive(Default, Clone, Hash)]
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

    /// Starts copies to shared memory.
    ///
    /// # Safety
    /// The targets lie in the memory that [`AsyncCopies::complete`] is given.
    pub unsafe fn start(&mut self, copying: Copying) {
        let groups = self.groups;
        self.pending.push(Pending { copying, groups });
    }

    /// The copies in flight, in the order of starting.
    pub fn in_flight(&self) -> impl Iterator<Item = &Copying> {
        self.pending.iter().map(|pending| &pending.copying)
    }

    /// Closes the group of every lane of `mask`.
    pub fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            self.groups[lane] += 1;
        }
    }

    /// Lets the copies of the lanes of `mask` arrive: all but those of the
    /// `n_left` youngest committed groups and of the open one, or all without exception.
    pub fn complete(&mut self, shared: &SharedMemory, mask: u32, n_left: Option<u32>) {
        let groups = &self.groups;
        self.pending.retain_mut(|pending| {
            let mut closed = 0;
            for (lane, (own, open)) in pending.groups.iter().zip(groups).enumerate() {
                let is_old = n_left.is_none_or(|n| own.saturating_add(n) < *open);
                closed |= u32::from(is_old) << lane;
            }
            let copying = &mut pending.copying;
            let arriving = copying.mask & mask & closed;
            // SAFETY: The targets lie in this memory (the promise made to `start`),
            // which one host thread at a time works on.
            unsafe {
                match copying.n_bytes {
                    4 => copying.arrive::<4>(shared, arriving),
                    8 => copying.arrive::<8>(shared, arriving),
                    _ => copying.arrive::<16>(shared, arriving),
                }
            }
            copying.mask &= !arriving;
            copying.mask != 0
        });
    }
}

impl Copying {
    /// Writes the `N` bytes of each of some lanes.
    ///
    /// # Safety
    /// The targets lie in this memory.
    unsafe fn arrive<const N: usize>(&self, shared: &SharedMemory, mask: u32) {
        for lane in lanes(mask) {
            let from = self.data[lane].as_ptr();
            // SAFETY: The caller's promise; `N` is at most 16.
            unsafe {
                let to = shared.host().add(self.to[lane] as usize);
                std::ptr::copy_nonoverlapping(from, to, N);
            }
        }
    }
}
