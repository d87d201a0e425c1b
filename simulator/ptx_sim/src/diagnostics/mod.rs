//! The ways in which a launch can fail.
//!
//! A launch that cannot start is [`LaunchError::InvalidLaunch`]. Once it runs,
//! three outcomes are kept apart: the kernel did something wrong
//! ([`LaunchError::Fault`], and [`LaunchError::OutOfFuel`] for a kernel that
//! does not end), it used an instruction that the simulator does not know
//! ([`LaunchError::Unsupported`]), or the simulator itself is at fault
//! ([`LaunchError::Internal`]).
//!
//! In reading order: `parts`, what they tell of; the kinds of fault here, with their texts; `advice`
//! about them; `waiting`, kernels that do not end.

mod advice;
mod parts;
mod waiting;

pub use parts::{
    AccessKind, AccessSide, Caller, Place, Relation, Source, ThreadPlace, WrongBlock, readable,
};

pub(crate) use parts::DYNAMIC_SHARED;
use parts::{
    READS_IN_FLIGHT, WRITES_IN_FLIGHT, at_address, barrier_count, doing, lane_list, missing_fence,
    of_access, space_name, writers,
};
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

/// The kinds of fault.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation.
    #[error(
        "out of bounds: {}: {}", of_access(access, bytes, space, address), relation.describe(*bytes)
    )]
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
    #[error(
        "misaligned: {}, which is not a multiple of {bytes}: {}",
        of_access(access, bytes, space, address),
        relation.describe(*bytes)
    )]
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
    #[error("null pointer: {}", at_address(access, bytes, address))]
    NullPointer {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// An access to the memory of another device, which this one has no access to.
    #[error(
        "no peer access: {}, in the memory of device {device}: {}",
        at_address(access, bytes, address),
        relation.describe(*bytes)
    )]
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
    #[error(
        "use after free: {}: {}, which was freed",
        at_address(access, bytes, address),
        relation.describe(*bytes)
    )]
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
    #[error(
        "{} free of address {address:#x}: {}",
        if *is_freed { "second" } else { "invalid" },
        relation.describe(1)
    )]
    InvalidFree {
        /// The address.
        address: u64,
        /// Whether it was freed before.
        is_freed: bool,
        /// Where that is.
        relation: Relation,
    },
    /// A store to constant memory or to a kernel parameter.
    #[error(
        "write to read-only memory: {}: {}",
        at_address(access, bytes, address),
        relation.describe(*bytes)
    )]
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
    #[error(
        "wrong space: a {} address used as a {} one: {}",
        space_name(*actual),
        space_name(*expected),
        at_address(access, bytes, address)
    )]
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
    #[error(
        "barrier in divergent code: {} of the warp reached it, {} did not",
        lane_list(*arrived),
        lane_list(live & !arrived)
    )]
    DivergentBarrier {
        /// Lanes that reached it.
        arrived: u32,
        /// Lanes of the warp that still run.
        live: u32,
    },
    /// Threads wait at barriers, and no thread is left to release them.
    #[error(
        "barrier deadlock: every thread that has not ended is waiting{}",
        waiting.iter().map(|line| format!("\n    {line}")).collect::<String>()
    )]
    BarrierDeadlock {
        /// One sentence per group of waiting warps.
        waiting: Vec<String>,
    },
    /// An access to shared memory of the cluster that no block has, or whose block has
    /// ended.
    #[error("{}", why.of_access(*access, *bytes, *address))]
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
    #[error("bad barrier: {message}")]
    BadBarrier {
        /// What is wrong with it.
        message: String,
    },
    /// A bulk copy of something that cannot be copied this way.
    #[error("bad bulk copy: {message}")]
    BadBulkCopy {
        /// What is wrong with it.
        message: String,
    },
    /// A warp-wide instruction names lanes that never get there.
    #[error(
        "the mask {members:#010x} names {} that never get here (here: {}; still running: {})",
        lane_list(members & !arrived),
        lane_list(*arrived),
        lane_list(*live)
    )]
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
    #[error("it needs all 32 lanes of the warp, but only {} are here", lane_list(*arrived))]
    PartialWarp {
        /// Lanes that reached it.
        arrived: u32,
    },
    /// A lane carries out a warp-wide instruction whose mask leaves it out.
    #[error("the mask {members:#010x} leaves out the lane that uses it")]
    NotAMember {
        /// Lanes named by the mask.
        members: u32,
    },
    /// Two accesses that nothing orders, at least one of which writes.
    #[error(
        "race: {} ({}), unordered with an earlier {}\n  the earlier one: {}\n  the later one:",
        of_access(access, bytes, space, address),
        relation.describe(*bytes),
        other.kind,
        other.whole()
    )]
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
        /// Whether the function may have a lock, or retry: it compares and swaps, or exchanges.
        may_lock: bool,
    },
    /// A load that assumes constant memory (`ld.global.nc`), of what the kernel itself
    /// wrote.
    #[error(
        "load of memory assumed constant: {} ({}), which the kernel itself has written\n  the {}: {}\n  \
         the load:",
        of_access(&AccessKind::Load, bytes, &Space::Global, address),
        relation.describe(*bytes),
        other.kind,
        other.whole()
    )]
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
    #[error("integer division by zero: PTX leaves the result unspecified")]
    DivisionByZero,
    /// A read of memory that nothing was written to.
    #[error(
        "read of unwritten memory: {} ({}), where nothing was written {}",
        of_access(access, bytes, space, address),
        relation.describe(*bytes),
        writers(*space)
    )]
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
    #[error(
        "asynchronous copy not waited for: {} ({}), which a copy may still be {}\n  the copy: {}\n  the \
         access:",
        of_access(access, bytes, space, address),
        relation.describe(*bytes),
        doing(*is_reading),
        copy.whole()
    )]
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
    #[error(
        "not waited for: {} ({}), which may still be {} by {work}",
        of_access(access, bytes, &Space::Global, address),
        relation.describe(*bytes),
        if *writes { "written" } else { "read" }
    )]
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
    #[error(
        "bulk copy not waited for: the block ends while the copy may still be {} its shared memory",
        doing(*is_reading)
    )]
    CopyOutlivesBlock {
        /// Whether it may be reading, rather than writing.
        is_reading: bool,
    },
    /// A shuffle that reads from a lane that does not take part.
    #[error(
        "shuffle from an absent lane: it reads from lane {source_lane}, but only {} take part\n  the value \
         is used: {}\n  the shuffle:",
        lane_list(*present),
        user.whole()
    )]
    AbsentSource {
        /// The lane that it reads from.
        source_lane: u32,
        /// The lanes that take part.
        present: u32,
        /// Who uses the value.
        user: Box<AccessSide>,
    },
    /// Lanes that name each other in masks that differ.
    #[error(
        "masks that do not agree: this lane's is {members:#010x} and that of lane {other_lane}, which it \
         names, is {other_members:#010x}"
    )]
    DifferentMasks {
        /// The mask of the lane that is reported.
        members: u32,
        /// Another lane,
        other_lane: u32,
        /// and its mask.
        other_members: u32,
    },
    /// Threads of a block that meet at a barrier through different instructions.
    #[error(
        "barrier in divergent code: threads of the block reach barrier {barrier} through different \
         instructions\n  the first: {}\n  another:",
        other.whole()
    )]
    DifferentBarriers {
        /// The barrier's number.
        barrier: u32,
        /// The thread that came first.
        other: Box<AccessSide>,
    },
    /// Threads that come to a barrier with different counts.
    #[error(
        "bad barrier: one thread reaches barrier {barrier} with a count of {}, another with {}\n  the first: \
         {}\n  another:",
        barrier_count(*other_threads),
        barrier_count(*threads),
        other.whole()
    )]
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
    #[error("{0}")]
    Asynchronous(Box<AsyncFault>),
    /// `trap`, which panics and failed assertions end in.
    #[error(
        "the kernel trapped (a panic or a failed assertion){}",
        message.as_ref().map_or_else(String::new, |m| format!("; its thread last printed: {m}"))
    )]
    Trap {
        /// What the thread printed last, if anything.
        message: Option<String>,
    },
    /// `brx.idx` with an index past its list.
    #[error("branch index {index} is past its list of {n_targets} targets")]
    BadBranchIndex {
        /// The index.
        index: u32,
        /// Entries of the list.
        n_targets: u32,
    },
    /// A call through something that is not a function's address.
    #[error("call through {address:#x}, which is not the address of a function")]
    BadCallTarget {
        /// The address.
        address: u64,
    },
    /// A call through a pointer to a function with other parameters or results.
    #[error("call through a pointer to `{function}`: {reason}")]
    WrongCallee {
        /// The function's name.
        function: String,
        /// What differs.
        reason: String,
    },
    /// Local memory used up, mostly by endless recursion.
    #[error(
        "stack overflow: the thread needs {needed_bytes} bytes of local memory, but the limit is \
         {limit_bytes}"
    )]
    StackOverflow {
        /// Bytes that the thread would need.
        needed_bytes: u32,
        /// Bytes that it can have.
        limit_bytes: u32,
    },
}

