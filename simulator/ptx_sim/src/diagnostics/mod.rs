//! The ways in which a launch can fail.
//!
//! A launch that cannot start is [`LaunchError::InvalidLaunch`]. Once it runs,
//! three outcomes are kept apart: the kernel did something wrong
//! ([`LaunchError::Fault`], and [`LaunchError::OutOfFuel`] for a kernel that
//! does not end), it used an instruction that the simulator does not know
//! ([`LaunchError::Unsupported`]), or the simulator itself is at fault
//! ([`LaunchError::Internal`]).
//!
//! Their texts are in `text`, for kernels that do not end in `waiting`; advice about faults
//! is in `advice`.

mod advice;
mod asynchronous;
mod text;
mod waiting;

use ptx::ir::Space;

/// Why a launch did not succeed. There are no other outcomes: a `match` may rely on that.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LaunchError {
    /// The launch asks for something that no device or this kernel allows.
    #[error("invalid launch of `{kernel}`: {message}")]
    InvalidLaunch {
        /// The kernel's name.
        kernel: String,
        /// What is wrong, and what the limit is.
        message: String,
    },
    /// The kernel did something wrong.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The kernel used up its fuel.
    #[error("{0}")]
    OutOfFuel(Box<OutOfFuel>),
    /// An instruction that the simulator does not know was executed.
    #[error(
        "unsupported instruction `{opcode}` ({reason})\n  {place}{}{excerpt}",
        if excerpt.is_empty() { "" } else { "\n" }
    )]
    Unsupported {
        /// The opcode as written.
        opcode: String,
        /// What about it is not supported.
        reason: String,
        /// Its line in the PTX text, with a mark under what is not supported; empty if that
        /// was found only when it ran.
        excerpt: String,
        /// Where it is.
        place: Box<Place>,
    },
    /// The host has no memory for the registers and local memory of a call.
    #[error(
        "the host has no memory for the registers and local memory of all calls that the \
         kernel makes\n  {place}"
    )]
    HostOutOfMemory {
        /// Where the kernel was.
        place: Box<Place>,
    },
    /// A bug of the simulator.
    #[error("internal error of the simulator, please report it: {message}\n  {place}")]
    Internal {
        /// What happened.
        message: String,
        /// Where the kernel was.
        place: Box<Place>,
    },
}

impl LaunchError {
    /// Whether the kernel ended because all it did was to wait: for something that may yet come from
    /// another launch, or from the host.
    pub fn is_of_waiting(&self) -> bool {
        matches!(self, Self::OutOfFuel(kernel) if matches!(kernel.limit, FuelLimit::Waiting(_)))
    }
}

/// An instruction's place: in the PTX, and in the source it was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The kernel that was launched.
    pub kernel: String,
    /// The function that holds the instruction.
    pub function: String,
    /// The instruction's opcode.
    pub opcode: String,
    /// The PTX text that it is in, if the module was linked.
    pub input: Option<String>,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// Source line, where the PTX has line tables: the innermost in the package of the
    /// function, not that of a library.
    pub source: Option<Source>,
    /// What was inlined there from libraries, innermost first.
    pub inside: Vec<Source>,
    /// The calls that the source line was inlined at, innermost first.
    pub inlined_at: Vec<Source>,
    /// The functions that led there, innermost call first.
    pub callers: Vec<Caller>,
}

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The function that called.
    pub function: String,
    /// The PTX text that it is in, if the module was linked.
    pub input: Option<String>,
    /// Line of the call in the PTX text.
    pub ptx_line: u32,
    /// Source line of the call.
    pub source: Option<Source>,
}

/// A place in source code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// Path, as the compiler wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// A thread: where in the grid it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPlace {
    /// The device's number, if the machine has several.
    pub device: Option<u32>,
    /// `%ctaid`
    pub block: [u32; 3],
    /// `%tid`
    pub thread: [u32; 3],
    /// Warp number in the block.
    pub warp: u32,
    /// Lane number in the warp.
    pub lane: u32,
}

/// What a kernel did wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What it was.
    pub kind: FaultKind,
    /// The instruction.
    pub place: Place,
    /// The first thread that did it.
    pub thread: ThreadPlace,
}

