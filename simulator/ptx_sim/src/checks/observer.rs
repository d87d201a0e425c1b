//! The interface between the semantics and the checks that watch them.

use std::ops::Range;

use super::access::{BarrierArrival, BulkStart, Lanes, Row, RowAccess, WarpAccess};
use super::finding::Finding;
use crate::bulk::CopyId;
use crate::memory::shared::SharedMemory;
use crate::program::{Scope, Slot, Terminator};
use crate::warp::{FrameId, Warp};

/// Hands an event on, if there is somebody to hand it to.
macro_rules! hand_on {
    ($observer:ident.$event:ident($($argument:ident),*)) => {
        if let Some(inner) = $observer.inner() {
            inner.$event($($argument),*);
        }
    };
}

/// What happens in a run, for whom it concerns.
pub(crate) trait Events: Send {
    /// The observer of the events that this one does not handle itself.
    #[inline(always)]
    fn inner(&mut self) -> Option<&mut dyn Events> {
        None
    }
    /// The lanes of a path are about to carry out `n` instructions that neither wait nor access
    /// memory, or one of any kind: how many of them they may. With 0 the launch halts before them.
    #[inline(always)]
    fn admit(&mut self, now: &Now<'_>, n: u32) -> u32 {
        self.inner().map_or(n, |inner| inner.admit(now, n))
    }
    /// What clocks show, if not the time.
    #[inline(always)]
    fn clock(&self) -> Option<u64> {
        None
    }
    /// The lanes of `mask` begin block number `counter`.
    fn block(&mut self, counter: u32, mask: u32) {
        hand_on!(self.block(counter, mask));
    }
    /// Instruction number `instruction` is guarded, and `mask` lanes of the
    /// block's `block_mask` carry it out.
    fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32) {
        hand_on!(self.guarded(instruction, mask, block_mask));
    }
    /// Instruction number `instruction` accesses memory.
    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        hand_on!(self.access(instruction, access));
    }
    /// As [`access`](Self::access), for bytes of which some do not matter and may not
    /// exist: those that matter follow as parts.
    fn request(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        hand_on!(self.request(instruction, access));
    }
    /// A part of a request.
    fn part(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        hand_on!(self.part(instruction, access));
    }
    /// An instruction is about to write what `access` names, or a part of it; the access
    /// itself follows when it is known.
    fn may_write(&mut self, access: &WarpAccess<'_>) {
        hand_on!(self.may_write(access));
    }
    /// Block `block` of the grid begins.
    fn block_started(&mut self, block: u64, shared_bytes: u32) {
        hand_on!(self.block_started(block, shared_bytes));
    }
    /// Block `block` has ended.
    fn block_ended(&mut self, block: u64) {
        hand_on!(self.block_ended(block));
    }
    /// A warp comes to a barrier.
    fn arrived(&mut self, arrival: &BarrierArrival) {
        hand_on!(self.arrived(arrival));
    }
    /// A barrier releases its warps.
    fn released(&mut self, block: u64, barrier: usize) {
        hand_on!(self.released(block, barrier));
    }
    /// Lanes arrive at the barrier of their cluster, whose first block has this number; if
    /// they release, they let others know what they did.
    fn cluster_arrived(&mut self, lanes: Lanes, cluster: u64, releases: bool) {
        hand_on!(self.cluster_arrived(lanes, cluster, releases));
    }
    /// All threads of a cluster have arrived at its barrier.
    fn cluster_opened(&mut self, cluster: u64) {
        hand_on!(self.cluster_opened(cluster));
    }
    /// All blocks of a cluster have ended.
    fn cluster_ended(&mut self, cluster: u64) {
        hand_on!(self.cluster_ended(cluster));
    }
    /// Lanes go on after the barrier of their cluster.
    fn cluster_left(&mut self, lanes: Lanes, cluster: u64) {
        hand_on!(self.cluster_left(lanes, cluster));
    }
    /// Lanes carry out a fence.
    fn fence(&mut self, lanes: Lanes, scope: Scope) {
        hand_on!(self.fence(lanes, scope));
    }
    /// Lanes initialise mbarriers of their block, each at its address.
    fn barrier_initialised(&mut self, instruction: u32, lanes: Lanes, addresses: &[u64; 32]) {
        hand_on!(self.barrier_initialised(instruction, lanes, addresses));
    }
    /// Lanes order their stores to shared memory before what the async proxy does there
    /// from now on.
    fn proxy_fence(&mut self, lanes: Lanes) {
        hand_on!(self.proxy_fence(lanes));
    }
    /// Each lane waits for its members, and sees what they wrote (`bar.warp.sync`).
    fn converged(&mut self, lanes: Lanes, members: &[u32; 32]) {
        hand_on!(self.converged(lanes, members));
    }
    /// Lanes carry out a warp-wide instruction, each with its mask of members;
    /// a shuffle reads from these lanes.
    fn warp_wide(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        members: &[u32; 32],
        sources: Option<&[u8; 32]>,
    ) {
        hand_on!(self.warp_wide(instruction, lanes, members, sources));
    }
    /// Lanes carry out instruction `ptx` of a call's function, or branch by it; a `selp` takes
    /// its first value where `chosen` says so. Only where
    /// [`KernelPlan::shuffles`](crate::module::KernelPlan::shuffles) and the launch is checked.
    fn carried_out(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        of: (FrameId, usize, u32),
        chosen: Option<u32>,
    ) {
        hand_on!(self.carried_out(instruction, lanes, of, chosen));
    }
    /// Whether any shuffle has given a lane an undefined value: only then are other instructions
    /// of interest.
    fn follows(&self) -> bool {
        false
    }
    /// Lanes divide an integer by zero.
    fn divided_by_zero(&mut self, instruction: u32, lanes: Lanes) {
        hand_on!(self.divided_by_zero(instruction, lanes));
    }
    /// Lanes close their group of asynchronous copies.
    fn copies_committed(&mut self, lanes: Lanes) {
        hand_on!(self.copies_committed(lanes));
    }
    /// Lanes have waited for all of their groups but the youngest `n_left`, or for all
    /// copies without exception.
    fn copies_awaited(&mut self, lanes: Lanes, n_left: Option<u32>) {
        hand_on!(self.copies_awaited(lanes, n_left));
    }
    /// A thread starts a bulk copy.
    fn bulk_started(&mut self, instruction: u32, thread: Lanes, copy: BulkStart) {
        hand_on!(self.bulk_started(instruction, thread, copy));
    }
    /// A bulk copy to a block's shared memory has moved its bytes, and its barrier has
    /// counted them.
    fn bulk_arrived(&mut self, copy: CopyId) {
        hand_on!(self.bulk_arrived(copy));
    }
    /// The phase of a barrier in a block's shared memory is over.
    fn phase_over(&mut self, block: u64, barrier: u32) {
        hand_on!(self.phase_over(block, barrier));
    }
    /// A thread has waited until a bulk copy to global memory has read its source…
    fn bulk_has_read(&mut self, thread: Lanes, copy: CopyId) {
        hand_on!(self.bulk_has_read(thread, copy));
    }
    /// …and until it was done.
    fn bulk_done(&mut self, thread: Lanes, copy: CopyId) {
        hand_on!(self.bulk_done(thread, copy));
    }
    /// The block ends while a bulk copy may still read or write its shared memory.
    fn bulk_abandoned(&mut self, copy: CopyId) {
        hand_on!(self.bulk_abandoned(copy));
    }
    /// A warp issues a product of its warpgroup.
    fn product_issued(&mut self, instruction: u32, lanes: Lanes, product: &ProductSeen<'_>) {
        hand_on!(self.product_issued(instruction, lanes, product));
    }
    /// A warp closes its group of products.
    fn products_committed(&mut self, lanes: Lanes) {
        hand_on!(self.products_committed(lanes));
    }
    /// A warp has waited for all of its groups of products but the youngest `n_left`.
    fn products_awaited(&mut self, lanes: Lanes, n_left: u32) {
        hand_on!(self.products_awaited(lanes, n_left));
    }
    /// A warp orders its registers before the products that follow (`wgmma.fence`).
    fn products_fenced(&mut self, lanes: Lanes) {
        hand_on!(self.products_fenced(lanes));
    }
    /// An instruction reads and writes registers that hold sums, or parts of A, in some
    /// instructions.
    fn fragments_touched(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        frame: FrameId,
        registers: (&[Slot], &[Slot]),
    ) {
        hand_on!(self.fragments_touched(instruction, lanes, frame, registers));
    }
    /// A register of a warp gets the value of another one that holds a sum, or a part of A,
    /// in some instructions: to, from.
    fn fragment_carried(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        frame: FrameId,
        registers: (Slot, Slot),
    ) {
        hand_on!(self.fragment_carried(instruction, lanes, frame, registers));
    }
    /// A warp is to take or give back registers, and it is not known how many it has.
    fn registers_unknown(&mut self, instruction: u32, lanes: Lanes) {
        hand_on!(self.registers_unknown(instruction, lanes));
    }
    /// A call gives lanes local memory at these addresses.
    fn local_begins(&mut self, lanes: Lanes, range: Range<u32>) {
        hand_on!(self.local_begins(lanes, range));
    }
    /// A call writes arguments or results there.
    fn local_passed(&mut self, lanes: Lanes, range: Range<u32>) {
        hand_on!(self.local_passed(lanes, range));
    }
    /// A lane has taken memory of the kernels' heap.
    fn taken(&mut self, range: Range<u64>) {
        hand_on!(self.taken(range));
    }
    /// A defect that was found, reported once. At the `end` of a launch, or when it fails,
    /// this includes one that something worse could still have explained.
    fn take_finding(&mut self, end: bool) -> Option<Finding> {
        self.inner()?.take_finding(end)
    }
    /// Whether it cannot tell what there is to find: the run is useless.
    fn gives_up(&self) -> bool {
        false
    }
}

