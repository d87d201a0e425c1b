//! The places in global memory that each store instruction of a launch writes, by thread.
//!
//! Left out: what else writes there, such as atomics and bulk copies.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

use super::access::{AccessClass, WarpAccess};
use super::pattern::Pattern;
use super::races::lanes;
use super::shadow::Mix;
use crate::context::LaunchContext;
use ptx::ir::Space;

/// By store instruction, its pattern.
#[derive(Default)]
pub(crate) struct Stores(HashMap<u32, Pattern, BuildHasherDefault<Mix>>);

impl Stores {
    /// Adds a store to global memory; other accesses are left out.
    #[inline]
    pub fn add(&mut self, launch: &LaunchContext<'_>, instruction: u32, access: &WarpAccess<'_>) {
        if access.class == AccessClass::Store && access.space == Space::Global && access.mask != 0 {
            self.add_lanes(launch, instruction, access);
        }
    }

    fn add_lanes(&mut self, launch: &LaunchContext<'_>, instruction: u32, access: &WarpAccess<'_>) {
        let entry = self.0.entry(instruction);
        if matches!(&entry, Entry::Occupied(pattern) if pattern.get().is_broken()) {
            return;
        }
        let [block_x, block_y, block_z] = launch.ctaid(access.block);
        let at = |lane: usize| {
            let [x, y, z] = launch.thread_at(access.warp, lane as u32);
            [block_x, block_y, block_z, x, y, z]
        };
        // Lanes of one row with equal distances: two tell as much as all.
        let [along_x, along_y, along_z] = launch.block;
        let is_one_row = along_x.is_multiple_of(32) || along_y * along_z == 1;
        let telling = match access.stride {
            Some(_) if is_one_row => 0b11,
            _ => access.mask,
        };
        let n_others = (access.mask & !telling).count_ones();
        let mut telling = lanes(telling);
        let Some(first) = telling.next() else { return };
        let pattern = match entry {
            Entry::Vacant(entry) => {
                let pattern = Pattern::new(access.bytes, at(first), access.addresses[first]);
                entry.insert(pattern)
            }
            Entry::Occupied(entry) => {
                let pattern = entry.into_mut();
                pattern.add(at(first), access.addresses[first]);
                pattern
            }
        };
        for lane in telling {
            pattern.add(at(lane), access.addresses[lane]);
        }
        pattern.count(n_others);
    }

    /// Adds another worker's.
    pub fn join(&mut self, others: Self) {
        for (instruction, pattern) in others.0 {
            match self.0.entry(instruction) {
                Entry::Vacant(entry) => drop(entry.insert(pattern)),
                Entry::Occupied(entry) => entry.into_mut().join(pattern),
            }
        }
    }

    /// Those that are patterns, with their instructions.
    pub fn into_patterns(self) -> impl Iterator<Item = (u32, Pattern)> {
        self.0
            .into_iter()
            .filter(|(_, pattern)| !pattern.is_broken())
    }
}