/// A kind of memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation.
    Atomic,
    /// An asynchronous copy.
    AsyncCopy,
    /// A product of a warpgroup (`wgmma`).
    Product,
}

/// One of two accesses that race.
#[derive(Clone, Debug)]
pub struct AccessSide {
    /// What it did.
    pub kind: AccessKind,
    /// The instruction.
    pub place: Place,
    /// The thread.
    pub thread: ThreadPlace,
}

/// The kinds of fault.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation.
    OutOfBounds {
        /// What it tried.
        access: AccessKind,
        /// The state space, generic addresses resolved.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is, relative to the nearest allocation.
        relation: Relation,
    },
    /// An address that is not a multiple of the access's size.
    Misaligned {
        /// What it tried.
        access: AccessKind,
        /// The state space.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access, and the alignment it needs.
        bytes: u32,
        /// Where that is.
        relation: Relation,
    },
    /// An access through a null pointer, or nearly null.
    NullPointer {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// An access to the memory of another device, which this one has no access to.
    NotAPeer {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// The other device's number.
        device: u32,
        /// Where that is.
        relation: Relation,
    },
    /// An access to memory that was freed.
    UseAfterFree {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that was.
        relation: Relation,
    },
    /// A `free` of what `malloc` did not return, or of what was already freed.
    InvalidFree {
        /// The address.
        address: u64,
        /// Whether it was freed before.
        is_freed: bool,
        /// Where that is.
        relation: Relation,
    },
    /// A store to constant memory or to a kernel parameter.
    ReadOnly {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
    },
    /// An address of one space used in another.
    WrongSpace {
        /// What it tried.
        access: AccessKind,
        /// The space that the instruction names.
        expected: Space,
        /// The space that the address belongs to.
        actual: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// `bar.sync` reached by some lanes of a warp while others that still run
    /// are elsewhere.
    DivergentBarrier {
        /// Lanes that reached it.
        arrived: u32,
        /// Lanes of the warp that still run.
        live: u32,
    },
    /// Threads wait at barriers, and no thread is left to release them.
    BarrierDeadlock {
        /// One sentence per group of waiting warps.
        waiting: Vec<String>,
    },
    /// An access to shared memory of the cluster that no block has, or whose block has
    /// ended.
    WrongBlock {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// What is wrong with the block.
        why: WrongBlock,
    },
    /// A barrier number or thread count that the hardware does not have.
    BadBarrier {
        /// What is wrong with it.
        message: String,
    },
    /// A bulk copy of something that cannot be copied this way.
    BadBulkCopy {
        /// What is wrong with it.
        message: String,
    },
    /// A warp-wide instruction names lanes that never get there.
    MissingLanes {
        /// Lanes named by the mask.
        members: u32,
        /// Lanes that reached it.
        arrived: u32,
        /// Lanes of the warp that still run.
        live: u32,
    },
    /// An instruction of the whole warp, after some of its lanes have ended or
    /// in a warp that never had 32.
    PartialWarp {
        /// Lanes that reached it.
        arrived: u32,
    },
    /// A lane carries out a warp-wide instruction whose mask leaves it out.
    NotAMember {
        /// Lanes named by the mask.
        members: u32,
    },
    /// Two accesses that nothing orders, at least one of which writes.
    Race {
        /// What the later one did.
        access: AccessKind,
        /// The state space.
        space: Space,
        /// The later one's address.
        address: u64,
        /// Its bytes.
        bytes: u32,
        /// Where that is.
        relation: Relation,
        /// The earlier one.
        other: Box<AccessSide>,
    },
    /// A load that assumes constant memory (`ld.global.nc`), of what the kernel itself
    /// wrote.
    NotConstant {
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
        /// The write.
        other: Box<AccessSide>,
    },
    /// An integer division by zero, or its remainder.
    DivisionByZero,
    /// A read of memory that nothing was written to.
    Unwritten {
        /// How it was read.
        access: AccessKind,
        /// The state space: global, shared or local.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
    },
    /// An access to what an asynchronous copy may still be writing, or a write to
    /// what it may still be reading.
    CopyInFlight {
        /// What it did.
        access: AccessKind,
        /// The state space.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
        /// The copy.
        copy: Box<AccessSide>,
        /// Whether the copy may still be reading there, rather than writing.
        is_reading: bool,
    },
    /// An access to memory that others may still work on, in a stream that the launch does not wait
    /// for.
    Pending {
        /// What it did.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
        /// The others' work, and where it was begun.
        work: String,
        /// Whether that writes.
        writes: bool,
    },
    /// A block ends while a bulk copy may still be writing, or reading, its shared
    /// memory.
    CopyOutlivesBlock {
        /// Whether it may be reading, rather than writing.
        is_reading: bool,
    },
    /// A shuffle that reads from a lane that does not take part.
    AbsentSource {
        /// The lane that it reads from.
        source_lane: u32,
        /// The lanes that take part.
        present: u32,
        /// Who uses the value.
        user: Box<AccessSide>,
    },
    /// Lanes that name each other in masks that differ.
    DifferentMasks {
        /// The mask of the lane that is reported.
        members: u32,
        /// Another lane,
        other_lane: u32,
        /// and its mask.
        other_members: u32,
    },
    /// Threads of a block that meet at a barrier through different instructions.
    DifferentBarriers {
        /// The barrier's number.
        barrier: u32,
        /// The thread that came first.
        other: Box<AccessSide>,
    },
    /// Threads that come to a barrier with different counts.
    DifferentCounts {
        /// The barrier's number.
        barrier: u32,
        /// The count of the reported thread; the whole block if none.
        threads: Option<u32>,
        /// The count of the thread that came first.
        other_threads: Option<u32>,
        /// That thread.
        other: Box<AccessSide>,
    },
    /// A fault of asynchronous units, which work alongside the threads.
    Asynchronous(Box<AsyncFault>),
    /// `trap`, which panics and failed assertions end in.
    Trap {
        /// What was printed just before, if anything.
        message: Option<String>,
    },
    /// `brx.idx` with an index past its list.
    BadBranchIndex {
        /// The index.
        index: u32,
        /// Entries of the list.
        n_targets: u32,
    },
    /// A call through something that is not a function's address.
    BadCallTarget {
        /// The address.
        address: u64,
    },
    /// A call through a pointer to a function with other parameters or results.
    WrongCallee {
        /// The function's name.
        function: String,
        /// What differs.
        reason: String,
    },
    /// Local memory used up, mostly by endless recursion.
    StackOverflow {
        /// Bytes that the thread would need.
        needed_bytes: u32,
        /// Bytes that it can have.
        limit_bytes: u32,
    },
}

/// The kinds of fault of units that work alongside the threads: products of warpgroups, and
/// accesses that do not pass through the threads' own path to memory (the async proxy).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AsyncFault {
    /// Warps that do not act together as they must, or an operand that no product has.
    BadWarpgroup {
        /// What is wrong.
        message: String,
    },
    /// A register that holds sums, or a part of A, of a product that has not been waited
    /// for.
    RegisterInFlight {
        /// Whether it is written; else it is read.
        writes: bool,
        /// The product.
        product: Box<AccessSide>,
    },
    /// A product on registers that were written after the last `wgmma.fence`.
    MissingProductFence {
        /// The write; none if the warp has not carried out a fence at all.
        write: Option<Box<AccessSide>>,
    },
    /// A product that adds to sums of another shape that have not been waited for.
    OtherShape {
        /// The product that they are of.
        product: Box<AccessSide>,
    },
    /// A read by the async proxy of what a thread stored, with no proxy fence between.
    MissingProxyFence {
        /// What reads.
        access: AccessKind,
        /// The state space.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
        /// The store.
        store: Box<AccessSide>,
    },
    /// A bulk copy counted by a barrier in memory that its own thread has initialised, with no
    /// fence between.
    UnpublishedBarrier {
        /// The initialisation.
        init: Box<AccessSide>,
    },
    /// An access to what an asynchronous operation may still be working on.
    InFlight {
        /// What it did.
        access: AccessKind,
        /// The state space.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
        /// The operation.
        operation: Box<AccessSide>,
        /// Whether that writes there; else it reads.
        operation_writes: bool,
    },
    /// `setmaxnreg` in a kernel that does not say how many registers it has.
    UnknownRegisters,
}

