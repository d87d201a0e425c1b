//! The memory that launches may use: that of their device, and of the devices whose memory it may
//! use as a peer.

use std::sync::{MutexGuard, PoisonError, TryLockError};

use crate::device::Device;
use crate::memory::global::GlobalMemory;
use crate::memory::heap::Heap;
use crate::memory::written::Written;

/// What is allocated when launches begin.
pub(crate) struct Views {
    /// By launch, what it may use.
    pub usable: Vec<GlobalMemory>,
    /// What there is on all devices of the machine.
    pub machine: GlobalMemory,
}

/// The heaps of all memory that launches may use, locked.
pub(crate) struct Heaps<'a>(Vec<MutexGuard<'a, Heap>>);

impl<'a> Heaps<'a> {
    /// Those of launches on these devices, which are of one machine if there are several.
    pub fn of(devices: &[&'a Device]) -> (Self, Views) {
        let machine = &devices[0].machine;
        if machine.number().is_none() {
            let heap = devices[0].heap();
            let memory = heap.memory().clone();
            let usable = vec![memory.clone()];
            let views = Views {
                usable,
                machine: memory,
            };
            return (Self(vec![heap]), views);
        }
        let uses = |index| {
            let mut devices = devices.iter().map(|device| &device.machine);
            devices.any(|machine| machine.seat().index == index || machine.is_peer(index))
        };
        // In one order, so that no two launches wait for each other.
        let mut all = Vec::new();
        for (index, heap) in machine.heaps().iter().enumerate() {
            let locked = match uses(index) {
                true => Some(heap.lock().unwrap_or_else(PoisonError::into_inner)),
                // Only to say what is there.
                false => match heap.try_lock() {
                    Ok(heap) => Some(heap),
                    Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                    Err(TryLockError::WouldBlock) => None,
                },
            };
            all.extend(locked.map(|heap| (index, heap)));
        }
        let visible = |device: Option<&&Device>| {
            let own = device.unwrap_or(&devices[0]).machine.seat().index;
            let sees = |index| device.is_none_or(|d| d.machine.is_peer(index));
            let first = all.iter().find(|(index, _)| *index == own);
            // The host's memory is where the device itself has it; for all, where the first has it.
            let mut memory =
                first.map_or_else(GlobalMemory::default, |(_, heap)| heap.memory().clone());
            for (_, heap) in all
                .iter()
                .filter(|(index, _)| *index != own && sees(*index))
            {
                heap.show_in(&mut memory);
            }
            memory
        };
        let views = Views {
            usable: devices.iter().map(|device| visible(Some(device))).collect(),
            machine: visible(None),
        };
        let used = all.into_iter().filter(|&(index, _)| uses(index));
        (Self(used.map(|(_, heap)| heap).collect()), views)
    }

    /// Launches may write anything there.
    pub fn written_by_anyone(&mut self) {
        self.0.iter_mut().for_each(|heap| heap.written_by_anyone());
    }

    /// Lends what is known of the allocations' bytes.
    pub fn lend_written(&mut self) -> Vec<Written> {
        let mut all = Vec::new();
        self.0
            .iter_mut()
            .for_each(|heap| heap.lend_written(&mut all));
        all
    }

    /// What is known of the allocations' bytes, for a launch that leaves everything as it is.
    pub fn written(&mut self) -> Vec<Written> {
        let mut all = Vec::new();
        self.0
            .iter_mut()
            .for_each(|heap| heap.copy_written(&mut all));
        all
    }

    /// Launches that watched have ended: what they know.
    pub fn give_written(&mut self, mut written: Vec<Written>) {
        self.0
            .iter_mut()
            .for_each(|heap| heap.give_written(&mut written));
    }

    /// Whether kernels use memory of the host.
    pub fn have_memory_of_the_host(&self) -> bool {
        self.0.iter().any(|heap| heap.has_memory_of_the_host())
    }

    /// Whether all bytes of the allocation at an address have been written, as far as it is one
    /// of these heaps'.
    pub fn is_all_written(&mut self, base: u64, size_bytes: u64) -> bool {
        let mut known = self.0.iter_mut().filter_map(|heap| heap.written_mut(base));
        known
            .next()
            .is_none_or(|(_, written)| written.has(0, size_bytes))
    }
}
