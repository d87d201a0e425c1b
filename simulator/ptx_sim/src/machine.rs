//! A device's place among the devices of its machine, and whose memory it may use.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use crate::memory::heap::{Heap, Seat, ordinal_of};

/// A device's place among the devices of its machine.
pub(crate) struct Machine {
    seat: Seat,
    /// By place, the heap of each device; empty if there is only one.
    heaps: Arc<[Arc<Mutex<Heap>>]>,
    /// Held for writing by a launch that must be alone with the memory's contents.
    contents: Arc<RwLock<()>>,
    /// Counts what launches that run at the same time do besides waiting.
    progress: Arc<AtomicU64>,
    /// Those whose memory it may use, a bit each.
    peers: AtomicU8,
}

impl Machine {
    /// Of each of several devices, with the heaps of all.
    pub fn of_several(
        seat: Seat,
        heaps: &Arc<[Arc<Mutex<Heap>>]>,
        contents: &Arc<RwLock<()>>,
        progress: &Arc<AtomicU64>,
    ) -> Self {
        Self {
            seat,
            heaps: Arc::clone(heaps),
            contents: Arc::clone(contents),
            progress: Arc::clone(progress),
            peers: AtomicU8::new(0),
        }
    }

    /// Of a device that has its machine to itself.
    pub fn of_one(ordinal: u32) -> Self {
        Self {
            seat: Seat::alone(ordinal),
            heaps: Arc::new([]),
            contents: Arc::default(),
            progress: Arc::default(),
            peers: AtomicU8::new(0),
        }
    }

    /// The lock of the contents of all devices' memory.
    pub fn contents(&self) -> &RwLock<()> {
        &self.contents
    }

    /// Counts what launches that run at the same time do besides waiting.
    pub fn progress(&self) -> &AtomicU64 {
        &self.progress
    }

    /// Its number, if there are others.
    pub fn number(&self) -> Option<u32> {
        (!self.heaps.is_empty()).then_some(self.seat.ordinal)
    }

    /// Whether both are of one machine.
    pub fn is_same(&self, other: &Self) -> bool {
        !self.heaps.is_empty() && Arc::ptr_eq(&self.heaps, &other.heaps)
    }

    /// Where it is among them.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// Whether it may use the memory of the device at a place.
    pub fn is_peer(&self, index: usize) -> bool {
        self.peers.load(Ordering::Acquire) >> index & 1 != 0
    }

    /// Says whether it may from now on; gives whether it could before.
    pub fn set_peer(&self, index: usize, may: bool) -> bool {
        let bit = 1 << index;
        let before = match may {
            true => self.peers.fetch_or(bit, Ordering::AcqRel),
            false => self.peers.fetch_and(!bit, Ordering::AcqRel),
        };
        before & bit != 0
    }

    /// Whether it may use the memory of any other device.
    pub fn has_peers(&self) -> bool {
        self.peers.load(Ordering::Acquire) != 0
    }

    /// The heap of the device that has an address.
    pub fn heap_at(&self, address: u64) -> Option<&Mutex<Heap>> {
        let first = self.seat.ordinal - self.seat.index as u32;
        let index = ordinal_of(address)?.checked_sub(first)?;
        self.heaps.get(index as usize).map(|heap| &**heap)
    }

    /// By place, the heaps of the devices; none if there is only one.
    pub fn heaps(&self) -> &[Arc<Mutex<Heap>>] {
        &self.heaps
    }
}
