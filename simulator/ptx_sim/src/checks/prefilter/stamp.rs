//! Stamps: when, and by whom, a cell was accessed.
//!
//! A stamp is 32 bits: the time in the upper 20, then whether several warps or several
//! lanes did it, the warp, the lane. Time is a worker's: each block begins where the one
//! before it ended, or, in a cluster, may at the latest have ended, and counts as its warps'
//! clocks do. So one comparison says that a stamp is of this block, and another that everything
//! up to it comes before an access.

use super::super::order::{BlockOrder, Depth, Floor, Known, Others, Part};
use super::times::{Began, Times};
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;

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
/// Several blocks, or an access that is not done yet.
pub(super) const MANY: u32 = u32::MAX;
/// By no one that could be compared with, also with a lane added.
const NOBODY: u32 = 1 << 31;

/// Who accesses cells now, and what comes before that.
pub(super) struct Who<'k> {
    known: Option<&'k Known>,
    /// What is known of other blocks, if their accesses matter.
    others: Option<&'k Others>,
    /// Whether nothing is.
    knows_none: bool,
    /// Whether nothing comes before of what other warps of the block did from `high` on.
    is_floor_all: bool,
    times: &'k Times,
    depth: Depth,
    /// The time at which the block began.
    base: u32,
    /// The first stamp of this block.
    low: u32,
    /// The first one past it.
    top: u32,
    /// The first stamp that can come before: in shared memory that no other block reaches, any
    /// of a block before.
    low_shared: u32,
    /// Whether others' accesses to the block's shared memory matter.
    is_together: bool,
    /// The warp in stamps of bulk copies, which no warp knows all of up to some time.
    engine: u32,
    /// The first stamp that may not come before.
    high: u32,
    /// The first stamp of this warp that may not come before.
    own_high: u32,
    /// Of lane 0, now.
    stamp: u32,
}

impl<'k> Who<'k> {
    /// A warp of a block of this order, at its clock; what its lanes know, if that is the same
    /// for all of them; whether it accesses shared memory.
    #[inline(always)]
    pub fn new(
        times: &'k Times,
        order: &BlockOrder,
        (warp, clock): (u32, u32),
        known: Option<&'k Known>,
        is_shared: bool,
    ) -> Self {
        let base = times.base_of(order.place.block);
        let mut own = 0;
        let mut floor = Floor {
            clock: 0,
            is_all: true,
        };
        if let Some(known) = known {
            own = known.own.of_warp(warp);
            floor = known.own.floor(order.warps.len());
        }
        let is_together = times.are_together();
        let low = (base + 1) << TIME;
        let (top, low_shared) = match is_together {
            true => ((base + times.most()) << TIME, low),
            false => (MANY, 0),
        };
        let others = known
            .filter(|_| is_together || !is_shared)
            .map(|known| &known.others);
        Self {
            known,
            others,
            knows_none: others.is_none_or(Others::is_nothing),
            is_floor_all: floor.is_all,
            times,
            depth: order.place.depth,
            base,
            low,
            top,
            low_shared,
            is_together,
            engine: match order.has_engine() {
                true => order.engine_warp() << 5,
                false => NOBODY,
            },
            high: (base + floor.clock + 1) << TIME,
            own_high: (base + own + 1) << TIME,
            stamp: (base + clock) << TIME | warp << 5,
        }
    }

    /// The stamp of a lane, or of several from this one on.
    #[inline(always)]
    pub fn stamp(&self, lane: u32, is_several: bool) -> u32 {
        self.stamp | lane | if is_several { LANES } else { 0 }
    }

    /// A cell that no access of a lane minds.
    #[inline(always)]
    pub fn harmless(&self, lane: u32) -> u32 {
        // What comes before by its time is the least trouble.
        match self.low < self.high {
            true => self.low,
            false => self.stamp(lane, false),
        }
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
        cell.wrapping_sub(self.low) < self.top - self.low
    }

