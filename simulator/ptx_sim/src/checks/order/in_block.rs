//! Happens-before within a block: a clock for each warp.

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
}

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
    pub const NOTHING: Self = Self {
        all: [0; MAX_WARPS],
        parts: Vec::new(),
    };

    /// The clock up to which all that a warp did comes before.
    #[inline]
    pub fn of_warp(&self, warp: u32) -> u32 {
        self.all[warp as usize]
    }

    /// The clock up to which all that each of the first warps did comes before.
    #[inline(always)]
    pub fn of_all_warps(&self, n_warps: usize) -> u32 {
        let mut least = u32::MAX;
        // As vectors: all clocks, of which those past the last warp do not count.
        for (warp, &clock) in self.all.iter().enumerate() {
            least = least.min(if warp < n_warps { clock } else { u32::MAX });
        }
        least
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
        let all = &mut self.all[warp as usize];
        *all = clock.max(*all);
        let all = *all;
        self.parts
            .retain(|part| part.warp != warp || part.clock > all);
    }

    /// Some lanes of a warp come before, up to a clock.
    pub fn add_part(&mut self, new: Part) {
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
        self.all[warp as usize] = from.of_warp(warp);
        self.parts.retain(|part| part.warp != warp);
        let of_warp = from.parts.iter().filter(|part| part.warp == warp);
        self.parts.extend(of_warp);
    }
}
