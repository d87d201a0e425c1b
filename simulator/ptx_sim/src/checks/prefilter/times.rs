//! Time: when each block that a worker runs began.

use std::ops::RangeInclusive;

use super::super::order::BlockOrder;

/// Time ends here.
pub(super) const END: u32 = 1 << 20;
/// The latest time at which a block begins; it has as much time again until it ends.
const LATEST: u32 = END / 2;
/// The time that each block has that runs together with others: less where there are many.
const TOGETHER: RangeInclusive<u32> = 1 << 6..=1 << 13;

/// When a block began.
#[derive(Clone, Copy)]
pub(super) struct Began {
    /// Its times are later ones.
    pub base: u32,
    pub block: u64,
}

/// A worker's time.
pub(super) struct Times {
    /// Blocks that began since time did, in order.
    began: Vec<Began>,
    /// How often time has begun anew.
    pub era: u32,
    /// The time at which the next block begins.
    next: u32,
    /// The time at which the first of the blocks that run began.
    since: u32,
    /// The last time that one of the blocks that ran together with those has used.
    used: u32,
    n_running: usize,
    /// The time that each block has, if blocks run together and reach each other's shared memory.
    together: Option<u32>,
    /// Whether blocks run together without being expected to.
    has_unexpected: bool,
    /// Whether other workers run other blocks: those before that this one ran show only a part
    /// of their order.
    is_parallel: bool,
}

impl Times {
    /// Of a grid of so many blocks.
    pub fn new(n_blocks: u64, together: bool, is_parallel: bool) -> Self {
        let share = u64::from(LATEST) / n_blocks.max(1);
        let share = (share as u32).clamp(*TOGETHER.start(), *TOGETHER.end());
        Self {
            began: Vec::new(),
            era: 0,
            next: 1,
            since: 1,
            used: 0,
            n_running: 0,
            together: together.then_some(share),
            has_unexpected: false,
            is_parallel,
        }
    }

    /// Whether blocks run together and reach each other's shared memory.
    #[inline(always)]
    pub fn are_together(&self) -> bool {
        self.together.is_some()
    }

    /// The clock that no warp of a block may reach.
    #[inline(always)]
    pub fn most(&self) -> u32 {
        self.together.unwrap_or(LATEST)
    }

    /// Whether blocks run together without being expected to.
    pub fn has_unexpected(&self) -> bool {
        self.has_unexpected
    }

    /// Whether time has to begin anew before the next block does.
    pub fn is_over(&self) -> bool {
        self.n_running == 0 && self.next >= LATEST
    }

    /// Time begins anew.
    pub fn restart(&mut self) {
        self.era += 1;
        self.next = 1;
        self.began.clear();
    }

    /// A block begins; `false` if it has no time.
    pub fn begins(&mut self, block: u64) -> bool {
        if self.n_running == 0 {
            (self.since, self.used) = (self.next, self.next);
        }
        let base = self.next;
        self.began.push(Began { base, block });
        self.n_running += 1;
        let share = self.together.unwrap_or_default();
        self.next += share;
        self.has_unexpected |= self.n_running > 1 && share == 0;
        !self.has_unexpected && self.next < END - share
    }

    /// A block has ended.
    pub fn ends(&mut self, order: &BlockOrder) {
        let end = self.base_of(order.place.block) + order.latest_clock();
        self.used = self.used.max(end);
        self.n_running = self.n_running.saturating_sub(1);
        if self.n_running == 0 {
            self.next = self.used;
        }
    }

    /// The time at which a block began, mostly the last one.
    #[inline(always)]
    pub fn base_of(&self, block: u64) -> u32 {
        let mut began = self.began.iter().rev();
        let began = began.find(|began| began.block == block);
        began.map_or(0, |began| began.base)
    }

    /// The block that ran at a time, if what is known of it counts.
    pub fn block_at(&self, time: u32) -> Option<Began> {
        if self.is_parallel && time <= self.since {
            return None;
        }
        let n_before = self.began.partition_point(|began| began.base < time);
        self.began.get(n_before.checked_sub(1)?).copied()
    }
}
