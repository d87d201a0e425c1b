//! The interface between the semantics and whoever watches them.

use std::ops::Range;

use super::access::{BarrierArrival, Lanes, WarpAccess};
use super::finding::Finding;
use crate::program::Scope;

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
    /// As [`access`](Self::access), of bytes of which some do not matter and may not be
    /// there: those that do follow as parts.
    fn request(&mut self, _instruction: u32, _access: &WarpAccess<'_>) {}
    /// A part of a request.
    fn part(&mut self, _instruction: u32, _access: &WarpAccess<'_>) {}
    /// An instruction is about to write what `access` names, or a part of it, and will
    /// be told of when that is known.
    fn may_write(&mut self, _access: &WarpAccess<'_>) {}
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
    /// Lanes wait each for its members, and see what each wrote (`bar.warp.sync`).
    fn converged(&mut self, _lanes: Lanes, _members: &[u32; 32]) {}
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
    /// Lanes divide an integer by zero.
    fn divided_by_zero(&mut self, _instruction: u32, _lanes: Lanes) {}
    /// Lanes close their group of asynchronous copies.
    fn copies_committed(&mut self, _lanes: Lanes) {}
    /// Lanes have waited for all of their groups but the youngest `n_left`, or
    /// for really all copies.
    fn copies_awaited(&mut self, _lanes: Lanes, _n_left: Option<u32>) {}
    /// A call gives lanes local memory at these addresses.
    fn local_begins(&mut self, _lanes: Lanes, _range: Range<u32>) {}
    /// A call writes arguments or results there.
    fn local_passed(&mut self, _lanes: Lanes, _range: Range<u32>) {}
    /// A lane has taken memory of the kernels' heap.
    fn taken(&mut self, _range: Range<u64>) {}
    /// A defect that was found, once. At the `end` of a launch, or when it
    /// fails, also one that something worse could still have explained.
    fn take_finding(&mut self, _end: bool) -> Option<Finding> {
        None
    }
    /// Whether it cannot tell what there is to find: the run is of no use.
    fn gives_up(&self) -> bool {
        false
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
