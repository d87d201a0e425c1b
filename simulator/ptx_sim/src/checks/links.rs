//! The links between devices: accesses to the memory of another one, per instruction.
//!
//! They are counted among the global accesses as well, by the same rules: a link moves the same
//! sectors of 32 bytes.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::access::{AccessClass, BulkStart, BulkTouch, WarpAccess};
use super::count;
use super::shadow::Mix;
use crate::context::LaunchContext;
use crate::lanes::lanes;
use crate::memory::heap::ordinal_of;
use ptx::ir::Space;

/// What an instruction has moved over links.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCost {
    pub load_sectors: u64,
    pub load_bytes: u64,
    pub store_sectors: u64,
    pub store_bytes: u64,
    pub atomic_requests: u64,
}

impl LinkCost {
    fn add(&mut self, other: &Self) {
        self.load_sectors += other.load_sectors;
        self.load_bytes += other.load_bytes;
        self.store_sectors += other.store_sectors;
        self.store_bytes += other.store_bytes;
        self.atomic_requests += other.atomic_requests;
    }
}

/// What the instructions of a launch have moved.
#[derive(Clone)]
pub(crate) struct Links {
    /// The number of the launch's own device.
    device: u32,
    costs: HashMap<u32, LinkCost, BuildHasherDefault<Mix>>,
}

impl Links {
    /// Of a launch, if it can use other devices' memory.
    pub fn of(launch: &LaunchContext<'_>) -> Option<Self> {
        let device = launch.device.filter(|_| launch.has_peers)?;
        Some(Self {
            device,
            costs: HashMap::default(),
        })
    }

    /// What an instruction has moved.
    pub fn cost_of(&self, instruction: u32) -> Option<&LinkCost> {
        self.costs.get(&instruction)
    }

    /// Adds another worker's.
    pub fn add(&mut self, other: &Self) {
        for (instruction, cost) in &other.costs {
            self.costs.entry(*instruction).or_default().add(cost);
        }
    }

    fn is_elsewhere(&self, address: u64) -> bool {
        ordinal_of(address).is_some_and(|device| device != self.device)
    }

    /// A warp accesses global memory.
    pub fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let there = lanes(access.mask).filter(|&lane| self.is_elsewhere(access.addresses[lane]));
        let mask = there.fold(0, |mask, lane| mask | 1 << lane);
        if mask == 0 {
            return;
        }
        let kind = access.class.global_kind();
        let cost = count::global_access(kind, access.bytes, mask, access.addresses);
        let sum = self.costs.entry(instruction).or_default();
        let (sectors, bytes) = (u64::from(cost.sectors), u64::from(cost.bytes));
        match access.class {
            AccessClass::Store => {
                sum.store_sectors += sectors;
                sum.store_bytes += bytes;
            }
            class if class.is_atomic() => sum.atomic_requests += u64::from(cost.requests),
            _ => {
                sum.load_sectors += sectors;
                sum.load_bytes += bytes;
            }
        }
    }

    /// A thread starts a bulk copy.
    pub fn bulk(&mut self, instruction: u32, start: &BulkStart) {
        let bytes_of = |touch: &BulkTouch| {
            let ranges = touch.ranges.iter();
            let there = ranges.filter(|range| self.is_elsewhere(range.start));
            let bytes: u64 = there.map(|range| range.end - range.start).sum();
            if touch.space == Space::Shared {
                0
            } else {
                bytes
            }
        };
        let (load_bytes, store_bytes) = (bytes_of(&start.reads), bytes_of(&start.writes));
        if load_bytes + store_bytes == 0 {
            return;
        }
        self.costs.entry(instruction).or_default().add(&LinkCost {
            load_bytes,
            store_bytes,
            load_sectors: load_bytes.div_ceil(u64::from(count::SECTOR_BYTES)),
            store_sectors: store_bytes.div_ceil(u64::from(count::SECTOR_BYTES)),
            atomic_requests: 0,
        });
    }
}
