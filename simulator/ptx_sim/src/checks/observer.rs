//! The interface between the semantics and the checks that watch them.

use std::ops::Range;

use super::access::{BarrierArrival, BulkStart, Lanes, Row, RowAccess, WarpAccess};
use super::finding::Finding;
use crate::bulk::CopyId;
use crate::memory::shared::SharedMemory;
use crate::program::{Scope, Slot, Terminator};
use crate::warp::{FrameId, Warp};

/// Watches a run.
pub(crate) trait Observer: Send {
    /// Whether it wants to be notified of anything at all.
    const ON: bool;
    /// Whether it is asked before each instruction.
    const STEPS: bool = false;
    /// The lanes of a path are about to carry out `n` instructions that neither wait nor access
    /// memory, or one of any kind: how many of them they may. With 0 the launch halts before them.
    #[inline(always)]
    fn admit(&mut self, _now: &Now<'_>, n: u32) -> u32 {
        n
    }
    /// What clocks show, if not the time.
    #[inline(always)]
    fn clock(&self) -> Option<u64> {
        None
    }
    /// The lanes of `mask` begin block number `counter`.
    fn block(&mut self, counter: u32, mask: u32);
    /// Instruction number `instruction` is guarded, and `mask` lanes of the
    /// block's `block_mask` carry it out.
    fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32);
    /// Instruction number `instruction` accesses memory.
    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>);
    /// As [`access`](Self::access), where all lanes access bytes at the same distance from
    /// the lane before; `whole` gives what else there is to know.
    #[inline(always)]
    fn row(&mut self, instruction: u32, _row: Row, whole: impl FnOnce() -> RowAccess) {
        whole().with_addresses(|access| self.access(instruction, access));
    }
    /// As [`access`](Self::access), for bytes of which some do not matter and may not
    /// exist: those that matter follow as parts.
    fn request(&mut self, _instruction: u32, _access: &WarpAccess<'_>) {}
    /// A part of a request.
    fn part(&mut self, _instruction: u32, _access: &WarpAccess<'_>) {}
    /// An instruction is about to write what `access` names, or a part of it; the access
    /// itself follows when it is known.
    fn may_write(&mut self, _access: &WarpAccess<'_>) {}
    /// Block `block` of the grid begins.
    fn block_started(&mut self, _block: u64, _shared_bytes: u32) {}
    /// Block `block` has ended.
    fn block_ended(&mut self, _block: u64) {}
    /// A warp comes to a barrier.
    fn arrived(&mut self, _arrival: &BarrierArrival) {}
    /// A barrier releases its warps.
    fn released(&mut self, _block: u64, _barrier: usize) {}
    /// Lanes arrive at the barrier of their cluster, whose first block has this number; if
    /// they release, they let others know what they did.
    fn cluster_arrived(&mut self, _lanes: Lanes, _cluster: u64, _releases: bool) {}
    /// All threads of a cluster have arrived at its barrier.
    fn cluster_opened(&mut self, _cluster: u64) {}
    /// All blocks of a cluster have ended.
    fn cluster_ended(&mut self, _cluster: u64) {}
    /// Lanes go on after the barrier of their cluster.
    fn cluster_left(&mut self, _lanes: Lanes, _cluster: u64) {}
    /// Lanes carry out a fence.
    fn fence(&mut self, _lanes: Lanes, _scope: Scope) {}
    /// Lanes initialise mbarriers of their block, each at its address.
    fn barrier_initialised(&mut self, _instruction: u32, _lanes: Lanes, _addresses: &[u64; 32]) {}
    /// Lanes order their stores to shared memory before what the async proxy does there
    /// from now on.
    fn proxy_fence(&mut self, _lanes: Lanes) {}
    /// Each lane waits for its members, and sees what they wrote (`bar.warp.sync`).
    fn converged(&mut self, _lanes: Lanes, _members: &[u32; 32]) {}
    /// Lanes carry out a warp-wide instruction, each with its mask of members;
    /// a shuffle reads from these lanes.
    fn warp_wide(
        &mut self,
        _instruction: u32,
        _lanes: Lanes,
        _members: &[u32; 32],
        _sources: Option<&[u8; 32]>,
    ) {
    }
    /// Lanes carry out instruction `ptx` of a call's function, or branch by it; a `selp` takes
    /// its first value where `chosen` says so. Only where
    /// [`KernelPlan::shuffles`](crate::module::KernelPlan::shuffles) and the launch is checked.
    fn carried_out(
        &mut self,
        _instruction: u32,
        _lanes: Lanes,
        _of: (FrameId, usize, u32),
        _chosen: Option<u32>,
    ) {
    }
    /// Whether any shuffle has given a lane an undefined value: only then are other instructions
    /// of interest.
    fn follows(&self) -> bool {
        false
    }
    /// Lanes divide an integer by zero.
    fn divided_by_zero(&mut self, _instruction: u32, _lanes: Lanes) {}
    /// Lanes close their group of asynchronous copies.
    fn copies_committed(&mut self, _lanes: Lanes) {}
    /// Lanes have waited for all of their groups but the youngest `n_left`, or for all
    /// copies without exception.
    fn copies_awaited(&mut self, _lanes: Lanes, _n_left: Option<u32>) {}
    /// A thread starts a bulk copy.
    fn bulk_started(&mut self, _instruction: u32, _thread: Lanes, _copy: BulkStart) {}
    /// A bulk copy to a block's shared memory has moved its bytes, and its barrier has
    /// counted them.
    fn bulk_arrived(&mut self, _copy: CopyId) {}
    /// The phase of a barrier in a block's shared memory is over.
    fn phase_over(&mut self, _block: u64, _barrier: u32) {}
    /// A thread has waited until a bulk copy to global memory has read its source…
    fn bulk_has_read(&mut self, _thread: Lanes, _copy: CopyId) {}
    /// …and until it was done.
    fn bulk_done(&mut self, _thread: Lanes, _copy: CopyId) {}
    /// The block ends while a bulk copy may still read or write its shared memory.
    fn bulk_abandoned(&mut self, _copy: CopyId) {}
    /// A warp issues a product of its warpgroup.
    fn product_issued(&mut self, _instruction: u32, _lanes: Lanes, _product: &ProductSeen<'_>) {}
    /// A warp closes its group of products.
    fn products_committed(&mut self, _lanes: Lanes) {}
    /// A warp has waited for all of its groups of products but the youngest `n_left`.
    fn products_awaited(&mut self, _lanes: Lanes, _n_left: u32) {}
    /// A warp orders its registers before the products that follow (`wgmma.fence`).
    fn products_fenced(&mut self, _lanes: Lanes) {}
    /// An instruction reads and writes registers that hold sums, or parts of A, in some
    /// instructions.
    fn fragments_touched(
        &mut self,
        _instruction: u32,
        _lanes: Lanes,
        _frame: FrameId,
        _registers: (&[Slot], &[Slot]),
    ) {
    }
    /// A register of a warp gets the value of another one that holds a sum, or a part of A,
    /// in some instructions: to, from.
    fn fragment_carried(
        &mut self,
        _instruction: u32,
        _lanes: Lanes,
        _frame: FrameId,
        _registers: (Slot, Slot),
    ) {
    }
    /// A warp is to take or give back registers, and it is not known how many it has.
    fn registers_unknown(&mut self, _instruction: u32, _lanes: Lanes) {}
    /// A call gives lanes local memory at these addresses.
    fn local_begins(&mut self, _lanes: Lanes, _range: Range<u32>) {}
    /// A call writes arguments or results there.
    fn local_passed(&mut self, _lanes: Lanes, _range: Range<u32>) {}
    /// A lane has taken memory of the kernels' heap.
    fn taken(&mut self, _range: Range<u64>) {}
    /// A defect that was found, reported once. At the `end` of a launch, or when it fails,
    /// this includes one that something worse could still have explained.
    fn take_finding(&mut self, _end: bool) -> Option<Finding> {
        None
    }
    /// Whether it cannot tell what there is to find: the run is useless.
    fn gives_up(&self) -> bool {
        false
    }
}

/// What is about to be executed.
pub(crate) struct Now<'a> {
    /// The warp, without the path that runs.
    pub warp: &'a Warp,
    /// The shared memory of its block, and the block's number in the grid.
    pub shared: &'a SharedMemory,
    pub block: u64,
    /// The call, and its function's number.
    pub frame: FrameId,
    pub function: usize,
    /// The instruction, numbered within the function.
    pub ptx: u32,
    /// The lanes of the path, and those whose guard holds.
    pub lanes: u32,
    pub active: u32,
    /// Where the lanes go, if the instruction decides that.
    pub end: Option<&'a Terminator>,
}

/// A product of a warpgroup, as one warp issues it.
pub(crate) struct ProductSeen<'a> {
    /// The call.
    pub frame: FrameId,
    /// The registers of the sums, and those of A.
    pub sums: &'a [Slot],
    pub a: &'a [Slot],
    /// Columns, and registers of the sums of eight of them: what must be the same for
    /// products that add to the same registers.
    pub shape: (u32, usize),
    /// Where in shared memory it reads: 16 bytes each. Only where the launch is checked.
    pub addresses: &'a [u32],
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
