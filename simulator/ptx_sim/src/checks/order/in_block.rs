//! Happens-before within a block: a clock for each warp.

use std::sync::atomic::{AtomicU64, Ordering};

/// Warps of the largest block.
pub(crate) const MAX_WARPS: usize = 32;
/// Entries for parts of one warp; beyond that, parts are merged.
const MAX_PARTS: usize = 8;

/// By warp, its clock up to which its accesses come before.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct InBlock {
    /// Of all its lanes.
    all: [u32; MAX_WARPS],
    /// Of some lanes, further than of all.
    parts: Vec<Part>,
    floor: LastFloor,
}

/// What comes before of all warps of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    /// The clock up to which all that each of them did does.
    pub clock: u32,
    /// Whether nothing does beyond that.
    pub is_all: bool,
}

/// The floor that was worked out last: accesses ask for it far more often than it changes.
struct LastFloor(AtomicU64);

impl LastFloor {
    const UNKNOWN: u64 = u64::MAX;
}

impl Clone for LastFloor {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}

impl PartialEq for LastFloor {
    /// It follows from the clocks.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LastFloor {}

/// Some lanes of a warp.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub warp: u32,
    pub lanes: u32,
    /// The warp's clock up to which their accesses come before.
    pub clock: u32,
}

impl Part {
    fn says_less_than(&self, other: &Self) -> bool {
        self.warp == other.warp && self.lanes & !other.lanes == 0 && self.clock <= other.clock
    }
}

impl InBlock {
    /// No access comes before.
    pub const fn nothing() -> Self {
        Self {
            all: [0; MAX_WARPS],
            parts: Vec::new(),
            floor: LastFloor(AtomicU64::new(LastFloor::UNKNOWN)),
        }
    }

    /// The clock up to which all that a warp did comes before.
    #[inline]
    pub fn of_warp(&self, warp: u32) -> u32 {
        self.all[warp as usize]
    }

    /// What comes before of all warps of the block, whose number is always the same.
    #[inline(always)]
    pub fn floor(&self, n_warps: usize) -> Floor {
        match self.floor.0.load(Ordering::Relaxed) {
            LastFloor::UNKNOWN => self.new_floor(n_warps),
            last => Floor {
                clock: last as u32,
                is_all: last >> 32 != 0,
            },
        }
    }

    #[inline(never)]
    fn new_floor(&self, n_warps: usize) -> Floor {
        let warps = &self.all[..n_warps.min(MAX_WARPS)];
        let clock = warps.iter().copied().min().unwrap_or_default();
        let is_all = self.parts.is_empty() && warps.iter().all(|&of_warp| of_warp == clock);
        let floor = u64::from(is_all) << 32 | u64::from(clock);
        self.floor.0.store(floor, Ordering::Relaxed);
        Floor { clock, is_all }
    }

    /// What is known is about to change.
    fn changes(&mut self) {
        *self.floor.0.get_mut() = LastFloor::UNKNOWN;
    }

    /// Of the lanes that did something at a clock, those for which that does not surely
    /// come before.
    #[inline]
    pub fn missing(&self, part: Part) -> u32 {
        if self.of_warp(part.warp) >= part.clock {
            return 0;
        }
        let covers = |p: &&Part| p.warp == part.warp && p.clock >= part.clock;
        let parts = self.parts.iter().filter(covers);
        parts.fold(part.lanes, |missing, p| missing & !p.lanes)
    }

    /// All lanes of the warp come before, up to a clock.
    pub fn add_warp(&mut self, warp: u32, clock: u32) {
        self.changes();
        let all = &mut self.all[warp as usize];
        *all = clock.max(*all);
        let all = *all;
        self.parts
            .retain(|part| part.warp != warp || part.clock > all);
    }

    /// Some lanes of a warp come before, up to a clock.
    pub fn add_part(&mut self, new: Part) {
        self.changes();
        if new.clock <= self.of_warp(new.warp) || self.parts.iter().any(|p| new.says_less_than(p)) {
            return;
        }
        self.parts.retain(|part| !part.says_less_than(&new));
        let of_warp = |part: &&mut Part| part.warp == new.warp;
        if self.parts.iter_mut().filter(of_warp).count() >= MAX_PARTS
            && let Some(part) = self.parts.iter_mut().find(of_warp)
        {
            part.lanes |= new.lanes;
            part.clock = part.clock.max(new.clock);
            return;
        }
        self.parts.push(new);
    }

    pub fn join(&mut self, other: &Self) {
        self.changes();
        for (mine, theirs) in self.all.iter_mut().zip(&other.all) {
            *mine = (*mine).max(*theirs);
        }
        if self.parts.is_empty() && other.parts.is_empty() {
            return;
        }
        let all = self.all;
        self.parts
            .retain(|part| part.clock > all[part.warp as usize]);
        for &part in &other.parts {
            self.add_part(part);
        }
    }

    /// Copies what another one says of a warp.
    pub fn restore_warp(&mut self, warp: u32, from: &Self) {
        self.changes();
        self.all[warp as usize] = from.of_warp(warp);
        self.parts.retain(|part| part.warp != warp);
        let of_warp = from.parts.iter().filter(|part| part.warp == warp);
        self.parts.extend(of_warp);
    }
}
