//! What comes before what: vector clocks.
//!
//! Within a block order is exact (FastTrack, Flanagan and Freund 2009, with
//! warps for threads): each warp counts the points at which it lets others know
//! what it did, and knows of each other warp up to which of them it is ordered
//! after. Order comes from block barriers, and from a release by one warp that
//! another acquires: by `.release` and `.acquire` on one address, or by relaxed
//! accesses to it with a fence before the one and behind the other. A release,
//! acquire or fence of block scope orders nothing between blocks.
//!
//! Within a warp, lanes are ordered by `bar.warp.sync`, by block barriers, and by
//! fences and acquiring accesses of the later lane. Being in one warp orders
//! nothing: lanes may run apart.
//!
//! What it takes for ordered although it is not:
//! - between blocks a single number, the *epoch*, stands for the vector: a warp
//!   that synchronises with another counts as ordered after everything that any
//!   block did before the other's release;
//! - within a warp, what a lane synchronises with counts as all other lanes;
//! - clusters are not told from the device.

use std::collections::HashMap;

use super::access::{Lanes, WarpAccess};
use crate::ir::Space;
use crate::program::{Order, Scope};

/// Warps of the largest block.
pub(crate) const MAX_WARPS: usize = 32;
/// Barriers of a block.
const N_BARRIERS: usize = 16;

/// What an access comes after.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    /// For each warp of the block, its clock up to which it comes before.
    pub after: [u32; MAX_WARPS],
    /// Accesses of other blocks up to this epoch come before.
    pub seen: u32,
}

const NOTHING: Known = Known {
    after: [0; MAX_WARPS],
    seen: 0,
};

impl Known {
    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.after.iter_mut().zip(&other.after) {
            *mine = (*mine).max(*theirs);
        }
        self.seen = self.seen.max(other.seen);
    }
}

/// A warp's place in the order of things.
#[derive(Clone, Copy)]
pub(crate) struct WarpClock {
    /// What its next access comes after. Its own entry is its clock.
    pub now: Known,
    /// By lane, the warp's clock up to which the other lanes' accesses come
    /// before its own.
    pub lanes: [u32; 32],
    /// The lowest of those.
    pub lanes_min: u32,
    /// What its relaxed writes publish within the block: what came before its
    /// last fence…
    fenced: Known,
    /// …and for other blocks, the epoch of its last fence of their scope.
    fence_epoch: u32,
    /// Whether there was a fence at all.
    has_fenced: bool,
    /// What its relaxed reads have met, which a fence makes count.
    pending: Known,
}

impl WarpClock {
    fn new(warp: usize) -> Self {
        let mut now = NOTHING;
        now.after[warp] = 1;
        Self {
            now,
            lanes: [0; 32],
            lanes_min: 0,
            fenced: NOTHING,
            fence_epoch: 0,
            has_fenced: false,
            pending: NOTHING,
        }
    }

    /// The lanes come after all that the warp did so far.
    fn gather(&mut self, warp: u32, mask: u32) {
        let clock = self.now.after[warp as usize];
        for (lane, after) in self.lanes.iter_mut().enumerate() {
            if mask >> lane & 1 != 0 {
                *after = clock;
            }
        }
        self.lanes_min = self.lanes.iter().copied().min().unwrap_or(0);
        self.now.after[warp as usize] = clock.saturating_add(1);
    }
}

/// The clocks of a block that runs.
pub(crate) struct BlockOrder {
    pub warps: [WarpClock; MAX_WARPS],
    /// By barrier: what has been brought to it, and which warps wait.
    barriers: [(Known, u32); N_BARRIERS],
    /// What was published at addresses, by warps of this block.
    published: HashMap<(bool, u64), Known>,
}

impl BlockOrder {
    pub fn new() -> Self {
        Self {
            warps: std::array::from_fn(WarpClock::new),
            barriers: [(NOTHING, 0); N_BARRIERS],
            published: HashMap::new(),
        }
    }