/// What is wrong with the block in whose shared memory an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongBlock {
    /// The block of this rank has ended.
    Ended {
        /// Its rank in the cluster.
        rank: u32,
    },
    /// Nothing orders the access before the end of the block of this rank.
    MayHaveEnded {
        /// Its rank in the cluster.
        rank: u32,
    },
    /// There is no block of this rank.
    NoSuchRank {
        /// The rank.
        rank: u32,
        /// Blocks of the cluster.
        n_blocks: u32,
    },
    /// No block can have that address.
    Nobody,
    /// The instruction accesses only its own block's memory.
    NotOwn {
        /// The rank of the address's block in the cluster.
        rank: u32,
    },
}

/// An address relative to an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Nothing is near it.
    Nowhere,
    /// Relative to a labelled range.
    Near {
        /// The range's name.
        label: String,
        /// Its size in bytes.
        size_bytes: u64,
        /// Address minus the range's start.
        offset: i128,
    },
}

/// A limit of what a launch may execute, in warp instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FuelLimit {
    /// Of the whole launch, as it asked for.
    Launch(u64),
    /// Of one block, where the launch asked for none.
    Block(u64),
    /// Of all running blocks, where the launch asked for no limit, they only wait or repeat
    /// themselves, and no others can begin.
    Waiting(u64),
}