impl FaultKind {
    /// The same of an access to the shared memory of another block.
    pub(crate) fn in_block(mut self, block: [u32; 3]) -> Self {
        if let Self::OutOfBounds { relation, .. } | Self::Misaligned { relation, .. } = &mut self {
            let own = std::mem::replace(relation, Relation::Nowhere);
            *relation = own.in_block(block);
        }
        self
    }
}

/// The kinds of fault of units that work alongside the threads: products of warpgroups, and
/// accesses that do not pass through the threads' own path to memory (the async proxy).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AsyncFault {
    /// Warps that do not act together as they must, or an operand that no product has.
    #[error("bad warpgroup instruction: {message}")]
    BadWarpgroup {
        /// What is wrong.
        message: String,
    },
    /// A register that holds sums, or a part of A, of a product that has not been waited
    /// for.
    #[error(
        "wgmma in flight: the instruction {}\n  the product: {}\n  the instruction:",
        if *writes { WRITES_IN_FLIGHT } else { READS_IN_FLIGHT },
        product.whole()
    )]
    RegisterInFlight {
        /// Whether it is written; else it is read.
        writes: bool,
        /// The product.
        product: Box<AccessSide>,
    },
    /// A product on registers that were written after the last `wgmma.fence`.
    #[error("missing wgmma.fence: {}", missing_fence(write.as_deref()))]
    MissingProductFence {
        /// The write; none if the warp has not carried out a fence at all.
        write: Option<Box<AccessSide>>,
    },
    /// A product that adds to sums of another shape that have not been waited for.
    #[error(
        "wgmma in flight: a product adds to the sums of one of another shape, which has not been waited \
         for\n  the first: {}\n  the second:",
        product.whole()
    )]
    OtherShape {
        /// The product that they are of.
        product: Box<AccessSide>,
    },
    /// A read by the async proxy of what a thread stored, with no proxy fence between.
    #[error(
        "missing proxy fence: {} ({}) through the async proxy, which may not see what a thread stored \
         there\n  the store: {}\n  the access:",
        of_access(access, bytes, space, address),
        relation.describe(*bytes),
        store.whole()
    )]
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
    #[error(
        "missing fence: a bulk copy is counted by an mbarrier whose initialisation the async proxy may not \
         see\n  the initialisation: {}\n  the copy:",
        init.whole()
    )]
    UnpublishedBarrier {
        /// The initialisation.
        init: Box<AccessSide>,
    },
    /// An access to what an asynchronous operation may still be working on.
    #[error(
        "{} not waited for: {} ({}), which it may still be {}\n  the operation: {}\n  the access:",
        operation.kind,
        of_access(access, bytes, space, address),
        relation.describe(*bytes),
        doing(!*operation_writes),
        operation.whole()
    )]
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
    #[error(
        "setmaxnreg without effect: the kernel does not declare how many registers its threads begin with"
    )]
    UnknownRegisters,
}

/// A limit of what a launch may execute, in warp instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FuelLimit {
    /// Of the whole launch, as it asked for.
    #[error("the kernel did not end within {0} warp instructions")]
    Launch(u64),
    /// Of one block, where the launch asked for none.
    #[error("a block did not end within {0} warp instructions")]
    Block(u64),
    /// Of all running blocks, where the launch asked for no limit, they only wait or repeat
    /// themselves, and no others can begin.
    #[error("no running block has made progress for {0} warp instructions")]
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
    /// Blocks of the grid that have not begun, because the device cannot hold all at once.
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
        /// Whether that is a loop.
        is_loop: bool,
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