    /// Lanes come to a block barrier.
    pub fn arrived(&mut self, lanes: Lanes, barrier: usize, waits: bool) {
        let clock = &mut self.warps[lanes.warp as usize];
        // A block barrier orders what the warp has read before it too.
        clock.now.join(&clock.pending);
        let (brought, waiting) = &mut self.barriers[barrier];
        brought.join(&clock.now);
        clock.gather(lanes.warp, if waits { lanes.mask } else { 0 });
        if waits {
            *waiting |= 1 << lanes.warp;
        }
    }

    /// A barrier lets its warps go.
    pub fn released(&mut self, barrier: usize) {
        let (brought, waiting) = std::mem::replace(&mut self.barriers[barrier], (NOTHING, 0));
        for (i, clock) in self.warps.iter_mut().enumerate() {
            if waiting >> i & 1 != 0 {
                clock.now.join(&brought);
            }
        }
    }

    /// Lanes meet at `bar.warp.sync`.
    pub fn converged(&mut self, lanes: Lanes) {
        self.warps[lanes.warp as usize].gather(lanes.warp, lanes.mask);
    }
}

/// What orders blocks.
pub(crate) struct GridOrder {
    /// When an address of global memory was last published.
    published: HashMap<u64, u32>,
    /// The present epoch; 0 is before all of them.
    pub epoch: u32,
}

impl GridOrder {
    pub fn new() -> Self {
        Self {
            published: HashMap::new(),
            epoch: 1,
        }
    }

    /// Ends the epoch; gives it.
    fn tick(&mut self) -> u32 {
        let epoch = self.epoch;
        self.epoch = epoch.saturating_add(1);
        epoch
    }

    /// Lanes carry out a fence.
    pub fn fence(&mut self, block: &mut BlockOrder, lanes: Lanes, scope: Scope) {
        let clock = &mut block.warps[lanes.warp as usize];
        let seen = clock.now.seen;
        clock.now.join(&clock.pending);
        if scope == Scope::Device {
            clock.fence_epoch = self.tick();
        } else {
            // What was read of other blocks stays pending.
            clock.now.seen = seen;
        }
        clock.fenced = clock.now;
        clock.has_fenced = true;
        clock.gather(lanes.warp, lanes.mask);
    }

    /// The warp meets what was published at its addresses.
    pub fn acquire(&mut self, block: &mut BlockOrder, access: &WarpAccess<'_>) {
        let acquires = access.order.acquires();
        if block.published.is_empty() && self.published.is_empty() && !acquires {
            return;
        }
        let clock = &mut block.warps[access.warp as usize];
        if acquires {
            clock.gather(access.warp, access.mask);
        }
        let into = if acquires {
            &mut clock.now
        } else {
            &mut clock.pending
        };
        let is_shared = access.space == Space::Shared;
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 != 0) {
            let address = access.addresses[lane] & !3;
            if let Some(published) = block.published.get(&(is_shared, address)) {
                into.join(published);
            }
            if !is_shared
                && access.scope == Scope::Device
                && let Some(&epoch) = self.published.get(&address)
            {
                into.seen = into.seen.max(epoch);
            }
        }
    }

    /// What the warp did so far, or up to its last fence, is published at its
    /// addresses.
    pub fn release(&mut self, block: &mut BlockOrder, access: &WarpAccess<'_>) {
        let clock = &mut block.warps[access.warp as usize];
        let releases = access.order.releases();
        if !releases && !clock.has_fenced {
            return;
        }
        let is_wide = access.scope == Scope::Device;
        let (known, epoch) = match releases {
            true => (clock.now, if is_wide { self.tick() } else { 0 }),
            false => (clock.fenced, clock.fence_epoch),
        };
        let is_shared = access.space == Space::Shared;
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 != 0) {
            let address = access.addresses[lane] & !3;
            block
                .published
                .entry((is_shared, address))
                .or_insert(NOTHING)
                .join(&known);
            if !is_shared && is_wide {
                let published = self.published.entry(address).or_insert(0);
                *published = (*published).max(epoch);
            }
        }
        if releases {
            let own = &mut clock.now.after[access.warp as usize];
            *own = own.saturating_add(1);
        }
    }
}

/// Whether an access takes part in synchronisation.
pub(crate) fn synchronises(access: &WarpAccess<'_>) -> bool {
    access.order != Order::Weak
}