    /// Whether a cell of shared memory says that it has been written.
    #[inline(always)]
    pub fn is_written(&self, cell: u32) -> bool {
        cell != MANY && (cell >= self.low || self.is_together && cell != 0)
    }

    /// Whether a cell's stamp is of a bulk copy of this block: its time alone tells nothing.
    #[inline(always)]
    pub fn is_engines(&self, cell: u32) -> bool {
        (cell & WARP == self.engine) & self.is_ours(cell)
    }

    /// Whether any of these accesses is by another block.
    #[inline(always)]
    pub fn has_others(&self, cells: &[u32]) -> bool {
        let is_other = |&cell: &u32| (cell != 0) & !self.is_ours(cell);
        cells.iter().fold(false, |any, cell| any | is_other(cell))
    }

    /// Whether other blocks' accesses matter.
    #[inline(always)]
    pub fn counts_others(&self, is_global: bool) -> bool {
        is_global || self.is_together
    }

    /// Whether an access surely comes before this one, at a glance. `NONE` says whether the
    /// absence of an access counts, `OLD` whether other blocks' accesses do.
    #[inline(always)]
    fn is_before<const NONE: bool, const OLD: bool>(&self, cell: u32, by: u32) -> bool {
        let low = if OLD { self.low_shared } else { self.low };
        let ordered = (cell.wrapping_sub(low) < self.high - low) & !self.is_engines(cell);
        let is_own_lane = cell & BY == by;
        let is_own_warp = ((cell ^ self.stamp) & WARP == 0) & (cell < self.own_high);
        ordered | ((is_own_lane | is_own_warp) & self.is_ours(cell)) | (NONE & (cell == 0))
    }

    /// Whether all these accesses come before this one simply by their time, as they mostly do.
    #[inline(always)]
    fn are_simply_before<const NONE: bool, const OLD: bool>(&self, cells: &[u32]) -> bool {
        let low = if OLD { self.low_shared } else { self.low };
        let span = self.high - low;
        let mut bad = 0;
        for &cell in cells {
            let ordered = (cell.wrapping_sub(low) < span) & (cell & WARP != self.engine);
            bad |= u32::from(!(ordered | (NONE & (cell == 0))));
        }
        bad == 0
    }

