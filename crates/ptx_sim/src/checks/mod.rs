//! What watches a kernel while it runs.
//!
//! An [`Observer`] is told of every block of instructions, every memory access
//! and everything that orders accesses, and cannot change anything: semantics
//! never import what is in here beyond this trait, and a run without observers
//! compiles to a loop without them.
//!
//! Reading order: [`count`] and [`counters`], what an access costs; [`order`],
//! what comes before what; [`shadow`] and [`races`], accesses in no order;
//! [`copies`], asynchronous copies; [`written`], reads of what nobody wrote;
//! [`together`], barriers and warp-wide instructions. [`watch`] hands each event
//! to those whom it concerns, and [`finding`] is what they find.
//!
//! What each check can miss stands in its module's documentation, and for users
//! in `docs/checks.md`.

pub(crate) mod copies;
pub mod count;
pub(crate) mod counters;
pub(crate) mod finding;
mod memo;
pub(crate) mod order;
pub(crate) mod races;
pub(crate) mod shadow;
pub(crate) mod together;
pub(crate) mod watch;
pub(crate) mod written;

use std::ops::Range;

use crate::ir::Space;
use crate::program::{Order, Scope};

use self::finding::Finding;

/// What a warp's memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessClass {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`: the old value comes back.
    Atomic,
    /// `red`, or `atom` whose result nobody reads: it does not.
    Reduction,
    /// `atom.cas`
    CompareAndSwap,
    /// In shared memory: 1 is added to a `u32`, and nothing comes back.
    Increment,
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
#[derive(Clone, Copy)]
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
    /// For whom.
    pub scope: Scope,
    /// Whether an atomic puts a value in the place of whatever was there.
    pub overwrites: bool,
    /// By lane, how many of the bytes are really accessed, if not all
    /// (asynchronous copies).
    pub lane_bytes: Option<&'a [u32; 32]>,
}

#[cfg(test)]
impl<'a> WarpAccess<'a> {
    /// A load of a word by every lane.
    pub fn example(addresses: &'a [u64; 32]) -> Self {
        Self {
            class: AccessClass::Load,
            space: Space::Global,
            bytes: 4,
            mask: u32::MAX,
            addresses,
            stride: None,
            block: 0,
            warp: 0,
            order: Order::Weak,
            scope: Scope::Block,
            overwrites: false,
            lane_bytes: None,
        }
    }
}

/// Some lanes of a warp.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// The block's number in the grid.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// The lanes.
    pub mask: u32,
}

/// A warp, or a part of one, comes to a block barrier.
pub(crate) struct BarrierArrival {
    /// The barrier's instruction.
    pub instruction: u32,
    /// Who comes.
    pub lanes: Lanes,
    /// The barrier's number.
    pub barrier: usize,
    /// The thread count that the instruction gives, if any.
    pub threads: Option<u32>,
    /// Whether it waits there (`bar.arrive` does not).
    pub waits: bool,
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
    fn arrived(&mut self, _arrival: &BarrierArrival) {}
    /// A barrier lets its warps go.
    fn released(&mut self, _block: u64, _barrier: usize) {}
    /// Lanes carry out a fence.
    fn fence(&mut self, _lanes: Lanes, _scope: Scope) {}
    /// Lanes wait for each other, and see what each wrote (`bar.warp.sync`).
    fn converged(&mut self, _lanes: Lanes) {}
    /// Lanes carry out a warp-wide instruction, each with its mask of members;
    /// a shuffle reads from these lanes.
    fn together(
        &mut self,
        _instruction: u32,
        _lanes: Lanes,
        _members: &[u32; 32],
        _sources: Option<&[u8; 32]>,
    ) {
    }
    /// Lanes close their group of asynchronous copies.
    fn copies_committed(&mut self, _lanes: Lanes) {}
    /// Lanes have waited for all of their groups but the youngest `n_left`, or
    /// for really all copies.
    fn copies_awaited(&mut self, _lanes: Lanes, _n_left: Option<u32>) {}
    /// A call gives lanes local memory at these addresses.
    fn local_begins(&mut self, _lanes: Lanes, _range: Range<u32>) {}
    /// A call writes arguments or results there.
    fn local_passed(&mut self, _lanes: Lanes, _range: Range<u32>) {}
    /// A defect that was found, once. At the `end` of a launch, or when it
    /// fails, also one that something worse could still have explained.
    fn take_finding(&mut self, _end: bool) -> Option<Finding> {
        None
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