/// A kernel that used up its fuel.
#[derive(Clone, Debug)]
pub struct OutOfFuel {
    /// What it was allowed.
    pub limit: FuelLimit,
    /// Where one of its warps was.
    pub place: Place,
    /// Which thread.
    pub thread: ThreadPlace,
    /// What the threads of its block do.
    pub doing: Vec<LanesDo>,
    /// The barriers in its shared memory that wait for bytes, or have received too many.
    pub barriers: Vec<BytesAwaited>,
    /// If threads of its cluster wait at the cluster's barrier, a sentence for each block.
    pub in_cluster: Vec<String>,
    /// Blocks of the grid that have not begun.
    pub n_not_begun: u64,
    /// Blocks that the device can hold at once.
    pub most_resident: u64,
    /// Where launches on other devices are that run together with it, and wait as well.
    pub elsewhere: Vec<(Place, ThreadPlace)>,
}

/// Lanes of some warps, all doing the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesDo {
    /// The warps, by number in the block.
    pub warps: Vec<u32>,
    /// Their lanes.
    pub lanes: u32,
    /// Whether those are all that have not ended.
    pub is_whole_warp: bool,
    /// What they do.
    pub what: Doing,
}

/// A barrier in shared memory (`mbarrier`) whose phase is not over because of the bytes
/// that it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesAwaited {
    /// Its address.
    pub address: u64,
    /// Where that is.
    pub relation: Relation,
    /// Bytes that it was set to expect in this phase.
    pub expected: i64,
    /// Bytes that have arrived.
    pub arrived: i64,
    /// Arrivals that are still to come.
    pub arrivals: u64,
}

/// What lanes do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// They run, perhaps in a loop.
    Run {
        /// Where: from, to.
        at: Lines,
        /// What the loop waits for, if that is clear.
        asks: Asks,
    },
    /// They wait at a block barrier.
    WaitAtBarrier(Lines),
    /// They wait at the barrier of their cluster.
    WaitAtCluster(Lines),
    /// They wait at a warp-wide instruction.
    WaitAtWarpWide(Lines),
    /// They wait for other warps of their warpgroup, or for registers that others have.
    WaitForWarps(Lines),
    /// They have left a branch or a loop that other lanes of their warp are still in.
    WaitForLanes,
}

/// What a loop asks memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing.
    Nothing,
    /// It loads by ordinary loads.
    Loads,
    /// It loads what others may write meanwhile: a flag.
    Flag,
    /// It tries to take something by an atomic: a lock, a ticket.
    Atomic,
    /// Whether a barrier in memory has been passed.
    Mbarrier,
}

/// Lines of the PTX, and the source lines that they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// First and last line of the PTX.
    pub ptx: (u32, u32),
    /// First and last place in the source, where it is known.
    pub source: Option<(Source, u32)>,
}
