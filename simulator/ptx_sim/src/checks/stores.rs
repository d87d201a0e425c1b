//! The places in global memory that each store instruction of a launch writes, by thread.
//!
//! Left out: what else writes there, such as atomics and bulk copies.

use super::access::{AccessClass, RowAccess, WarpAccess};
use super::pattern::Pattern;
use super::races::lanes;
use crate::context::LaunchContext;
use crate::lanes::FULL_MASK;
use ptx::ir::Space;

/// By store instruction, its pattern.
#[derive(Default)]
pub(crate) struct Stores(Vec<Option<Box<Pattern>>>);

/// Who stores.
struct Storing {
    block: u64,
    warp: u32,
    mask: u32,
    /// Bytes of a lane.
    bytes: u32,
    /// Whether all lanes' addresses are known to have one distance.
    is_row: bool,
}

impl Stores {
    /// Adds a store to global memory; other accesses are left out.
    #[inline]
    pub fn add(&mut self, launch: &LaunchContext<'_>, instruction: u32, access: &WarpAccess<'_>) {
        if access.class == AccessClass::Store && access.space == Space::Global && access.mask != 0 {
            let storing = Storing {
                block: access.block,
                warp: access.warp,
                mask: access.mask,
                bytes: access.bytes,
                is_row: access.stride.is_some(),
            };
            self.add_lanes(launch, instruction, &storing, |lane| access.addresses[lane]);
        }
    }

    /// Adds a store of a row to global memory.
    #[inline]
    pub fn add_row(&mut self, launch: &LaunchContext<'_>, instruction: u32, access: &RowAccess) {
        let row = access.row;
        let storing = Storing {
            block: access.block,
            warp: access.warp,
            mask: FULL_MASK,
            bytes: row.bytes,
            is_row: true,
        };
        self.add_lanes(launch, instruction, &storing, |lane| {
            row.first + lane as u64 * row.stride
        });
    }

    fn add_lanes(
        &mut self,
        launch: &LaunchContext<'_>,
        instruction: u32,
        storing: &Storing,
        address: impl Fn(usize) -> u64,
    ) {
        let place = instruction as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        let pattern = &mut self.0[place];
        if pattern.as_ref().is_some_and(|pattern| pattern.is_broken()) {
            return;
        }
        let [block_x, block_y, block_z] = launch.ctaid(storing.block);
        let at = |lane: usize| {
            let [x, y, z] = launch.thread_at(storing.warp, lane as u32);
            [block_x, block_y, block_z, x, y, z]
        };
        // Lanes of one row with equal distances: two tell as much as all.
        let [along_x, along_y, along_z] = launch.block;
        let is_one_row = along_x.is_multiple_of(32) || along_y * along_z == 1;
        let telling = match storing.is_row && is_one_row {
            true => 0b11,
            false => storing.mask,
        };
        let n_others = (storing.mask & !telling).count_ones();
        let mut telling = lanes(telling);
        let Some(first) = telling.next() else { return };
        let pattern = match pattern {
            None => {
                let new = Pattern::new(storing.bytes, at(first), address(first));
                pattern.insert(Box::new(new))
            }
            Some(pattern) => {
                pattern.add(at(first), address(first));
                pattern
            }
        };
        for lane in telling {
            pattern.add(at(lane), address(lane));
        }
        pattern.count(n_others);
    }

    /// Adds another worker's.
    pub fn join(&mut self, others: Self) {
        let n = self.0.len().max(others.0.len());
        self.0.resize_with(n, || None);
        for (mine, theirs) in self.0.iter_mut().zip(others.0) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => mine.join(*theirs),
                (mine @ None, theirs) => *mine = theirs,
                (Some(_), None) => {}
            }
        }
    }

    /// Those that are patterns, with their instructions.
    pub fn into_patterns(self) -> impl Iterator<Item = (u32, Pattern)> {
        let all = (0..).zip(self.0);
        all.filter_map(|(instruction, pattern)| {
            let pattern = pattern.filter(|pattern| !pattern.is_broken())?;
            Some((instruction, *pattern))
        })
    }
}
