//! What watches a kernel while it runs.
//!
//! An [`Observer`] is told of every block of instructions and every memory
//! access, and cannot change anything: semantics never import what is in here
//! beyond this trait, and a run without observers compiles to a loop without
//! them.

pub mod count;
pub(crate) mod counters;
pub(crate) mod races;

use crate::ir::Space;
use crate::program::Order;

use self::counters::Counters;
use self::races::{Finding, Races};

/// What a warp's memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessClass {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`: the old value comes back.
    Atomic,
    /// `red`: it does not.
    Reduction,
    /// `ldmatrix`: one row address per lane, `matrices` of eight rows.
    LoadMatrix,
    /// `stmatrix`
    StoreMatrix,
    /// `cp.async` that passes through the first-level cache (`.ca`).
    AsyncCopy,
    /// `cp.async` that bypasses it (`.cg`).
    AsyncCopyBypass,
}

/// One memory instruction of one warp.
pub(crate) struct WarpAccess<'a> {
    /// What it does.
    pub class: AccessClass,
    /// Where: global, shared or local.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u32,
    /// Active lanes.
    pub mask: u32,
    /// Addresses in the space, by lane; meaningless for inactive lanes. In
    /// local memory, offsets in the thread's own memory.
    pub addresses: &'a [u64; 32],
    /// Bytes from each lane's address to the next one's, where all lanes are
    /// active and that is the same for all and known.
    pub stride: Option<u64>,
    /// The block's number in the grid.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// What it orders.
    pub order: Order,
}

/// Watches a run.
pub(crate) trait Observer: Send {
    /// Whether it wants to be told of anything at all.
    const ON: bool;
    /// The lanes of `mask` begin block number `counter`.
    fn block(&mut self, counter: u32, mask: u32);
    /// Instruction number `instruction` is guarded, and `mask` lanes of the
    /// block's `block_mask` carry it out.
    fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32);
    /// Instruction number `instruction` accesses memory.
    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>);
    /// Block `block` of the grid begins.
    fn block_started(&mut self, _block: u64, _shared_bytes: u32) {}
    /// Block `block` has ended.
    fn block_ended(&mut self, _block: u64) {}
    /// A warp comes to a barrier.
    fn arrived(&mut self, _block: u64, _barrier: usize, _warp: u32, _waits: bool) {}
    /// A barrier lets its warps go.
    fn released(&mut self, _block: u64, _barrier: usize) {}
    /// A warp carries out a fence.
    fn fence(&mut self, _block: u64, _warp: u32) {}
    /// A defect that was found, once.
    fn take_finding(&mut self) -> Option<Finding> {
        None
    }
}

/// Counts and, where asked to, looks for races.
pub(crate) struct Watch {
    pub(crate) counters: Counters,
    pub(crate) races: Option<Box<Races>>,
}

impl Observer for Watch {
    const ON: bool = true;

    #[inline(always)]
    fn block(&mut self, counter: u32, mask: u32) {
        self.counters.block(counter, mask);
    }

    #[inline(always)]
    fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32) {
        self.counters.guarded(instruction, mask, block_mask);
    }

    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if let Some(races) = &mut self.races {
            races.access(instruction, access);
        }
        self.counters.access(instruction, access);
    }

    fn block_started(&mut self, block: u64, shared_bytes: u32) {
        if let Some(races) = &mut self.races {
            races.block_started(block, shared_bytes);
        }
    }

    fn block_ended(&mut self, block: u64) {
        if let Some(races) = &mut self.races {
            races.block_ended(block);
        }
    }

    fn arrived(&mut self, block: u64, barrier: usize, warp: u32, waits: bool) {
        if let Some(races) = &mut self.races {
            races.arrived(block, barrier, warp, waits);
        }
    }

    fn released(&mut self, block: u64, barrier: usize) {
        if let Some(races) = &mut self.races {
            races.released(block, barrier);
        }
    }

    fn fence(&mut self, block: u64, warp: u32) {
        if let Some(races) = &mut self.races {
            races.fence(block, warp);
        }
    }

    fn take_finding(&mut self) -> Option<Finding> {
        self.races.as_mut().and_then(|races| races.take_finding())
    }
}

/// Watches nothing.
pub(crate) struct Blind;

impl Observer for Blind {
    const ON: bool = false;
    #[inline(always)]
    fn block(&mut self, _: u32, _: u32) {}
    #[inline(always)]
    fn guarded(&mut self, _: u32, _: u32, _: u32) {}
    #[inline(always)]
    fn access(&mut self, _: u32, _: &WarpAccess<'_>) {}
}
