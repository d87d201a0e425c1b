//! Stamps: when, and by whom, a cell was accessed.
//!
//! A stamp is 32 bits: the time in the upper 20, then whether several warps or several
//! lanes did it, the warp, the lane. Time is a worker's: each block begins where the one
//! before it ended, and counts as its warps' clocks do. So one comparison says that a
//! stamp is of this block, and another that everything up to it comes before an access.

use super::super::order::{Known, Part};

/// Several lanes of the warp.
pub(super) const LANES: u32 = 1 << 10;
/// Several warps; the time is the last one's.
const WARPS: u32 = 1 << 11;
/// Where the time begins.
const TIME: u32 = 12;
/// All bits that say by whom.
const BY: u32 = (1 << TIME) - 1;
/// Warp, and whether there are several.
const WARP: u32 = BY & !LANES & !31;
/// The latest time at which a block begins; it has as much time again until it ends.
pub(super) const LATEST: u32 = 1 << 19;
/// Several blocks, or an access that is not done yet.
pub(super) const MANY: u32 = u32::MAX;
/// By no one that could be compared with.
const NOBODY: u32 = u32::MAX;

/// Who accesses cells now, and what comes before that.
pub(super) struct Who<'k> {
    known: Option<&'k Known>,
    /// The time at which the block began.
    base: u32,
    /// The first stamp of this block.
    low: u32,
    /// The first stamp that may not come before.
    high: u32,
    /// The first stamp of this warp that may not come before.
    own_high: u32,
    /// Of lane 0, now.
    stamp: u32,
}

impl<'k> Who<'k> {
    /// A warp at its clock, in a block that began at `base`; what its lanes know, if that
    /// is the same for all of them.
    #[inline(always)]
    pub fn new(base: u32, warp: u32, clock: u32, known: Option<&'k Known>, n_warps: usize) -> Self {
        let (floor, own) = known.map_or((0, 0), |known| {
            (known.own.of_all_warps(n_warps), known.own.of_warp(warp))
        });
        Self {
            known,
            base,
            low: (base + 1) << TIME,
            high: (base + floor + 1) << TIME,
            own_high: (base + own + 1) << TIME,
            stamp: (base + clock) << TIME | warp << 5,
        }
    }

    /// The stamp of a lane, or of several from this one on.
    #[inline(always)]
    pub fn stamp(&self, lane: u32, is_several: bool) -> u32 {
        self.stamp | lane | if is_several { LANES } else { 0 }
    }

    /// By whom the stamp is, if by one lane.
    #[inline(always)]
    fn by(stamp: u32) -> u32 {
        if stamp & LANES == 0 {
            stamp & BY
        } else {
            NOBODY
        }
    }

    /// Whether a cell's stamp is of this block.
    #[inline(always)]
    pub fn is_ours(&self, cell: u32) -> bool {
        cell >= self.low && cell != MANY
    }

    /// Whether an access surely comes before this one, at a glance. `NONE` says whether the
    /// absence of an access counts, `OLD` whether other blocks' accesses do.
    #[inline(always)]
    fn is_before<const NONE: bool, const OLD: bool>(&self, cell: u32, by: u32) -> bool {
        let ordered = if OLD {
            cell < self.high
        } else {
            cell.wrapping_sub(self.low) < self.high - self.low
        };
        let is_own_lane = cell & BY == by;
        let is_own_warp = ((cell ^ self.stamp) & WARP == 0) & (cell < self.own_high);
        ordered | ((is_own_lane | is_own_warp) & (cell >= self.low)) | (NONE & (cell == 0))
    }

    /// [`is_before`](Self::is_before) of all cells, of which each lane has `1 << shift`.
    #[inline(always)]
    pub fn are_before<const NONE: bool, const OLD: bool>(
        &self,
        cells: &[u32],
        stamp: u32,
        shift: u32,
    ) -> bool {
        let first = Self::by(stamp);
        let mut bad = 0;
        for (i, &cell) in cells.iter().enumerate() {
            let by = first.wrapping_add(i as u32 >> shift);
            bad |= u32::from(!self.is_before::<NONE, OLD>(cell, by));
        }
        bad == 0
    }

    /// Whether all cells already say what they would say once this access is
    /// [`merged`](Self::merged), at a glance.
    #[inline(always)]
    pub fn are_merged(&self, cells: &[u32]) -> bool {
        const SEVERAL: u32 = WARPS | LANES;
        let now = self.stamp & !BY;
        let mut bad = 0;
        for &cell in cells {
            let is_merged = (cell & SEVERAL == SEVERAL) & (cell >= now);
            bad |= u32::from(!is_merged);
        }
        bad == 0
    }

    /// Whether the access in a cell, if any, comes before this one. Other blocks do not
    /// matter for shared memory, and are unordered for global memory.
    pub fn comes_after(&self, cell: u32, stamp: u32, is_global: bool) -> bool {
        if cell < self.low {
            return cell == 0 || !is_global;
        }
        if cell < self.high || cell & BY == Self::by(stamp) {
            return true;
        }
        if cell & WARPS != 0 {
            return false;
        }
        let part = Part {
            warp: cell >> 5 & 31,
            lanes: match cell & LANES {
                0 => 1 << (cell & 31),
                _ => u32::MAX,
            },
            clock: (cell >> TIME) - self.base,
        };
        self.known.is_some_and(|known| known.own.missing(part) == 0)
    }

    /// What a cell says of accesses that may be unordered once this one is among them.
    pub fn merged(&self, cell: u32, stamp: u32, is_global: bool) -> u32 {
        if cell == 0 || cell == MANY {
            return cell | stamp;
        }
        if cell < self.low {
            return if is_global { MANY } else { stamp };
        }
        if self.comes_after(cell, stamp, is_global) {
            return stamp;
        }
        match (cell ^ stamp) & WARP {
            0 => stamp | LANES,
            _ => cell.max(stamp) & !BY | WARPS | LANES,
        }
    }

    /// What a cell says once this access has written it; lanes of one instruction write
    /// one after the other.
    #[inline(always)]
    pub fn written(cell: u32, stamp: u32) -> u32 {
        let is_other_lane = (cell ^ stamp) & !(LANES | 31) == 0 && cell != stamp;
        stamp | if is_other_lane { LANES } else { 0 }
    }
}

/// Stamps of another time than this worker's, as those of some block before.
pub(super) fn age(cells: &mut [u32]) {
    for cell in cells {
        if *cell != 0 && *cell != MANY {
            *cell = 1 << TIME;
        }
    }
}