    /// [`is_before`](Self::is_before) of all cells, of which each lane has `1 << shift`.
    #[inline(always)]
    pub fn are_before<const NONE: bool, const OLD: bool>(
        &self,
        cells: &[u32],
        stamp: u32,
        shift: u32,
    ) -> bool {
        self.are_simply_before::<NONE, OLD>(cells) || {
            #[cfg(target_arch = "x86_64")]
            if has_wide_vectors() {
                // SAFETY: This machine has the vectors.
                return unsafe { self.each_is_before_wide::<NONE, OLD>(cells, stamp, shift) };
            }
            self.each_is_before::<NONE, OLD>(cells, stamp, shift)
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn each_is_before_wide<const NONE: bool, const OLD: bool>(
        &self,
        cells: &[u32],
        stamp: u32,
        shift: u32,
    ) -> bool {
        self.each_is_before::<NONE, OLD>(cells, stamp, shift)
    }

    #[inline(always)]
    fn each_is_before<const NONE: bool, const OLD: bool>(
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

    /// Whether the access in a cell, if any, comes before this one: of one cell after another.
    /// Blocks before do not matter for shared memory.
    #[inline]
    pub fn comes_after(&self, cell: u32, stamp: u32, is_global: bool, seen: &mut Seen) -> bool {
        let is_before = match self.is_ours(cell) {
            true => cell < self.high && !self.is_engines(cell) || cell & BY == Self::by(stamp),
            false => cell == 0 || cell < self.low && !self.counts_others(is_global),
        };
        if is_before || cell == seen.0 {
            return true;
        }
        let is_known = self.knows(cell);
        if is_known {
            seen.0 = cell;
        }
        is_known
    }

    /// Whether the access in a cell is among those that the warp knows to come before.
    fn knows(&self, cell: u32) -> bool {
        let lanes = match cell & LANES {
            0 => 1 << (cell & 31),
            _ => u32::MAX,
        };
        self.knows_of(cell, lanes)
    }

    /// [`knows`](Self::knows), of an access by these lanes.
    fn knows_of(&self, cell: u32, lanes: u32) -> bool {
        let Some(known) = self.known else {
            return false;
        };
        if cell == 0 || cell & WARPS != 0 {
            return false;
        }
        let part = |base: u32| Part {
            warp: cell >> 5 & 31,
            lanes,
            clock: (cell >> TIME) - base,
        };
        if self.is_ours(cell) {
            return known.own.missing(part(self.base)) == 0;
        }
        let Some(others) = self.others.filter(|others| !others.is_nothing()) else {
            return false;
        };
        let is_known = |began: Began| {
            let of_block = others.get(self.depth, began.block)?;
            Some(of_block.missing(part(began.base)) == 0)
        };
        let began = self.times.block_at(cell >> TIME);
        began.and_then(is_known).unwrap_or(false)
    }

    /// Whether all cells say the same, as they do where one copy or one warp has written them,
    /// or a few different things, and the warp knows of that. A lane knows what it does now.
    #[inline(never)]
    pub fn are_known(&self, cells: &[u32], (stamp, shift): (u32, u32)) -> bool {
        let first = cells.first().copied().unwrap_or_default();
        let differ = cells.iter().fold(0, |all, &cell| all | (cell ^ first));
        match differ & !(LANES | 31) {
            0 if differ == 0 && self.knows(first) => true,
            0 if self.knows_of(first, u32::MAX) => true,
            _ => self.knows_each(cells, (stamp, shift)),
        }
    }

    fn knows_each(&self, cells: &[u32], (stamp, shift): (u32, u32)) -> bool {
        let is_own = |cell: u32, i: u32| stamp & LANES == 0 && cell == stamp + (i >> shift);
        // Mostly the next cell says the same.
        let mut known = 0;
        (0..).zip(cells).all(|(i, &cell)| {
            let is_known = cell != 0 && (cell == known || self.knows(cell));
            if is_known {
                known = cell;
            }
            is_known || cell != 0 && is_own(cell, i)
        })
    }

    /// What a cell says of accesses that may be unordered once this one is among them.
    pub fn merged(&self, cell: u32, stamp: u32, is_global: bool, seen: &mut Seen) -> u32 {
        if cell == 0 || cell == MANY {
            return cell | stamp;
        }
        if self.comes_after(cell, stamp, is_global, seen) {
            return stamp;
        }
        if !self.is_ours(cell) {
            return MANY;
        }
        match (cell ^ stamp) & WARP {
            0 => stamp | LANES,
            _ => cell.max(stamp) & !BY | WARPS | LANES,
        }
    }

    /// What cells say once lanes that have these stamps have read them, at a glance where that
    /// is enough.
    #[inline(always)]
    pub fn read(&self, cells: &mut [u32], stamp: u32, shift: u32, is_global: bool) {
        let are_before = match is_global {
            true => self.are_simply_before::<true, false>(cells),
            false => self.are_simply_before::<true, true>(cells),
        };
        if are_before {
            for (i, cell) in cells.iter_mut().enumerate() {
                *cell = stamp + (i as u32 >> shift);
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if has_wide_vectors() {
            // SAFETY: This machine has the vectors.
            return unsafe { self.read_each_wide(cells, stamp, shift, is_global) };
        }
        self.read_each(cells, stamp, shift, is_global);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn read_each_wide(&self, cells: &mut [u32], stamp: u32, shift: u32, is_global: bool) {
        // Each in a loop of its own.
        match is_global {
            true => self.read_each(cells, stamp, shift, true),
            false => self.read_each(cells, stamp, shift, false),
        }
    }

    #[inline(always)]
    fn read_each(&self, cells: &mut [u32], stamp: u32, shift: u32, is_global: bool) {
        const SEVERAL: u32 = WARPS | LANES;
        let first = Self::by(stamp);
        let now = self.stamp & !BY;
        let mut is_rest = 0;
        for (i, cell) in cells.iter_mut().enumerate() {
            let lane = i as u32 >> shift;
            let by = first.wrapping_add(lane);
            let old = *cell;
            let is_before = match is_global {
                true => self.is_before::<true, false>(old, by),
                false => self.is_before::<true, true>(old, by),
            };
            let is_ours = self.is_ours(old);
            let is_own_warp = ((old ^ self.stamp) & WARP == 0) & is_ours;
            let is_later = old.wrapping_sub(now) < self.top - now;
            let is_merged = (old & SEVERAL == SEVERAL) & is_later | (old == MANY);
            let several = if is_before { 0 } else { LANES };
            let is_new = is_before | is_own_warp;
            let is_unordered = match is_ours {
                true => self.is_floor_all,
                false => self.knows_none,
            };
            // As `merged` has it.
            let both = match is_ours {
                true => old.max(stamp) & !BY | SEVERAL,
                false => MANY,
            };
            *cell = match (is_new, is_unordered & !is_merged) {
                (true, _) => (stamp + lane) | several,
                (false, true) => both,
                (false, false) => old,
            };
            is_rest |= u32::from(!(is_new | is_merged | is_unordered));
        }
        if is_rest != 0 {
            self.merge(cells, stamp, shift, is_global);
        }
    }

    /// What cells say once lanes that have these stamps have read them.
    #[inline(never)]
    pub fn merge(&self, cells: &mut [u32], stamp: u32, shift: u32, is_global: bool) {
        let mut seen = Seen::default();
        for (i, cell) in cells.iter_mut().enumerate() {
            let stamp = stamp + (i as u32 >> shift);
            if *cell & !LANES != stamp {
                *cell = self.merged(*cell, stamp, is_global, &mut seen);
            }
        }
    }

    /// Puts what cells say once a lane has read them in the place of what they said before: where
    /// other lanes of the access have been there meanwhile, both.
    #[inline(always)]
    pub fn replace(
        &self,
        cells: &mut [u32],
        (before, after): (&[u32], &[u32]),
        stamp: u32,
        is_global: bool,
    ) {
        for ((cell, &before), &after) in cells.iter_mut().zip(before).zip(after) {
            let is_by_another_lane = (*cell ^ stamp) & !(LANES | 31) == 0;
            *cell = match *cell == before || *cell == after {
                true => after,
                // As `merged` has it: this very instruction.
                false if is_by_another_lane => stamp | LANES,
                false => self.merged(*cell, stamp, is_global, &mut Seen::default()),
            };
        }
    }

    /// What cells say once lanes that have these stamps have written them, or have started
    /// copies that will.
    #[inline(always)]
    pub fn write(&self, cells: &mut [u32], stamp: u32, shift: u32, starts_copy: bool) {
        if starts_copy {
            return cells.fill(MANY);
        }
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = Self::written(*cell, stamp + (i as u32 >> shift));
        }
    }

    /// What a cell says once this access has written it; lanes of one instruction write
    /// one after the other.
    #[inline(always)]
    fn written(cell: u32, stamp: u32) -> u32 {
        let is_other_lane = (cell ^ stamp) & !(LANES | 31) == 0 && cell != stamp;
        stamp | if is_other_lane { LANES } else { 0 }
    }
}

/// What a cell said of an access that is known to come before; 0 is none. Mostly the next
/// cell says the same.
#[derive(Default)]
pub(super) struct Seen(u32);

/// Stamps of another time than this worker's, as those of some block before.
pub(super) fn age(cells: &mut [u32]) {
    for cell in cells {
        if *cell != 0 && *cell != MANY {
            *cell = 1 << TIME;
        }
    }
}