/// Watches a run. The interpreter is compiled once for each kind of observer that has to be quick, and
/// once for [`Any`].
pub(crate) trait Observer: Events + Sized {
    /// Whether it wants to be notified of anything at all.
    const ON: bool = true;
    /// Whether it is asked before each instruction.
    const STEPS: bool = false;
    /// Whether the interpreter is compiled for it alone, on x86-64 with wide vectors: else it is run
    /// as [`Any`]. See [`BlockRun::round`](crate::block::BlockRun::round).
    const QUICK: bool = true;
    /// As [`access`](Events::access), where all lanes access bytes at the same distance from
    /// the lane before; `whole` gives what else there is to know.
    #[inline(always)]
    fn row(&mut self, instruction: u32, _row: Row, whole: impl FnOnce() -> RowAccess) {
        whole().with_addresses(|access| self.access(instruction, access));
    }
}

/// An observer of any kind: for machines without wide vectors, and for observers in no hurry.
pub(crate) struct Any<'o>(pub &'o mut dyn Events);

impl Events for Any<'_> {
    #[inline(always)]
    fn inner(&mut self) -> Option<&mut dyn Events> {
        Some(self.0)
    }
    fn clock(&self) -> Option<u64> {
        self.0.clock()
    }
    fn follows(&self) -> bool {
        self.0.follows()
    }
    fn gives_up(&self) -> bool {
        self.0.gives_up()
    }
}

impl Observer for Any<'_> {
    const STEPS: bool = true;
    const QUICK: bool = false;
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

impl Events for Blind {}

impl Observer for Blind {
    const ON: bool = false;
}
